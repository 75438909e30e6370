//! What upstreams last said of themselves, on the disk: an editor that starts while everything is
//! down sees its tools.
//!
//! Each upstream has a file in the form of [`evermoor_core::catalog::cache`]. It is written when what an
//! upstream says differs from what the file says, by a task of its own: no call waits for a disk.
//! A disk that is full or closed to us costs the memory and nothing else. Nothing is written while
//! the [`Pen`] is another gateway's.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use evermoor_core::catalog::cache;
use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::config;
use evermoor_platform::fs::private;

use crate::monitoring::status::Overview;
use crate::system::write_lease::Pen;
use crate::upstream::{Handle, Known, Link};

/// The folder of these files.
#[derive(Clone)]
pub struct Store {
    folder: PathBuf,
    pen: Pen,
    tasks: TaskTracker,
}

impl Store {
    pub fn new(folder: PathBuf, pen: Pen, tasks: TaskTracker) -> Self {
        Self { folder, pen, tasks }
    }

    /// What this upstream last said of itself, if that is known and about this target.
    pub async fn recall(&self, upstream: &config::Upstream) -> Option<Arc<Known>> {
        let (path, target) = (self.path(&upstream.name), upstream.transport.fingerprint());
        let known = self.tasks.spawn_blocking(move || read(&path, &target)).await;
        known.ok().flatten().map(Arc::new)
    }

    /// Writes down what upstreams say of themselves, for as long as `overview` tells of changes.
    pub async fn keep(
        self,
        upstreams: watch::Receiver<Arc<[Handle]>>,
        mut overview: watch::Receiver<Overview>,
    ) {
        let mut written: HashMap<UpstreamName, Arc<Known>> = HashMap::new();
        let mut complained = false;
        loop {
            let Some(writing) = self.pen.take().await else {
                self.pen.until_ours().await;
                continue;
            };
            let present = Arc::clone(&upstreams.borrow());
            written.retain(|name, _| present.iter().any(|handle| handle.name() == name));
            for handle in present.iter() {
                let Some(known) = fresh(handle, &written) else {
                    continue;
                };
                match self.write(&handle.config, &known).await {
                    Ok(()) => {
                        written.insert(handle.name().clone(), known);
                        complained = false;
                    }
                    Err(error) if !complained => {
                        tracing::warn!(upstream = %handle.name(), %error, "the catalog cannot be written");
                        complained = true;
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

    async fn write(&self, upstream: &config::Upstream, known: &Known) -> io::Result<()> {
        let path = self.path(&upstream.name);
        let target = upstream.transport.fingerprint();
        let content = cache::encode(&target, known);
        let written = self.tasks.spawn_blocking(move || write(&path, &content)).await;
        written.unwrap_or_else(|panicked| Err(io::Error::other(panicked)))
    }

    fn path(&self, name: &UpstreamName) -> PathBuf {
        self.folder.join(format!("{name}.json"))
    }
}

/// What an upstream that is connected says of itself, unless that is written already.
fn fresh(handle: &Handle, written: &HashMap<UpstreamName, Arc<Known>>) -> Option<Arc<Known>> {
    let state = handle.state();
    let said = match state.link {
        Link::Ready(_) => state.known?,
        Link::Connecting | Link::Down { .. } | Link::Paused { .. } => return None,
    };
    let same = written.get(handle.name()).is_some_and(|known| Arc::ptr_eq(known, &said));
    (!same).then_some(said)
}

fn read(path: &Path, target: &str) -> Option<Known> {
    let content = private::read_private(path)
        .inspect_err(|error| tracing::warn!(%error, "a catalog is not used"))
        .ok()??;
    match cache::decode(target, &content.into()) {
        Ok(known) => Some(known),
        Err(why) => {
            tracing::info!(file = %path.display(), %why, "a catalog is not used");
            None
        }
    }
}

/// Writes a file, unless it says this already.
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

    fn known(tool: &'static str) -> Known {
        let said = br#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
        let raw = |text: &'static [u8]| Raw::parse(Bytes::from_static(text)).unwrap();
        let catalog = Catalog { tools: vec![raw(tool.as_bytes())], ..Catalog::default() };
        Known::new(Handshake::read(&raw(said)).unwrap(), catalog, None)
    }

    fn upstream(port: u16) -> config::Upstream {
        let text = format!("[upstreams.a]\nurl = \"http://127.0.0.1:{port}/mcp\"\n");
        config::Config::parse(&text).unwrap().upstreams.remove(0)
    }

    fn store() -> (tempfile::TempDir, Store) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(folder.path().join("catalogs"), Pen::new(true), TaskTracker::new());
        (folder, store)
    }

    #[tokio::test]
    async fn what_was_written_is_recalled_for_its_target_only() {
        let (_folder, store) = store();
        let said = known(r#"{ "name":"x" }"#);
        assert_eq!(store.recall(&upstream(1)).await, None);
        store.write(&upstream(1), &said).await.unwrap();
        assert_eq!(store.recall(&upstream(1)).await.as_deref(), Some(&said));
        assert_eq!(store.recall(&upstream(2)).await, None, "another server has other tools");
    }

    #[tokio::test]
    async fn a_damaged_file_is_as_none_and_is_written_anew() {
        let (_folder, store) = store();
        let said = known(r#"{"name":"x"}"#);
        store.write(&upstream(1), &said).await.unwrap();
        let path = store.path(&upstream(1).name);
        let whole = std::fs::read(&path).unwrap();
        for damaged in [&whole[..whole.len() / 2], b"", b"\xff\x00", b"{}"] {
            private::write_private(&path, damaged).unwrap();
            assert_eq!(store.recall(&upstream(1)).await, None);
        }
        store.write(&upstream(1), &said).await.unwrap();
        assert_eq!(store.recall(&upstream(1)).await.as_deref(), Some(&said));
    }

    #[tokio::test]
    async fn a_file_that_says_it_already_is_not_written_again() {
        let (_folder, store) = store();
        let path = store.path(&upstream(1).name);
        let written = || std::fs::metadata(&path).unwrap().modified().unwrap();
        store.write(&upstream(1), &known(r#"{"name":"x"}"#)).await.unwrap();
        let first = written();
        store.write(&upstream(1), &known(r#"{"name":"x"}"#)).await.unwrap();
        assert_eq!(written(), first);
        store.write(&upstream(1), &known(r#"{"name":"y"}"#)).await.unwrap();
        assert_ne!(written(), first);
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_written_is_an_error_and_no_more() {
        let (folder, store) = store();
        std::fs::write(folder.path().join("catalogs"), "a file, not a folder").unwrap();
        assert!(store.write(&upstream(1), &known(r#"{"name":"x"}"#)).await.is_err());
        assert_eq!(store.recall(&upstream(1)).await, None);
    }
}
