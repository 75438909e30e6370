//! The last known catalog of each upstream, on disk: an editor that starts while everything is down
//! still sees its tools.
//!
//! Each upstream has a file in the format of [`evermoor_core::catalog::cache`]. A separate task writes
//! it when the catalog changes, so no call waits for the disk. If the disk is full or read-only, only
//! the cache is lost. Nothing is written while another gateway holds the [`WriteLease`]. The file of an
//! upstream that is gone is deleted after [`KEPT_AFTER_REMOVAL`].

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use evermoor_core::catalog::cache;
use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::config;
use evermoor_platform::clock;
use evermoor_platform::fs::private;

use crate::monitoring::status::Overview;
use crate::system::write_lease::WriteLease;
use crate::upstream::{KnownCatalog, LinkState, UpstreamHandle};

/// How long the file of an upstream that is gone is kept, in case it comes back.
const KEPT_AFTER_REMOVAL: Duration = Duration::from_secs(30 * 86_400);

/// The folder with the catalog files.
#[derive(Clone)]
pub struct CatalogCache {
    folder: PathBuf,
    lease: WriteLease,
    tasks: TaskTracker,
}

impl CatalogCache {
    pub fn new(folder: PathBuf, lease: WriteLease, tasks: TaskTracker) -> Self {
        Self { folder, lease, tasks }
    }

    /// The cached catalog of an upstream, if there is one for the same target.
    pub async fn load(&self, upstream: &config::UpstreamConfig) -> Option<Arc<KnownCatalog>> {
        let (path, target) = (self.path(&upstream.name), upstream.transport.fingerprint());
        let known = self.tasks.spawn_blocking(move || read(&path, &target)).await;
        known.ok().flatten().map(Arc::new)
    }

    /// Writes catalogs when `overview` changes, until its sender is gone.
    pub async fn keep(
        self,
        upstreams: watch::Receiver<Arc<[UpstreamHandle]>>,
        mut overview: watch::Receiver<Overview>,
    ) {
        let mut written: HashMap<UpstreamName, Arc<KnownCatalog>> = HashMap::new();
        let (mut warned, mut cleaned) = (false, false);
        loop {
            let Some(writing) = self.lease.take().await else {
                self.lease.until_held().await;
                continue;
            };
            let present = Arc::clone(&upstreams.borrow());
            if !std::mem::replace(&mut cleaned, true) {
                self.delete_old(&present).await;
            }
            written.retain(|name, _| present.iter().any(|handle| handle.name() == name));
            for handle in present.iter() {
                let Some(known) = unwritten(handle, &written) else {
                    continue;
                };
                match self.write(&handle.config, Arc::clone(&known)).await {
                    Ok(()) => {
                        written.insert(handle.name().clone(), known);
                        warned = false;
                    }
                    Err(error) if !warned => {
                        tracing::warn!(upstream = %handle.name(), %error, "cannot write the catalog file");
                        warned = true;
                    }
                    Err(_) => {}
                }
            }
            drop(writing);
            if overview.changed().await.is_err() {
                return;
            }
        }
    }

    /// Deletes the files of upstreams that are gone.
    async fn delete_old(&self, present: &[UpstreamHandle]) {
        let kept = present.iter().map(|handle| self.path(handle.name())).collect();
        let (folder, now) = (self.folder.clone(), clock::now());
        let deleted = self.tasks.spawn_blocking(move || delete_old(&folder, &kept, now)).await;
        if let Ok(deleted @ 1..) = deleted {
            tracing::info!(files = deleted, "deleted the catalogs of servers that are gone");
        }
    }

    async fn write(
        &self,
        upstream: &config::UpstreamConfig,
        known: Arc<KnownCatalog>,
    ) -> io::Result<()> {
        let path = self.path(&upstream.name);
        let target = upstream.transport.fingerprint();
        let write = move || write(&path, &cache::encode(&target, &known));
        let written = self.tasks.spawn_blocking(write).await;
        written.unwrap_or_else(|panicked| Err(io::Error::other(panicked)))
    }

    fn path(&self, name: &UpstreamName) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }
}

/// The catalog of a connected upstream, unless it is written already.
fn unwritten(
    handle: &UpstreamHandle,
    written: &HashMap<UpstreamName, Arc<KnownCatalog>>,
) -> Option<Arc<KnownCatalog>> {
    let state = handle.state();
    let current = match state.link {
        LinkState::Ready(_) => state.known?,
        LinkState::Connecting | LinkState::Down { .. } | LinkState::Paused { .. } => return None,
    };
    let same = written.get(handle.name()).is_some_and(|known| Arc::ptr_eq(known, &current));
    (!same).then_some(current)
}

fn read(path: &Path, target: &str) -> Option<KnownCatalog> {
    let content = private::read_private(path)
        .inspect_err(|error| tracing::warn!(%error, "ignoring a catalog file"))
        .ok()??;
    match cache::decode(target, &content.into()) {
        Ok(known) => Some(known),
        Err(why) => {
            tracing::info!(file = %path.display(), %why, "ignoring a catalog file");
            None
        }
    }
}

