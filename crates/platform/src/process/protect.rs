//! Protects the memory of this process, which contains secrets.
//!
//! Every program of the same user could attach a debugger to it, read its memory and its environment,
//! or find them in a core dump. A child that Evermoor starts is such a program. Files of the user stay
//! readable to it: this is no sandbox.

/// Forbids core dumps and, on Linux and macOS, other processes of the same user to look into this one.
/// A program that this process starts is not affected.
#[cfg(unix)]
pub fn protect() {
    use rustix::process::{Resource, Rlimit, setrlimit};
    // On failure, the process is only less protected.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    deny_debuggers();
}

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
    fn a_protected_process_cannot_be_dumped_but_can_read_about_itself() {
        use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};
        protect();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        assert_eq!(getrlimit(Resource::Core).current, Some(0));
        assert!(std::fs::read_to_string("/proc/self/maps").is_ok());
        assert!(std::fs::read_dir("/proc/self/fd").is_ok());
    }
}
