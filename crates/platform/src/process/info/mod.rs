//! What the system knows about a process: its program, its start time, its memory and CPU time.
//!
//! A process id can be reused. Together with the start time it identifies a process. Nothing is cached
//! or watched; a query is a few system calls and starts no other program.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
pub(crate) mod threads;
#[cfg(windows)]
mod windows;

#[cfg(any(target_os = "macos", test))]
use std::path::Path;
use std::path::PathBuf;
use std::time::Duration;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(windows)]
use windows as system;

#[cfg(target_os = "macos")]
pub(crate) use macos::{all, identity};

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessInfo {
    pub pid: u32,
    /// The start time, in the unit of the system.
    pub started: u64,
    /// How long it has been running.
    pub age: Duration,
    /// The name of the process; Linux truncates it to 15 bytes.
    pub name: String,
    /// The path of its program, if the system reports it.
    pub executable: Option<PathBuf>,
}

/// The resources that a process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessUsage {
    /// Memory in bytes, as a task manager shows it.
    pub memory: u64,
    /// CPU time since it started.
    pub processor: Duration,
}

/// The process with this id; `None` if it is not running.
pub fn of(pid: u32) -> Option<ProcessInfo> {
    system::of(pid)
}

/// The current usage of a process; `None` if it is not accessible.
pub fn usage(pid: u32) -> Option<ProcessUsage> {
    system::usage(pid)
}

/// The processes whose names are wanted, ordered by id. Reads all processes on a blocking thread.
pub async fn find_by_name(wanted: impl Fn(&str) -> bool + Send + 'static) -> Vec<ProcessInfo> {
    let search = tokio::task::spawn_blocking(move || {
        let mut pids = system::all();
        pids.sort_unstable();
        let of_that_name = |pid: &u32| system::name(*pid).is_some_and(|name| wanted(&name));
        pids.into_iter().filter(of_that_name).filter_map(of).collect()
    });
    search.await.unwrap_or_default()
}

/// The CPU time that the running processes of a group have used so far. On a system without process
/// groups it is that of the leader alone.
pub async fn group_processor_time(leader: u32) -> Duration {
    let measure = tokio::task::spawn_blocking(move || {
        let members = system::all().into_iter().filter(|pid| is_in_group(*pid, leader));
        members.filter_map(usage).map(|usage| usage.processor).sum()
    });
    measure.await.unwrap_or_default()
}

/// Whether a process of a group is stopped, by a signal or a debugger. A stopped process does not work;
/// one that only uses no processor may be waiting.
pub async fn group_is_stopped(leader: u32) -> bool {
    let look = tokio::task::spawn_blocking(move || {
        let mut members = system::all().into_iter().filter(|pid| is_in_group(*pid, leader));
        members.any(system::is_stopped)
    });
    look.await.unwrap_or(false)
}

/// The same for the process that listens on a port of the loopback address.
pub async fn is_stopped_on(port: u16) -> bool {
    let owner = crate::process::port::owner(port).await;
    owner.is_some_and(|owner| system::is_stopped(owner.pid))
}

/// A process has group 0 if it belongs to the kernel, or to a group outside of the container.
fn is_in_group(pid: u32, leader: u32) -> bool {
    leader != 0 && system::group(pid) == Some(leader)
}

/// The process that listens on a port of the loopback address, if it can be found.
pub async fn listening_on(port: u16) -> Option<ProcessInfo> {
    of(crate::process::port::owner(port).await?.pid)
}

/// The name of a process: that of its executable, because systems cut off the names of processes. An
/// executable that was deleted, as an update does, has no path; then the longest name that the system
/// reports is used. Reported names end at the first zero byte.
#[cfg(any(target_os = "macos", test))]
fn name_of(executable: Option<&Path>, reported: [&[u8]; 2]) -> Option<String> {
    let file = executable.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let text = |name: &[u8]| {
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        String::from_utf8_lossy(&name[..end]).into_owned()
    };
    file.or_else(|| reported.map(text).into_iter().find(|name| !name.is_empty()))
}

/// The CPU load of a process between two measurements: 1.0 is one fully used processor.
pub fn cpu_load(before: ProcessUsage, after: ProcessUsage, between: Duration) -> f64 {
    let spent = after.processor.saturating_sub(before.processor);
    if between.is_zero() { 0.0 } else { spent.as_secs_f64() / between.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_identified_by_its_id_and_start_time() {
        let us = of(std::process::id()).unwrap();
        assert_eq!(us, ProcessInfo { age: us.age, ..of(std::process::id()).unwrap() });
        assert_eq!(us.executable, std::env::current_exe().ok());
        assert!(us.age < Duration::from_secs(3600), "{:?}", us.age);
    }

    #[test]
    fn memory_and_cpu_time_are_measured() {
        let before = usage(std::process::id()).unwrap();
        assert!(before.memory > 100_000, "{before:?}");
        let mut work = 0_u64;
        while usage(std::process::id()).unwrap().processor == before.processor {
            work = std::hint::black_box(work.wrapping_add(1));
        }
    }

    #[test]
    fn a_process_whose_executable_was_deleted_keeps_its_short_name() {
        let path = Path::new("/Applications/PiecesOS.app/Contents/MacOS/PiecesOS");
        let (long, short) = (b"PiecesOS helper\0\0", b"PiecesOS\0");
        assert_eq!(name_of(Some(path), [b"x\0", b"y\0"]).as_deref(), Some("PiecesOS"));
        assert_eq!(name_of(None, [long, short]).as_deref(), Some("PiecesOS helper"));
        assert_eq!(name_of(None, [b"\0\0", short]).as_deref(), Some("PiecesOS"));
        assert_eq!(name_of(None, [b"\0", b""]), None);
    }

    #[tokio::test]
    async fn a_process_is_found_by_its_name() {
        let us = of(std::process::id()).unwrap();
        let (name, pid) = (us.name.clone(), us.pid);
        let found = find_by_name(move |seen| seen == name).await;
        assert!(found.iter().any(|found| found.pid == pid));
        assert_eq!(find_by_name(|name| name == "no such program").await, []);
        assert_eq!((of(u32::MAX - 7), usage(u32::MAX - 7)), (None, None));
    }

    #[tokio::test]
    async fn the_process_that_listens_on_a_port_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let found = listening_on(listener.local_addr().unwrap().port()).await.unwrap();
        assert_eq!(found.pid, std::process::id());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_stopped_process_is_found_among_all_others() {
        use rustix::process::{Pid, Signal, kill_process};
        let mut sleeping = crate::process::spawn::command("sleep");
        let mut child = sleeping.arg("60").kill_on_drop(true).spawn().unwrap();
        let leader = child.id().unwrap();
        assert!(!group_is_stopped(leader).await);
        let pid = i32::try_from(leader).ok().and_then(Pid::from_raw).unwrap();
        kill_process(pid, Signal::STOP).unwrap();
        while !group_is_stopped(leader).await {
            tokio::task::yield_now().await;
        }
        child.kill().await.unwrap();
    }

    #[test]
    fn load_is_measured_in_processors() {
        let at = |millis| ProcessUsage { memory: 0, processor: Duration::from_millis(millis) };
        let second = Duration::from_secs(1);
        assert!((cpu_load(at(100), at(600), second) - 0.5).abs() < 1e-9);
        assert_eq!(cpu_load(at(600), at(100), second), 0.0);
        assert_eq!(cpu_load(at(100), at(600), Duration::ZERO), 0.0);
    }
}
