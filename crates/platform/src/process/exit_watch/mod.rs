//! Noticing at once that a process ends, although somebody else started it.
//!
//! Each system has a way to wait for that: a process as a file on Linux, a queue of events on macOS,
//! a handle on Windows. Nothing is polled.
//!
//! A watch holds on to its process: whatever becomes of the number, no other is meant. Whoever knew
//! the process before compares the moment of its start ([`crate::process::info`]) once the watch is open.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(windows)]
mod windows;

use std::io;

use crate::process::child::Exit;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(windows)]
use windows as system;

/// A process that is watched until this is dropped.
#[derive(Debug)]
pub struct Watch {
    pid: u32,
    process: system::Process,
}

impl Watch {
    /// Begins to watch a process. It fails if none of this number runs. Must be called within a
    /// tokio runtime.
    pub fn open(pid: u32) -> io::Result<Self> {
        Ok(Self { pid, process: system::Process::open(pid)? })
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Waits until the process has ended, which is noticed at once. May be dropped and called again.
    pub async fn ended(&self) {
        self.process.ended().await;
    }

    /// How the process ended, where the system tells that to strangers: Windows does, Linux from 6.15
    /// on once its parent has asked, which is waited for a little, macOS not.
    pub async fn how(&self) -> Exit {
        self.process.how().await
    }

    /// Asks the process to end, or ends it without asking. Windows has no way to ask from here: it
    /// answers with [`io::ErrorKind::Unsupported`], and `taskkill` sends a message to its windows.
    pub fn end(&self, by_force: bool) -> io::Result<()> {
        self.process.end(by_force)
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::spawn;
    use std::process::Stdio;
    use std::time::Duration;
    use tokio::io::{AsyncBufReadExt as _, BufReader};
    use tokio::process::Child;
    use tokio::time::timeout;

    const SOON: Duration = Duration::from_secs(20);

    /// A process that somebody else started, and waits for. It says its number when it is ready.
    async fn stranger(script: &str) -> (u32, Child) {
        let line = format!("sh -c '{script}' & wait; exec sleep 600");
        let mut shell = spawn::command("sh")
            .args(["-c", &line])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut said = BufReader::new(shell.stdout.take().unwrap()).lines();
        (said.next_line().await.unwrap().unwrap().parse().unwrap(), shell)
    }

    /// Linux tells how a stranger ended from 6.15 on.
    fn is_told() -> bool {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let mut numbers = release.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        cfg!(target_os = "linux") && version >= (6, 15)
    }

    #[tokio::test]
    async fn the_end_of_a_stranger_is_noticed() {
        let (pid, _parent) = stranger("echo $$; exec sleep 600").await;
        let watch = Watch::open(pid).unwrap();
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
    async fn a_process_that_is_not_there_cannot_be_watched() {
        let mut child = spawn::command("true").spawn().unwrap();
        let pid = child.id().unwrap();
        child.wait().await.unwrap();
        assert!(Watch::open(pid).is_err());
        assert!(Watch::open(u32::MAX).is_err());
    }

    #[tokio::test]
    async fn asking_leaves_a_process_the_time_to_tidy_up() {
        let script = r#"trap "exit 3" TERM; echo $$; while :; do sleep 0.05; done"#;
        let (pid, _parent) = stranger(script).await;
        let watch = Watch::open(pid).unwrap();
        watch.end(false).unwrap();
        let exit = timeout(SOON, watch.how()).await.expect("it ended");
        assert_eq!(exit, if is_told() { Exit::Code(3) } else { Exit::Untold });
    }

    #[tokio::test]
    async fn how_a_stranger_crashed_is_told_where_the_system_tells() {
        let (pid, _parent) = stranger("echo $$; exec sleep 600").await;
        let watch = Watch::open(pid).unwrap();
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::ABORT).unwrap();
        let exit = timeout(SOON, watch.how()).await.expect("it ended");
        assert_eq!(exit, if is_told() { Exit::Signal(6) } else { Exit::Untold });
    }
}
