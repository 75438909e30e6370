//! The files and connections of this process: how many it may open, and which of them the programs it
//! starts inherit.
//!
//! On Unix, a program gets only what is passed to it, because Rust opens everything else with
//! close-on-exec. On Windows it gets every handle marked as inheritable. These are the standard handles
//! that this process inherited itself, and the connections it accepted. A program that outlives this
//! process would keep them open, and the reader of the other end would wait for it to exit.

/// The actual maximum on macOS, even if the system reports a higher one.
#[cfg(any(target_os = "macos", test))]
const MACOS_MAXIMUM: u64 = 10_240;

/// Raises the limit to the maximum that needs no privileges. Some systems start with 256, which is
/// too low for a hundred editors.
#[cfg(unix)]
pub fn raise_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    #[cfg(target_os = "macos")]
    let maximum = on_macos(limit.maximum);
    #[cfg(not(target_os = "macos"))]
    let maximum = limit.maximum;
    if limit.current != maximum {
        limit.current = maximum;
        // On failure, the old limit stays.
        let _ = setrlimit(Resource::Nofile, limit);
    }
}

/// Windows has no such limit.
#[cfg(windows)]
pub fn raise_limit() {}

/// Keeps the standard handles of this process from the programs it starts. A program that is meant to use
/// them still can, because the standard library passes it copies.
#[cfg(windows)]
#[expect(clippy::disallowed_methods, reason = "nothing is written")]
pub(crate) fn keep_stdio_from_children() {
    use std::os::windows::io::AsRawHandle as _;
    use std::sync::Once;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        keep_handle(std::io::stdin().as_raw_handle());
        keep_handle(std::io::stdout().as_raw_handle());
        keep_handle(std::io::stderr().as_raw_handle());
    });
}

#[cfg(unix)]
pub(crate) fn keep_stdio_from_children() {}

/// Keeps an accepted connection from the programs that this process starts.
#[cfg(windows)]
pub fn keep_connection_from_children(connection: &impl std::os::windows::io::AsRawSocket) {
    let socket = usize::try_from(connection.as_raw_socket()).unwrap_or_default();
    keep_handle(std::ptr::without_provenance_mut(socket));
}

#[cfg(unix)]
pub fn keep_connection_from_children(_: &impl std::os::fd::AsFd) {}

/// A standard handle may be absent. Then there is nothing to inherit.
#[cfg(windows)]
#[expect(unsafe_code, reason = "calls the Win32 API")]
fn keep_handle(handle: std::os::windows::io::RawHandle) {
    use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
    // SAFETY: it only changes a flag, and fails on a handle that is not open.
    unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT, 0) };
}

/// How many files and connections this process may have open.
#[cfg(unix)]
pub fn limit() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX)
}

/// More than a machine has memory for.
#[cfg(windows)]
pub fn limit() -> usize {
    1 << 20
}

#[cfg(any(target_os = "macos", test))]
fn on_macos(maximum: Option<u64>) -> Option<u64> {
    Some(maximum.map_or(MACOS_MAXIMUM, |maximum| maximum.min(MACOS_MAXIMUM)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macos_gets_no_higher_limit_than_it_supports() {
        assert_eq!(on_macos(None), Some(MACOS_MAXIMUM));
        assert_eq!(on_macos(Some(u64::MAX)), Some(MACOS_MAXIMUM));
        assert_eq!(on_macos(Some(1024)), Some(1024));
    }

    #[cfg(all(unix, not(target_os = "macos")))]
    #[test]
    fn the_limit_is_raised_to_the_maximum() {
        use rustix::process::{Resource, getrlimit};
        raise_limit();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(limit.current, limit.maximum);
    }

    /// Starts the endless program of `spawn` in this process, as a program that outlives it.
    async fn start_endless(folder: &std::path::Path) -> tokio::process::Child {
        let (program, args) = crate::process::spawn::endless();
        let args: Vec<&std::ffi::OsStr> = args.iter().map(std::ffi::OsStr::new).collect();
        let log = folder.join("log");
        crate::process::spawn::start_detached(program.as_ref(), &args, &log).unwrap()
    }

    /// The test starts itself: the second process starts the endless program and exits.
    #[tokio::test]
    async fn the_pipes_of_a_process_close_when_it_exits_though_a_program_it_started_runs() {
        const FOLDER: &str = "STARTER_FOLDER";
        if let Some(folder) = std::env::var_os(FOLDER).map(std::path::PathBuf::from) {
            let started = start_endless(&folder).await;
            std::fs::write(folder.join("pid"), started.id().unwrap().to_string()).unwrap();
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let name = concat!(
            "process::descriptors::tests::",
            "the_pipes_of_a_process_close_when_it_exits_though_a_program_it_started_runs"
        );
        let output = crate::process::spawn::command(std::env::current_exe().unwrap())
            .args([name, "--exact"])
            .env(FOLDER, folder.path())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .output();
        let output = tokio::time::timeout(std::time::Duration::from_secs(20), output).await;
        let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap().parse().unwrap();
        let running = crate::process::info::of(pid).is_some();
        crate::process::spawn::kill(pid).unwrap();
        assert!(running, "the program outlives its starter");
        assert!(output.expect("the pipes are closed").unwrap().status.success());
    }

    #[tokio::test]
    async fn an_accepted_connection_closes_though_a_program_started_meanwhile_runs() {
        use std::io::Read as _;
        let folder = tempfile::tempdir().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        keep_connection_from_children(&accepted);
        let mut started = start_endless(folder.path()).await;
        drop(accepted);
        let read = client.read(&mut [0]);
        started.kill().await.unwrap();
        assert_eq!(read.unwrap(), 0);
    }
}