/// Deletes the catalog files in a folder that are old and not in `kept`. Returns how many.
fn delete_old(folder: &Path, kept: &HashSet<PathBuf>, now: SystemTime) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let is_old = |path: &Path| {
        let written = std::fs::symlink_metadata(path).and_then(|found| found.modified());
        written.is_ok_and(|written| {
            now.duration_since(written).is_ok_and(|age| age >= KEPT_AFTER_REMOVAL)
        })
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let ours = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let gone = ours.filter(|path| !kept.contains(path) && is_old(path));
    gone.filter(|path| std::fs::remove_file(path).is_ok()).count()
}

/// Writes a file, unless it has this content already.
fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    match private::read_private(path) {
        Ok(Some(found)) if found == content => Ok(()),
        Ok(_) | Err(_) => private::write_private(path, content),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use evermoor_core::catalog::Catalog;
    use evermoor_core::protocol::json::Raw;
    use evermoor_core::protocol::mcp::Handshake;

    fn known(tool: &'static str) -> Arc<KnownCatalog> {
        let expected = br#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
        let raw = |text: &'static [u8]| Raw::parse(Bytes::from_static(text)).unwrap();
        let catalog = Catalog { tools: vec![raw(tool.as_bytes())], ..Catalog::default() };
        Arc::new(KnownCatalog::new(Handshake::read(&raw(expected)).unwrap(), catalog, None))
    }

    fn upstream(port: u16) -> config::UpstreamConfig {
        let text = format!("[upstreams.a]\nurl = \"http://127.0.0.1:{port}/mcp\"\n");
        config::Config::parse(&text).unwrap().upstreams.remove(0)
    }

    fn store() -> (tempfile::TempDir, CatalogCache) {
        let folder = tempfile::tempdir().unwrap();
        let store = CatalogCache::new(
            folder.path().join("catalogs"),
            WriteLease::new(true),
            TaskTracker::new(),
        );
        (folder, store)
    }

    #[tokio::test]
    async fn a_catalog_is_loaded_for_its_own_target_only() {
        let (_folder, store) = store();
        let expected = known(r#"{ "name":"x" }"#);
        assert_eq!(store.load(&upstream(1)).await, None);
        store.write(&upstream(1), Arc::clone(&expected)).await.unwrap();
        assert_eq!(store.load(&upstream(1)).await.as_ref(), Some(&expected));
        assert_eq!(store.load(&upstream(2)).await, None, "another server has other tools");
    }

    #[tokio::test]
    async fn a_corrupt_catalog_file_is_ignored_and_replaced() {
        let (_folder, store) = store();
        let expected = known(r#"{"name":"x"}"#);
        store.write(&upstream(1), Arc::clone(&expected)).await.unwrap();
        let path = store.path(&upstream(1).name);
        let whole = std::fs::read(&path).unwrap();
        for corrupt in [&whole[..whole.len() / 2], b"", b"\xff\x00", b"{}"] {
            private::write_private(&path, corrupt).unwrap();
            assert_eq!(store.load(&upstream(1)).await, None);
        }
        store.write(&upstream(1), Arc::clone(&expected)).await.unwrap();
        assert_eq!(store.load(&upstream(1)).await.as_ref(), Some(&expected));
    }

    #[test]
    fn the_file_of_an_upstream_that_is_gone_is_deleted_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["present.json", "gone.json", "other.txt"] {
            std::fs::write(path(name), "x").unwrap();
        }
        let kept = HashSet::from([path("present.json")]);
        let now = clock::now();
        assert_eq!(delete_old(folder.path(), &kept, now), 0, "it may come back");
        let later = now + KEPT_AFTER_REMOVAL + Duration::from_secs(60);
        assert_eq!(delete_old(folder.path(), &kept, later), 1);
        assert!(path("present.json").exists() && path("other.txt").exists());
        assert!(!path("gone.json").exists());
    }

    #[tokio::test]
    async fn an_unchanged_catalog_is_not_written_again() {
        let (_folder, store) = store();
        let path = store.path(&upstream(1).name);
        let written = || std::fs::metadata(&path).unwrap().modified().unwrap();
        store.write(&upstream(1), known(r#"{"name":"x"}"#)).await.unwrap();
        let first = written();
        store.write(&upstream(1), known(r#"{"name":"x"}"#)).await.unwrap();
        assert_eq!(written(), first);
        store.write(&upstream(1), known(r#"{"name":"y"}"#)).await.unwrap();
        assert_ne!(written(), first);
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_is_only_an_error() {
        let (folder, store) = store();
        std::fs::write(folder.path().join("catalogs"), "a file, not a folder").unwrap();
        assert!(store.write(&upstream(1), known(r#"{"name":"x"}"#)).await.is_err());
        assert_eq!(store.load(&upstream(1)).await, None);
    }
}
