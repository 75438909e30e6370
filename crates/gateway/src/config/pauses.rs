//! Which upstreams the user paused, kept across restarts.

use std::path::PathBuf;

use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::pause::PausedUpstreams;
use evermoor_platform::fs::private;

/// What is paused, and the file that records it.
pub struct Pauses {
    now: watch::Sender<PausedUpstreams>,
    file: PathBuf,
    tasks: TaskTracker,
}

impl Pauses {
    /// Reads the file. If it cannot be read, nothing is paused.
    pub fn read(file: PathBuf, tasks: TaskTracker) -> Self {
        let content = private::read_private(&file).unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot read what was paused");
            None
        });
        let now = watch::Sender::new(
            content.map_or_else(PausedUpstreams::default, |text| PausedUpstreams::read(&text)),
        );
        Self { now, file, tasks }
    }

    pub fn subscribe(&self) -> watch::Receiver<PausedUpstreams> {
        self.now.subscribe()
    }

    /// Changes what is paused, at once and for later gateways.
    pub async fn change(&self, change: impl FnOnce(&mut PausedUpstreams)) -> Result<(), Failure> {
        self.now.send_modify(change);
        let (file, content) = (self.file.clone(), self.now.borrow().to_bytes());
        let writing =
            self.tasks.spawn_blocking(move || private::write_private(&file, &content)).await;
        writing.unwrap_or_else(|panicked| Err(std::io::Error::other(panicked))).map_err(|error| {
            let what = format!("Done, but it will not survive a restart: {error}.");
            Failure::new(Code::Internal, what, "Free some disk space and try again.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_pause_survives_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let read = || Pauses::read(folder.path().join("paused.json"), TaskTracker::new());
        let pauses = read();
        let mut seen = pauses.subscribe();
        pauses.change(|paused| paused.pause(Some("a"))).await.unwrap();
        assert!(seen.borrow_and_update().is("a"));
        assert!(read().subscribe().borrow().is("a"));
    }

    #[tokio::test]
    async fn a_pause_that_cannot_be_written_applies_and_says_that_it_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data"), "a file, not a folder").unwrap();
        let pauses = Pauses::read(folder.path().join("data/paused.json"), TaskTracker::new());
        let refused = pauses.change(|paused| paused.pause(None)).await.unwrap_err();
        assert!(refused.what.contains("will not survive a restart"), "{refused}");
        assert!(pauses.subscribe().borrow().is("a"));
    }
}
