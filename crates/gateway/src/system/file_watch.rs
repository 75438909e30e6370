//! Tells when a file changes, or a folder of files.
//!
//! # Theory of operation
//! Editors replace a file rather than write into it, so what is watched is its folder, and the
//! folder of the file that a link leads to. Any event there is a reason to look, none is a reason
//! to believe: the file is to be read once the folder has been quiet for a moment. Watches are
//! made anew for every look, before the file is read, so that a folder that was replaced is not
//! watched in vain and no change falls between. Where the system cannot watch, it is time to look
//! every few seconds. A folder of files is watched in the same way, and so is the folder that it is
//! in: it may not exist yet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::task::TaskTracker;

use evermoor_platform::fs::private;

/// A watch over folders since just before what is in them was read.
pub(crate) struct Watch {
    watcher: Option<RecommendedWatcher>,
    nudges: mpsc::Receiver<()>,
}

/// An editor's save is a handful of events within milliseconds.
const QUIET: Duration = Duration::from_millis(200);
/// A folder that is never quiet is read all the same.
const LONGEST: Duration = Duration::from_secs(2);
/// How often the file is read where it cannot be watched.
const BLIND: Duration = Duration::from_secs(5);

/// Reads the file at `path`, watched from before. `None` when the program ends.
pub(crate) async fn look<T: Send + 'static>(
    path: &Path,
    read: impl FnOnce(&Path) -> T + Send + 'static,
    tasks: &TaskTracker,
) -> Option<(Watch, T)> {
    look_from(folders, path, read, tasks).await
}

/// Reads what is in a folder, which need not exist, watched from before. `None` when the program
/// ends.
pub(crate) async fn look_into<T: Send + 'static>(
    folder: &Path,
    read: impl FnOnce(&Path) -> T + Send + 'static,
    tasks: &TaskTracker,
) -> Option<(Watch, T)> {
    look_from(folders_around, folder, read, tasks).await
}

async fn look_from<T: Send + 'static>(
    places: fn(&Path) -> BTreeSet<PathBuf>,
    path: &Path,
    read: impl FnOnce(&Path) -> T + Send + 'static,
    tasks: &TaskTracker,
) -> Option<(Watch, T)> {
    let path = path.to_owned();
    let looked = tasks.spawn_blocking(move || {
        let (nudge, nudges) = mpsc::channel(1);
        let watched = places(&path);
        let watcher = watch(&watched, nudge.clone());
        // A folder that came before the watch did is watched by nobody: another look is due.
        if places(&path) != watched {
            let _ = nudge.try_send(());
        }
        (Watch { watcher, nudges }, read(&path))
    });
    looked.await.ok()
}

impl Watch {
    /// Waits until it is worth looking again.
    pub(crate) async fn stirred(mut self) {
        // Without a watcher there is nobody who could nudge, and that is no reason to look at once.
        if self.watcher.is_none() {
            return sleep(BLIND).await;
        }
        self.nudges.recv().await;
        quiet(&mut self.nudges).await;
    }
}

/// Waits until no nudge has come for a moment.
async fn quiet(nudges: &mut mpsc::Receiver<()>) {
    let latest = Instant::now() + LONGEST;
    while let Ok(Some(())) = timeout_at(latest.min(Instant::now() + QUIET), nudges.recv()).await {}
}

/// Watches the folders in which a change would show; `None` if the system cannot.
fn watch(folders: &BTreeSet<PathBuf>, nudge: mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let seen = move |event: notify::Result<notify::Event>| {
        // Reading the file is an event, too.
        if !event.is_ok_and(|event| event.kind.is_access() && !closed_after_writing(event.kind)) {
            // A nudge that waits already is as good as two.
            let _ = nudge.try_send(());
        }
    };
    let watcher = notify::recommended_watcher(seen).and_then(|mut watcher| {
        for folder in folders {
            watcher.watch(folder, RecursiveMode::NonRecursive)?;
        }
        Ok(watcher)
    });
    watcher
        .inspect_err(|error| tracing::debug!(%error, "a file cannot be watched"))
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
        let _ = private::private_folder(folder);
    }
    let both = own.into_iter().chain(target_folder(path));
    both.filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// The folder of what a link leads to, whether or not that is there.
fn target_folder(path: &Path) -> Option<PathBuf> {
    let target = std::fs::canonicalize(path).ok();
    let target = target.or_else(|| Some(path.with_file_name(std::fs::read_link(path).ok()?)))?;
    target.parent().map(Path::to_owned)
}

/// The folder itself, the one that it is in, and those that its links lead to.
fn folders_around(folder: &Path) -> BTreeSet<PathBuf> {
    let mut places = folders(folder);
    places.extend(folder.canonicalize().ok().filter(|folder| folder.is_dir()));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let targets = links.filter_map(|link| target_folder(&link.path()));
    places.extend(targets.filter_map(|folder| folder.canonicalize().ok()));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_watched_is_looked_at_now_and_then() {
        let (_, nudges) = mpsc::channel(1);
        let began = Instant::now();
        Watch { watcher: None, nudges }.stirred().await;
        assert_eq!(began.elapsed(), BLIND);
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
