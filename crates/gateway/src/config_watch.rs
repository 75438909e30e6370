//! Tells when `config.toml` changes, and what it says then.
//!
//! # Theory of operation
//! Editors replace a file rather than write into it, so what is watched is its folder, and the
//! folder of the file that a link leads to. Any event there is a reason to look, none is a reason
//! to believe: the file is read once the folder has been quiet for a moment, and only a reading
//! that differs from the last one is told. Watches are made anew for every look, before the file
//! is read, so that a folder that was replaced is not watched in vain and no change falls between.
//! Where the system cannot watch, the file is read every few seconds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::files;

use crate::config_file;

/// What the file says, or what is wrong with it.
pub type Reading = Result<Config, Failure>;

/// An editor's save is a handful of events within milliseconds.
const QUIET: Duration = Duration::from_millis(200);
/// A folder that is never quiet is read all the same.
const LONGEST: Duration = Duration::from_secs(2);
/// How often the file is read where it cannot be watched.
const BLIND: Duration = Duration::from_secs(5);

/// Sends each reading of the file at `path` that differs from the one before, beginning with
/// `last`.
pub async fn follow(
    path: PathBuf,
    mut last: Reading,
    readings: mpsc::Sender<Reading>,
    tasks: TaskTracker,
) {
    let mut was_there = last != Ok(Config::default());
    loop {
        let (nudge, mut nudges) = mpsc::channel(1);
        let place = path.clone();
        let looked =
            tasks.spawn_blocking(move || (watch(&place, nudge), config_file::read(&place)));
        let Ok((watcher, found)) = looked.await else {
            return;
        };
        let reading = match found {
            Ok(Some(config)) => {
                was_there = true;
                Ok(config)
            }
            // Nobody wipes out a setup by mistake: what was said last holds until a restart.
            Ok(None) if was_there => Err(gone(&path)),
            Ok(None) => Ok(Config::default()),
            Err(failure) => Err(failure),
        };
        if reading != last {
            last = reading.clone();
            if readings.send(reading).await.is_err() {
                return;
            }
        }
        let patience = if watcher.is_some() { Duration::MAX } else { BLIND };
        if timeout(patience, nudges.recv()).await.is_ok() {
            quiet(&mut nudges).await;
        }
    }
}

/// Waits until no nudge has come for a moment.
async fn quiet(nudges: &mut mpsc::Receiver<()>) {
    let latest = Instant::now() + LONGEST;
    while let Ok(Some(())) = timeout_at(latest.min(Instant::now() + QUIET), nudges.recv()).await {}
}

