//! Whether this is the first run.
//!
//! It is, until the user has finished or skipped the welcome page or has a configuration. A small
//! file in the data folder records that.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;

/// The first-run state and its file.
#[derive(Clone)]
pub struct FirstRun(Arc<FirstRunState>);

struct FirstRunState {
    first: AtomicBool,
    file: PathBuf,
    changed: Arc<Notify>,
    tasks: TaskTracker,
}

impl FirstRun {
    pub fn new(paths: &Paths, changed: Arc<Notify>, tasks: TaskTracker) -> Self {
        let file = paths.welcome_file();
        let first = AtomicBool::new(!file.exists() && !paths.config.exists());
        Self(Arc::new(FirstRunState { first, file, changed, tasks }))
    }

    pub fn is_first(&self) -> bool {
        self.0.first.load(Ordering::Relaxed)
    }

    /// Ends the first run, now and for later gateways.
    pub async fn over(&self) -> Result<(), Failure> {
        self.0.first.store(false, Ordering::Relaxed);
        self.0.changed.notify_one();
        let file = self.0.file.clone();
        let writing = self.0.tasks.spawn_blocking(move || private::write_private(&file, b"seen\n"));
        let written = writing.await.unwrap_or_else(|panicked| Err(std::io::Error::other(panicked)));
        written.map_err(|error| {
            let what = format!("The welcome page will be shown again after a restart: {error}.");
            Failure::new(Code::Internal, what, "Free some disk space and try again.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_the_first_run_until_the_welcome_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(folder.path().to_owned())).unwrap();
        let begin = || FirstRun::new(&paths, Arc::default(), TaskTracker::new());
        let welcome = begin();
        assert!(welcome.is_first());
        welcome.over().await.unwrap();
        assert!(!welcome.is_first() && !begin().is_first());
    }

    #[tokio::test]
    async fn it_is_not_the_first_run_with_a_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(folder.path().to_owned())).unwrap();
        std::fs::write(&paths.config, "").unwrap();
        assert!(!FirstRun::new(&paths, Arc::default(), TaskTracker::new()).is_first());
    }
}
