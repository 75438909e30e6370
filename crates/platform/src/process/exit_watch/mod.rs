//! Notices at once when a process exits, also one that another process started.
//!
//! Uses a pidfd on Linux, a kqueue on macOS and a process handle on Windows. Nothing is polled.
//!
//! A watch refers to one process, even if its process id is reused later. To be sure that it is the
//! expected process, compare its start time ([`crate::process::info`]) after opening the watch.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

use std::io;

use crate::process::child::ProcessExit;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(windows)]
use windows as system;

/// Watches a process until it is dropped.
#[derive(Debug)]
pub struct ExitWatch {
    pid: u32,
    process: system::WatchedProcess,
}

impl ExitWatch {
    /// Starts to watch a process. Fails if no process with this id is running. Must be called in a
    /// tokio runtime.
    pub fn open(pid: u32) -> io::Result<Self> {
        Ok(Self { pid, process: system::WatchedProcess::open(pid)? })
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until the process has exited. Cancel safe.
    pub async fn ended(&self) {
        self.process.ended().await;
    }

    /// Waits for the exit and returns its reason, if the system reports it to other processes than the
    /// parent: Windows does, Linux since 6.15 once the parent has reaped the process, macOS does not.
    pub async fn how(&self) -> ProcessExit {
        self.process.how().await
    }

    /// Asks the process to exit, or kills it. Windows cannot ask and returns
    /// [`io::ErrorKind::Unsupported`]; there, `taskkill` sends a message to its windows.
    pub fn end(&self, by_force: bool) -> io::Result<()> {
        self.process.end(by_force)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::spawn;
    use crate::system::System;
    use std::process::Stdio;
    use std::time::Duration;
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    use tokio::process::Child;
    use tokio::time::timeout;

    const SOON: Duration = Duration::from_secs(20);

    /// A process that runs until it is killed. On Unix, another process started and reaps it; Windows
    /// makes no difference.
    async fn endless() -> (u32, Child) {
        if cfg!(windows) {
            let (program, args) = spawn::endless();
            let child = spawn::command(program).args(args).kill_on_drop(true).spawn().unwrap();
            (child.id().unwrap(), child)
        } else {
            grandchild("echo $$; exec sleep 600").await
        }
    }

    /// A process that a shell started and reaps. It prints its id when it is ready.
    async fn grandchild(script: &str) -> (u32, Child) {
        let line = format!("sh -c '{script}' & wait; exec sleep 600");
        let mut shell = spawn::command("sh")
            .args(["-c", &line])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut output = BufReader::new(shell.stdout.take().unwrap()).lines();
        (output.next_line().await.unwrap().unwrap().parse().unwrap(), shell)
    }

    #[tokio::test]
    async fn the_exit_of_another_process_is_noticed() {
        let (pid, _parent) = endless().await;
        let watch = ExitWatch::open(pid).unwrap();
        tokio::select! {
            biased;
            () = watch.ended() => panic!("it has not ended"),
            () = tokio::task::yield_now() => {}
        }
        watch.end(true).unwrap();
        timeout(SOON, watch.ended()).await.expect("it ended");
        timeout(SOON, watch.ended()).await.expect("it stays ended");
    }

    #[tokio::test]
    async fn a_process_that_has_exited_cannot_be_watched_or_ends_at_once() {
        let (shell, args) = spawn::script("true", "exit");
        let mut child = spawn::command(shell).args(args).spawn().unwrap();
        let pid = child.id().unwrap();
        child.wait().await.unwrap();
        // Windows keeps a process that has exited as long as a handle exists.
        if let Ok(watch) = ExitWatch::open(pid) {
            assert_eq!(System::HERE, System::Windows);
            timeout(SOON, watch.ended()).await.expect("it has ended");
        }
        assert!(ExitWatch::open(u32::MAX).is_err());
    }

    #[cfg(windows)]
    #[tokio::test]
    async fn the_exit_code_is_known_and_a_process_cannot_be_asked_to_exit() {
        let (pid, _parent) = endless().await;
        let watch = ExitWatch::open(pid).unwrap();
        assert_eq!(watch.end(false).unwrap_err().kind(), io::ErrorKind::Unsupported);
        watch.end(true).unwrap();
        let exit = timeout(SOON, watch.how()).await.expect("it ended");
        assert_eq!(exit, ProcessExit::Code(1));
    }

    #[cfg(windows)]
    #[tokio::test]
    async fn a_watch_that_is_dropped_early_leaves_the_process_alone() {
        let (pid, mut child) = endless().await;
        drop(ExitWatch::open(pid).unwrap());
        assert!(child.try_wait().unwrap().is_none());
    }

    /// Linux reports the exit reason of other processes since 6.15.
    #[cfg(unix)]
    fn is_reported() -> bool {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let mut numbers = release.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        cfg!(target_os = "linux") && version >= (6, 15)
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_process_that_is_asked_to_exit_can_clean_up() {
        let script = r#"trap "exit 3" TERM; echo $$; while :; do sleep 0.05; done"#;
        let (pid, _parent) = grandchild(script).await;
        let watch = ExitWatch::open(pid).unwrap();
        watch.end(false).unwrap();
        let exit = timeout(SOON, watch.how()).await.expect("it ended");
        assert_eq!(exit, if is_reported() { ProcessExit::Code(3) } else { ProcessExit::Unknown });
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_exit_reason_of_another_process_is_known_if_the_system_reports_it() {
        let (pid, _parent) = endless().await;
        let watch = ExitWatch::open(pid).unwrap();
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::ABORT).unwrap();
        let exit = timeout(SOON, watch.how()).await.expect("it ended");
        assert_eq!(exit, if is_reported() { ProcessExit::Signal(6) } else { ProcessExit::Unknown });
    }
}
