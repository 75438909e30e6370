//! What the system knows of a process: which program it is, when it started, what it uses.
//!
//! A number alone does not name a process: it may come again. With the moment of its start it does,
//! to the finest step that the system counts in. Nothing here is kept or watched; a look costs a few
//! system calls, on no system another program.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

use std::path::PathBuf;
use std::time::Duration;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(windows)]
use windows as system;

/// A process that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub pid: u32,
    /// When it started, in the system's own count.
    pub started: u64,
    /// For how long it has been running.
    pub age: Duration,
    /// As the system calls it; Linux cuts it off after 15 bytes.
    pub name: String,
    /// Its program, where the system tells.
    pub executable: Option<PathBuf>,
}

/// What a process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Bytes of memory that are its own to answer for: what a task manager shows.
    pub memory: u64,
    /// Time that processors have spent on it since it started.
    pub processor: Duration,
}

/// What is known of a process; `None` if none of this number runs.
pub fn of(pid: u32) -> Option<Facts> {
    system::of(pid)
}

/// What a process uses now; `None` if it cannot be seen.
pub fn usage(pid: u32) -> Option<Usage> {
    system::usage(pid)
}

/// The processes of the given names, in the order of their numbers. All processes of the machine are
/// looked at, which keeps nobody waiting.
pub async fn named(wanted: impl Fn(&str) -> bool + Send + 'static) -> Vec<Facts> {
    let looking = tokio::task::spawn_blocking(move || {
        let mut pids = system::all();
        pids.sort_unstable();
        let of_that_name = |pid: &u32| system::name(*pid).is_some_and(|name| wanted(&name));
        pids.into_iter().filter(of_that_name).filter_map(of).collect()
    });
    looking.await.unwrap_or_default()
}

/// The process that listens on a port of the loopback, if it can be found.
pub async fn behind(port: u16) -> Option<Facts> {
    of(crate::process::port::owner(port).await?.pid)
}

/// How busy a process was between two looks: 1.0 is one processor all the time.
pub fn load(before: Usage, after: Usage, between: Duration) -> f64 {
    let spent = after.processor.saturating_sub(before.processor);
    if between.is_zero() { 0.0 } else { spent.as_secs_f64() / between.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_number_and_the_moment_of_its_start() {
        let us = of(std::process::id()).unwrap();
        assert_eq!(us, Facts { age: us.age, ..of(std::process::id()).unwrap() });
        assert_eq!(us.executable, std::env::current_exe().ok());
        assert!(us.age < Duration::from_secs(3600), "{:?}", us.age);
    }

    #[test]
    fn a_process_uses_memory_and_time() {
        let before = usage(std::process::id()).unwrap();
        assert!(before.memory > 100_000, "{before:?}");
        let mut work = 0_u64;
        while usage(std::process::id()).unwrap().processor == before.processor {
            work = std::hint::black_box(work.wrapping_add(1));
        }
    }

    #[tokio::test]
    async fn a_process_is_found_by_its_name_and_one_that_is_not_there_is_not() {
        let us = of(std::process::id()).unwrap();
        let (name, pid) = (us.name.clone(), us.pid);
        let found = named(move |seen| seen == name).await;
        assert!(found.iter().any(|found| found.pid == pid));
        assert_eq!(named(|name| name == "no such program").await, []);
        assert_eq!((of(u32::MAX - 7), usage(u32::MAX - 7)), (None, None));
    }

    #[tokio::test]
    async fn the_process_behind_a_port_is_known() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let found = behind(listener.local_addr().unwrap().port()).await.unwrap();
        assert_eq!(found.pid, std::process::id());
    }

    #[test]
    fn load_is_told_in_processors() {
        let at = |millis| Usage { memory: 0, processor: Duration::from_millis(millis) };
        let second = Duration::from_secs(1);
        assert!((load(at(100), at(600), second) - 0.5).abs() < 1e-9);
        assert_eq!(load(at(600), at(100), second), 0.0);
        assert_eq!(load(at(100), at(600), Duration::ZERO), 0.0);
    }
}
