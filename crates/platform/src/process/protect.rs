//! Protects the memory of this process, which contains secrets.
//!
//! Every program of the same user could attach a debugger to it, read its memory and its environment,
//! or find them in a core dump. A child that Evermoor starts is such a program. Files of the user stay
//! readable to it: this is no sandbox.
//!
//! Variables of the environment that are secrets are moved from there into the memory of this process
//! ([`take_variables`]), so that no program that it starts can inherit them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The variables that were taken from the environment.
static TAKEN: OnceLock<BTreeMap<String, String>> = OnceLock::new();

/// Removes these variables from the environment and keeps their values for [`variable`]. On Unix, the
/// bytes that the system shows as the environment of this process are erased too. Changing an
/// environment is only sound while no other thread can read it: on Linux, nothing happens if there is
/// one. Only the first call has an effect.
pub fn take_variables<'a>(names: impl IntoIterator<Item = &'a str>) {
    if !is_only_thread() {
        return;
    }
    TAKEN.get_or_init(|| {
        let value = |name: &str| Some((name.to_owned(), std::env::var(name).ok()?));
        let taken: BTreeMap<String, String> = names.into_iter().filter_map(value).collect();
        taken.keys().for_each(|name| erase(name));
        taken
    });
}

/// The value of a variable of the environment that this process was started with.
pub fn variable(name: &str) -> Option<String> {
    let taken = TAKEN.get().and_then(|taken| taken.get(name)).cloned();
    taken.or_else(|| std::env::var(name).ok())
}

/// Whether this is the only thread. One that is just ending may take a moment.
#[cfg(target_os = "linux")]
fn is_only_thread() -> bool {
    let alone = || std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1);
    (0..5_000).any(|_| {
        alone() || {
            std::thread::yield_now();
            false
        }
    })
}

/// The command line calls this before it starts a thread.
#[cfg(not(target_os = "linux"))]
fn is_only_thread() -> bool {
    true
}

#[cfg(unix)]
fn erase(name: &str) {
    let Ok(wanted) = std::ffi::CString::new(name) else { return };
    // SAFETY: no other thread runs, so nobody else reads or changes the environment. `getenv` returns the
    // value in the block that this process was started with, or in a copy that nobody refers to once the
    // variable is removed; in both cases it is writable and ends with a zero.
    #[expect(unsafe_code, reason = "the standard library cannot erase a variable")]
    #[expect(clippy::disallowed_methods, reason = "no other thread runs")]
    unsafe {
        let value = libc::getenv(wanted.as_ptr());
        std::env::remove_var(name);
        if !value.is_null() {
            let length = libc::strlen(value);
            std::ptr::write_bytes(value, b'*', length);
            // Keeps the compiler from leaving out a write to memory that is not read again.
            std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
        }
    }
}

#[cfg(windows)]
fn erase(name: &str) {
    // SAFETY: Windows locks the environment while it is read or changed.
    #[expect(unsafe_code, reason = "the function is unsafe on other systems")]
    #[expect(clippy::disallowed_methods, reason = "Windows locks the environment")]
    unsafe {
        std::env::remove_var(name);
    }
}

/// The limit of core dumps before [`protect`], which programs that this process starts get back.
#[cfg(unix)]
static CORE_LIMIT: OnceLock<rustix::process::Rlimit> = OnceLock::new();

/// Forbids core dumps and, on Linux and macOS, other processes of the same user to look into this one.
/// A program that this process starts is not affected.
#[cfg(unix)]
pub fn protect() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let before = CORE_LIMIT.get_or_init(|| getrlimit(Resource::Core));
    // On failure, the process is only less protected. The maximum stays, because nobody but root could raise
    // it again for a program.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: before.maximum });
    deny_debuggers();
}

/// Gives a program that a protected process starts the limit of core dumps that it would have had.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the limit must be set between fork and exec")]
pub(crate) fn unprotect(command: &mut tokio::process::Command) {
    use rustix::process::{Resource, setrlimit};
    let Some(before) = CORE_LIMIT.get().cloned() else { return };
    let restore = move || {
        // A program without core dumps is better than none.
        let _ = setrlimit(Resource::Core, before);
        Ok(())
    };
    // SAFETY: the closure makes one system call and neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(restore);
    }
}

#[cfg(windows)]
pub(crate) fn unprotect(_: &mut tokio::process::Command) {}

/// Windows writes a dump only if the user configured that.
#[cfg(not(unix))]
pub fn protect() {}

#[cfg(target_os = "linux")]
fn deny_debuggers() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

/// The hardened runtime of a signed program does this on macOS.
#[cfg(all(unix, not(target_os = "linux")))]
fn deny_debuggers() {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_left_alone_while_other_threads_could_read_it() {
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = std::thread::Builder::new();
        let other = other.name("other".into()).spawn(move || ended.recv().is_err()).unwrap();
        take_variables(["PATH"]);
        assert!(std::env::var("PATH").is_ok());
        assert_eq!(variable("PATH"), std::env::var("PATH").ok());
        drop(end);
        other.join().unwrap();
    }

    #[test]
    fn a_protected_process_cannot_be_dumped_but_can_read_about_itself() {
        use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};
        protect();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        assert_eq!(getrlimit(Resource::Core).current, Some(0));
        assert!(std::fs::read_to_string("/proc/self/maps").is_ok());
        assert!(std::fs::read_dir("/proc/self/fd").is_ok());
    }

    #[tokio::test]
    async fn a_program_of_a_protected_process_has_the_limit_of_core_dumps_from_before() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Core).maximum;
        let wanted = maximum.unwrap_or(4096).min(4096);
        setrlimit(Resource::Core, Rlimit { current: Some(wanted), maximum }).unwrap();
        protect();
        let mut command = crate::process::spawn::command("cat");
        let command = command.arg("/proc/self/limits").stdout(std::process::Stdio::piped());
        let limits = command.output().await.unwrap().stdout;
        let limits = String::from_utf8(limits).unwrap();
        let line = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
        assert_eq!(line.split_whitespace().nth(4), Some(&*wanted.to_string()), "{line}");
    }
}
