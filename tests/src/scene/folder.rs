//! A temporary folder for one test. Dropping it kills every process that uses it and removes it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tokio::time::Instant;

use crate::PATIENCE;

/// A killed process remains visible for a moment.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// A temporary folder. It owns every process whose command line or environment names it.
#[derive(Debug)]
pub struct ScratchFolder(Option<TempDir>);

impl ScratchFolder {
    pub fn new(prefix: &str) -> Self {
        let folder = tempfile::Builder::new().prefix(prefix).tempdir();
        Self(Some(folder.expect("a folder can be made")))
    }

    pub fn path(&self) -> &Path {
        self.0.as_ref().expect("it is there until it is dropped").path()
    }
}

/// A gateway outlives the command, editor or tray that started it, and a tray restarts its gateway.
/// So the processes are killed repeatedly until none is left.
impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let began = Instant::now();
        let mut left = processes(self.path());
        while !left.is_empty() && began.elapsed() < PATIENCE {
            left.iter().for_each(|pid| drop(evermoor_platform::process::spawn::kill(*pid)));
            std::thread::sleep(LOOK_AGAIN);
            left = processes(self.path());
        }
        let removed = self.remove();
        if !std::thread::panicking() {
            assert!(left.is_empty(), "processes {left:?} of the test do not end");
            assert!(removed.is_ok(), "the folder of the test stays: {removed:?}");
        }
    }
}

impl ScratchFolder {
    /// Removes the folder. Windows refuses this for a moment after a process that used it has ended.
    fn remove(&mut self) -> std::io::Result<()> {
        let began = Instant::now();
        let Some(folder) = self.0.take().map(TempDir::keep) else { return Ok(()) };
        loop {
            match std::fs::remove_dir_all(&folder) {
                Err(_) if cfg!(windows) && began.elapsed() < PATIENCE => {
                    std::thread::sleep(LOOK_AGAIN);
                }
                removed => return removed,
            }
        }
    }
}

/// The gateways whose home is in this folder. Windows does not tell the command lines of processes.
#[cfg(windows)]
fn processes(folder: &Path) -> Vec<u32> {
    let homes = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let gateways = homes.filter_map(|home| crate::gateway::found(&home.path()));
    gateways.map(|gateway| gateway.pid).filter(|pid| crate::fakes::program::runs(*pid)).collect()
}

/// The processes whose command line or environment names this folder, where the system tells.
#[cfg(unix)]
fn processes(folder: &Path) -> Vec<u32> {
    let wanted = folder.as_os_str().as_encoded_bytes();
    let names = |pid: &u32, what: &str| {
        // Both are empty for a process that has exited.
        let content = std::fs::read(process(*pid).join(what)).unwrap_or_default();
        content.windows(wanted.len()).any(|part| part == wanted)
    };
    let own = std::process::id();
    let others = all().into_iter().filter(|pid| *pid != own);
    others.filter(|pid| names(pid, "cmdline") || names(pid, "environ")).collect()
}

/// All processes, where the system lists them.
pub(crate) fn all() -> Vec<u32> {
    if cfg!(windows) {
        return Vec::new();
    }
    let listed = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    listed.filter_map(|process| process.file_name().to_str()?.parse().ok()).collect()
}

pub(crate) fn process(pid: u32) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}"))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::fakes::program::runs;
    use crate::scene::programs::command;
    use crate::scene::wait::until;

    /// Here a parent has left its child behind, and only the child's environment names the folder.
    #[tokio::test]
    async fn processes_in_a_folder_are_killed_with_it() {
        let folder = ScratchFolder::new("evermoor-folder");
        let note = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}", note.display());
        let mut parent = command("sh");
        parent.args(["-c", &script]).env("EVERMOOR_HOME", folder.path());
        assert!(parent.status().await.unwrap().success());
        let pid = || std::fs::read_to_string(&note).ok()?.trim().parse().ok();
        until("it is started", || pid().is_some_and(runs)).await;
        let (pid, path) = (pid().unwrap(), folder.path().to_owned());
        drop(folder);
        assert!(!runs(pid) && !path.exists());
    }
}