/// Watches the folders in which a change of the file would show; `None` if the system cannot.
fn watch(path: &Path, nudge: mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let folders = folders(path);
    let seen = move |event: notify::Result<notify::Event>| {
        // Reading the file is an event, too.
        if !event.is_ok_and(|event| event.kind.is_access() && !closed_after_writing(event.kind)) {
            // A nudge that waits already is as good as two.
            let _ = nudge.try_send(());
        }
    };
    let watcher = notify::recommended_watcher(seen).and_then(|mut watcher| {
        for folder in &folders {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        Ok(watcher)
    });
    watcher
        .inspect_err(|error| tracing::debug!(%error, "config.toml cannot be watched"))
        .ok()
        .filter(|_| !folders.is_empty())
}

fn closed_after_writing(kind: notify::EventKind) -> bool {
    use notify::event::{AccessKind, AccessMode, EventKind};
    kind == EventKind::Access(AccessKind::Close(AccessMode::Write))
}

/// The folder of the file, made if need be, and the folder of what it is a link to.
fn folders(path: &Path) -> BTreeSet<PathBuf> {
    let own = path.parent().map(Path::to_owned);
    if let Some(folder) = &own {
        let _ = files::private_folder(folder);
    }
    let target = std::fs::canonicalize(path).ok();
    let target = target.and_then(|target| target.parent().map(Path::to_owned));
    own.into_iter().chain(target).filter_map(|folder| folder.canonicalize().ok()).collect()
}

fn gone(path: &Path) -> Failure {
    let what = format!("{} is gone; what it said last still holds.", path.display());
    let remedy = "Put the file back, or restart the gateway to run without it.";
    Failure::new(Code::Configuration, what, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A file that is followed from a moment when it did not exist.
    struct Followed {
        folder: tempfile::TempDir,
        readings: mpsc::Receiver<Reading>,
    }

    impl Followed {
        fn begin() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let (send, readings) = mpsc::channel(1);
            let path = folder.path().join("deep/config.toml");
            let tasks = TaskTracker::new();
            tasks.spawn(follow(path, Ok(Config::default()), send, tasks.clone()));
            Self { folder, readings }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join("deep").join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        async fn next(&mut self) -> Reading {
            timeout(PATIENCE, self.readings.recv()).await.unwrap().unwrap()
        }
    }

    fn text(port: u16) -> String {
        format!("[upstreams.a]\nurl = \"http://127.0.0.1:{port}/mcp\"\n")
    }

    fn said(port: u16) -> Reading {
        Ok(Config::parse(&text(port)).unwrap())
    }

    #[tokio::test]
    async fn a_file_that_did_not_exist_is_read_once_it_does_and_again_when_it_is_replaced() {
        let mut followed = Followed::begin();
        followed.write("config.toml", &text(1));
        assert_eq!(followed.next().await, said(1));
        followed.write("config.toml~", &text(2));
        std::fs::rename(followed.path("config.toml~"), followed.path("config.toml")).unwrap();
        assert_eq!(followed.next().await, said(2));
    }

    #[tokio::test]
    async fn a_mistake_is_told_and_so_is_its_correction() {
        let mut followed = Followed::begin();
        followed.write("config.toml", "[upstreams.a]\n");
        let mistake = followed.next().await.unwrap_err();
        assert!(mistake.what.contains("config.toml, line 1: The upstream `a`"), "{mistake}");
        followed.write("config.toml", &text(1));
        assert_eq!(followed.next().await, said(1));
    }

    #[tokio::test]
    async fn a_file_that_is_gone_is_reported_and_not_taken_for_an_empty_one() {
        let mut followed = Followed::begin();
        followed.write("config.toml", &text(1));
        followed.next().await.unwrap();
        std::fs::remove_file(followed.path("config.toml")).unwrap();
        let failure = followed.next().await.unwrap_err();
        assert!(failure.what.contains("is gone"), "{failure}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_link_is_followed_to_the_file_that_people_edit() {
        let mut followed = Followed::begin();
        let real = followed.folder.path().join("dotfiles/evermoor.toml");
        std::fs::create_dir_all(real.parent().unwrap()).unwrap();
        std::fs::create_dir_all(followed.path("")).unwrap();
        std::fs::write(&real, text(1)).unwrap();
        std::os::unix::fs::symlink(&real, followed.path("config.toml")).unwrap();
        assert_eq!(followed.next().await, said(1));
        std::fs::write(&real, text(2)).unwrap();
        assert_eq!(followed.next().await, said(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_of_events_is_waited_out_and_an_endless_one_is_not() {
        let (nudge, mut nudges) = mpsc::channel(1);
        let began = Instant::now();
        let burst = async {
            for _ in 0..3 {
                tokio::time::sleep(QUIET / 2).await;
                nudge.send(()).await.unwrap();
            }
        };
        tokio::join!(quiet(&mut nudges), burst);
        assert_eq!(began.elapsed(), QUIET / 2 * 3 + QUIET);

        let began = Instant::now();
        let endless = async {
            loop {
                tokio::time::sleep(QUIET / 2).await;
                nudge.send(()).await.unwrap();
            }
        };
        tokio::select! {
            () = quiet(&mut nudges) => {}
            () = endless => {}
        }
        assert_eq!(began.elapsed(), LONGEST);
    }
}
