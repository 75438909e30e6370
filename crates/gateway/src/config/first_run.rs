//! Whether anybody has set anything up yet.
//!
//! It is the first run until a person has seen the welcome or skipped it, or has a configuration: a
//! small file in the data folder says so to the gateways to come.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;

/// Whether this is the first run.
#[derive(Clone)]
pub struct Welcome(Arc<Inner>);

struct Inner {
    first: AtomicBool,
    file: PathBuf,
    changed: Arc<Notify>,
    tasks: TaskTracker,
}

impl Welcome {
    pub fn new(paths: &Paths, changed: Arc<Notify>, tasks: TaskTracker) -> Self {
        let file = paths.welcome_file();
        let first = AtomicBool::new(!file.exists() && !paths.config.exists());
        Self(Arc::new(Inner { first, file, changed, tasks }))
    }

    pub fn is_due(&self) -> bool {
        self.0.first.load(Ordering::Relaxed)
    }

    /// It is over, now and for the gateways to come.
    pub async fn over(&self) -> Result<(), Failure> {
        self.0.first.store(false, Ordering::Relaxed);
        self.0.changed.notify_one();
        let file = self.0.file.clone();
        let writing = self.0.tasks.spawn_blocking(move || private::write_private(&file, b"seen\n"));
        let written = writing.await.unwrap_or_else(|panicked| Err(std::io::Error::other(panicked)));
        written.map_err(|error| {
            let what = format!("The welcome will be shown again after a restart: {error}.");
            Failure::new(Code::Internal, what, "Make room in the data folder, and say it again.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_welcome_is_due_until_it_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(folder.path().to_owned())).unwrap();
        let begin = || Welcome::new(&paths, Arc::default(), TaskTracker::new());
        let welcome = begin();
        assert!(welcome.is_due());
        welcome.over().await.unwrap();
        assert!(!welcome.is_due() && !begin().is_due());
    }

    #[tokio::test]
    async fn whoever_has_a_configuration_needs_no_welcome() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(folder.path().to_owned())).unwrap();
        std::fs::write(&paths.config, "").unwrap();
        assert!(!Welcome::new(&paths, Arc::default(), TaskTracker::new()).is_due());
    }
}
