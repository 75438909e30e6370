//! The subscriptions of all sessions, on disk, because a session id does not contain them.
//!
//! The whole file is written after each change, one write at a time. While another gateway holds
//! the [`WriteLease`], changes are sent to that gateway instead.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::protocol::log_level::LoggingLevel;
use evermoor_platform::fs::private;

use super::subscriptions::SessionSubscriptions;
use crate::mcp::handover_queue::HandoverItem;
use crate::system::write_lease::{WriteGuard, WriteLease};

pub(crate) type Nonce = [u8; 16];

/// The subscriptions of one session, as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSubscriptions {
    pub resources: Vec<(String, String)>,
    pub level: Option<String>,
}

/// The subscriptions of all sessions.
#[derive(Clone)]
pub struct SubscriptionStore {
    all: Arc<Mutex<BTreeMap<String, StoredSubscriptions>>>,
    file: PathBuf,
    lease: WriteLease,
    handover_items: mpsc::Sender<HandoverItem>,
    tasks: TaskTracker,
}

const MAX_SESSIONS: usize = 4096;

impl SubscriptionStore {
    pub fn new(
        file: PathBuf,
        lease: WriteLease,
        handover_items: mpsc::Sender<HandoverItem>,
        tasks: TaskTracker,
    ) -> Self {
        Self { all: Arc::default(), file, lease, handover_items, tasks }
    }

    /// Reads the file. An unreadable file is ignored: editors can subscribe again.
    pub fn load(&self) {
        let read = private::read_private(&self.file).ok().flatten();
        if let Some(all) = read.and_then(|content| serde_json::from_slice(&content).ok()) {
            *self.all.lock() = all;
        }
    }

    /// The subscriptions of a session.
    pub fn get(&self, nonce: &Nonce) -> SessionSubscriptions {
        self.all
            .lock()
            .get(&key(nonce))
            .cloned()
            .map(SessionSubscriptions::from)
            .unwrap_or_default()
    }

    /// Sets the subscriptions of a session.
    pub fn set(&self, session: String, subscriptions: StoredSubscriptions) {
        let mut all = self.all.lock();
        let changed = match subscriptions.is_empty() {
            true => all.remove(&session).is_some(),
            false => {
                all.insert(session.clone(), subscriptions.clone()) != Some(subscriptions.clone())
            }
        };
        while all.len() > MAX_SESSIONS {
            all.pop_first();
        }
        drop(all);
        if changed {
            let notes = self.clone();
            self.tasks.spawn_blocking(move || notes.write(session, subscriptions));
        }
    }

    /// Writes the file again, after a takeover by another gateway failed.
    pub fn rewrite(&self) {
        let notes = self.clone();
        self.tasks.spawn_blocking(move || {
            if let Some(writing) = notes.lease.take_blocking() {
                notes.write_all(&writing);
            }
        });
    }

    fn write(&self, session: String, subscriptions: StoredSubscriptions) {
        match self.lease.take_blocking() {
            Some(writing) => self.write_all(&writing),
            None => {
                let _ = self
                    .handover_items
                    .blocking_send(HandoverItem::Subscriptions { session, subscriptions });
            }
        }
    }

    fn write_all(&self, _: &WriteGuard) {
        let content = serde_json::to_vec(&*self.all.lock()).expect("strings serialise");
        if let Err(error) = private::write_private(&self.file, &content) {
            tracing::warn!(%error, "cannot store the subscriptions");
        }
    }
}

/// The key of a session in the file.
pub(crate) fn key(nonce: &Nonce) -> String {
    BASE64.encode(nonce)
}

/// The session that a key stands for.
pub(crate) fn nonce(key: &str) -> Option<Nonce> {
    BASE64.decode(key).ok()?.try_into().ok()
}

impl StoredSubscriptions {
    fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.level.is_none()
    }
}

impl From<&SessionSubscriptions> for StoredSubscriptions {
    fn from(subscriptions: &SessionSubscriptions) -> Self {
        let resources = subscriptions.resources.iter();
        Self {
            resources: resources.map(|(up, uri)| (up.to_string(), uri.clone())).collect(),
            level: subscriptions.level.map(|level| level.as_str().to_owned()),
        }
    }
}

impl From<StoredSubscriptions> for SessionSubscriptions {
    fn from(stored: StoredSubscriptions) -> Self {
        let named = |(name, uri): (String, String)| Some((UpstreamName::parse(&name).ok()?, uri));
        Self {
            resources: stored.resources.into_iter().filter_map(named).collect(),
            level: stored.level.as_deref().and_then(LoggingLevel::parse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: Nonce = [7; 16];

    fn subscriptions(uri: &str) -> StoredSubscriptions {
        StoredSubscriptions { resources: vec![("a".into(), uri.into())], level: None }
    }

    async fn settled(notes: &SubscriptionStore) {
        notes.tasks.close();
        notes.tasks.wait().await;
        notes.tasks.reopen();
    }

    #[tokio::test]
    async fn subscriptions_are_loaded_again_unless_they_ended() {
        let folder = tempfile::tempdir().unwrap();
        let (handover_items, _queued_handover_items) = mpsc::channel(1);
        let notes = || {
            let file = folder.path().join("sessions.json");
            SubscriptionStore::new(
                file,
                WriteLease::new(true),
                handover_items.clone(),
                TaskTracker::new(),
            )
        };
        let first = notes();
        for uri in ["x://1", "x://2"] {
            first.set(key(&SESSION), subscriptions(uri));
        }
        first.set(key(&[8; 16]), subscriptions("x://3"));
        first.set(key(&[8; 16]), StoredSubscriptions::default());
        settled(&first).await;
        let second = notes();
        second.load();
        assert_eq!(second.get(&SESSION), subscriptions("x://2").into());
        assert!(second.get(&[8; 16]).is_empty());
    }

    #[tokio::test]
    async fn without_the_write_lease_a_change_is_sent_to_the_other_gateway() {
        let folder = tempfile::tempdir().unwrap();
        let (handover_items, mut queued_handover_items) = mpsc::channel(1);
        let file = folder.path().join("sessions.json");
        let lease = WriteLease::new(true);
        let notes =
            SubscriptionStore::new(file.clone(), lease.clone(), handover_items, TaskTracker::new());
        lease.release().await;
        notes.set(key(&SESSION), subscriptions("x://1"));
        settled(&notes).await;
        assert!(!file.exists());
        let Some(HandoverItem::Subscriptions { session, subscriptions: sent }) =
            queued_handover_items.recv().await
        else {
            panic!("a subscription is sent")
        };
        assert_eq!((nonce(&session), sent), (Some(SESSION), subscriptions("x://1")));
    }
}
