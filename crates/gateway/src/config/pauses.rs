//! What a person paused, kept over a restart.

use std::path::PathBuf;

use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::pause::Paused;
use evermoor_platform::fs::private;

/// What is paused, and the file that says so.
pub struct Pauses {
    now: watch::Sender<Paused>,
    file: PathBuf,
    tasks: TaskTracker,
}

impl Pauses {
    /// What the file says. A file that cannot be read pauses nothing.
    pub fn read(file: PathBuf, tasks: TaskTracker) -> Self {
        let content = private::read_private(&file).unwrap_or_else(|error| {
            tracing::warn!(%error, "what was paused is not known");
            None
        });
        let now =
            watch::Sender::new(content.map_or_else(Paused::default, |text| Paused::read(&text)));
        Self { now, file, tasks }
    }

    pub fn subscribe(&self) -> watch::Receiver<Paused> {
        self.now.subscribe()
    }

    /// Changes what is paused: at once, and for the gateways to come.
    pub async fn change(&self, change: impl FnOnce(&mut Paused)) -> Result<(), Failure> {
        self.now.send_modify(change);
        let (file, content) = (self.file.clone(), self.now.borrow().to_bytes());
        let writing =
            self.tasks.spawn_blocking(move || private::write_private(&file, &content)).await;
        writing.unwrap_or_else(|panicked| Err(std::io::Error::other(panicked))).map_err(|error| {
            let what = format!("It is so now, but cannot be kept over a restart: {error}.");
            Failure::new(Code::Internal, what, "Make room in the data folder, and say it again.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_paused_is_paused_in_the_next_life_too() {
        let folder = tempfile::tempdir().unwrap();
        let read = || Pauses::read(folder.path().join("paused.json"), TaskTracker::new());
        let pauses = read();
        let mut seen = pauses.subscribe();
        pauses.change(|paused| paused.pause(Some("a"))).await.unwrap();
        assert!(seen.borrow_and_update().is("a"));
        assert!(read().subscribe().borrow().is("a"));
    }

    #[tokio::test]
    async fn what_cannot_be_written_holds_for_now_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("data"), "a file, not a folder").unwrap();
        let pauses = Pauses::read(folder.path().join("data/paused.json"), TaskTracker::new());
        let refused = pauses.change(|paused| paused.pause(None)).await.unwrap_err();
        assert!(refused.what.contains("cannot be kept"), "{refused}");
        assert!(pauses.subscribe().borrow().is("a"));
    }
}
