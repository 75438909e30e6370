//! Reads a file or a folder, and waits until it has changed.
//!
//! # Theory of operation
//! Editors replace a file rather than write into it, so its folder is watched, and the folder of a
//! symlink's target. Events only say that something may have changed: the file is read again once
//! the folder has been quiet for a moment. Each read creates new watches first, so a replaced folder
//! is watched again and no change is missed in between. Where the system cannot watch, the file is
//! read every few seconds. For a folder, its parent is watched too, because it may not exist yet.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::task::TaskTracker;

use evermoor_platform::fs::private;

/// Watches folders, since just before their contents were read.
pub(crate) struct FolderWatch {
    watcher: Option<RecommendedWatcher>,
    events: mpsc::Receiver<()>,
}

/// Saving a file in an editor causes several events within milliseconds.
const QUIET_PERIOD: Duration = Duration::from_millis(200);
/// A folder that is never quiet is read after this time.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// How often a file is read that cannot be watched.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Watches the file at `path`, then reads it. `None` when the runtime shuts down.
pub(crate) async fn read_watched<T: Send + 'static>(
    path: &Path,
    read: impl FnOnce(&Path) -> T + Send + 'static,
    tasks: &TaskTracker,
) -> Option<(FolderWatch, T)> {
    read_after_watching(file_folders, path, read, tasks).await
}

/// Watches a folder, which need not exist, then reads it. `None` when the runtime shuts down.
pub(crate) async fn read_watched_folder<T: Send + 'static>(
    folder: &Path,
    read: impl FnOnce(&Path) -> T + Send + 'static,
    tasks: &TaskTracker,
) -> Option<(FolderWatch, T)> {
    read_after_watching(folder_and_links, folder, read, tasks).await
}

async fn read_after_watching<T: Send + 'static>(
    folders_of: fn(&Path) -> BTreeSet<PathBuf>,
    path: &Path,
    read: impl FnOnce(&Path) -> T + Send + 'static,
    tasks: &TaskTracker,
) -> Option<(FolderWatch, T)> {
    let path = path.to_owned();
    let reading = tasks.spawn_blocking(move || {
        let (sender, events) = mpsc::channel(1);
        let watched = folders_of(&path);
        let watcher = watch(&watched, sender.clone());
        // A folder created before the watch started is not watched: read again.
        if folders_of(&path) != watched {
            let _ = sender.try_send(());
        }
        (FolderWatch { watcher, events }, read(&path))
    });
    reading.await.ok()
}

impl FolderWatch {
    /// Waits until something may have changed.
    pub(crate) async fn changed(mut self) {
        // Without a watcher no event arrives, and `recv` would return at once.
        if self.watcher.is_none() {
            return sleep(POLL_INTERVAL).await;
        }
        self.events.recv().await;
        quiet(&mut self.events).await;
    }
}

/// Waits until no event has arrived for a moment.
async fn quiet(events: &mut mpsc::Receiver<()>) {
    let latest = Instant::now() + MAX_WAIT;
    while let Ok(Some(())) =
        timeout_at(latest.min(Instant::now() + QUIET_PERIOD), events.recv()).await
    {}
}

/// Watches these folders; `None` if the system cannot.
fn watch(folders: &BTreeSet<PathBuf>, sender: mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let seen = move |event: notify::Result<notify::Event>| {
        // Reading the file causes an event, too.
        if !event.is_ok_and(|event| event.kind.is_access() && !closed_after_writing(event.kind)) {
            // One pending event is enough.
            let _ = sender.try_send(());
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

/// The folder of the file, created if needed, and the folder of its symlink target.
fn file_folders(path: &Path) -> BTreeSet<PathBuf> {
    let own = path.parent().map(Path::to_owned);
    if let Some(folder) = &own {
        let _ = private::private_folder(folder);
    }
    let both = own.into_iter().chain(target_folder(path));
    both.filter_map(|folder| folder.canonicalize().ok()).collect()
}

/// The folder of a symlink's target, whether or not the target exists.
fn target_folder(path: &Path) -> Option<PathBuf> {
    let target = std::fs::canonicalize(path).ok();
    let target = target.or_else(|| Some(path.with_file_name(std::fs::read_link(path).ok()?)))?;
    target.parent().map(Path::to_owned)
}

/// The folder itself, its parent, and the folders of its symlinks' targets.
fn folder_and_links(folder: &Path) -> BTreeSet<PathBuf> {
    let mut folders = file_folders(folder);
    folders.extend(folder.canonicalize().ok().filter(|folder| folder.is_dir()));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let targets = links.filter_map(|link| target_folder(&link.path()));
    folders.extend(targets.filter_map(|folder| folder.canonicalize().ok()));
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_cannot_be_watched_is_read_at_intervals() {
        let (_, events) = mpsc::channel(1);
        let began = Instant::now();
        FolderWatch { watcher: None, events }.changed().await;
        assert_eq!(began.elapsed(), POLL_INTERVAL);
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_of_events_is_waited_out_and_an_endless_one_is_not() {
        let (sender, mut events) = mpsc::channel(1);
        let began = Instant::now();
        let burst = async {
            for _ in 0..3 {
                tokio::time::sleep(QUIET_PERIOD / 2).await;
                sender.send(()).await.unwrap();
            }
        };
        tokio::join!(quiet(&mut events), burst);
        assert_eq!(began.elapsed(), QUIET_PERIOD / 2 * 3 + QUIET_PERIOD);

        let began = Instant::now();
        let endless = async {
            loop {
                tokio::time::sleep(QUIET_PERIOD / 2).await;
                sender.send(()).await.unwrap();
            }
        };
        tokio::select! {
            () = quiet(&mut events) => {}
            () = endless => {}
        }
        assert_eq!(began.elapsed(), MAX_WAIT);
    }
}
