//! The subscriptions of all sessions, on disk, because a session id does not contain them.
//!
//! The whole file is written after a change, one write at a time; changes during a write are written
//! together. While another gateway holds the [`WriteLease`], changes are sent to that gateway instead. The
//! file has a limited size: what does not fit are the subscriptions of the sessions that have the most.

use std::collections::{BTreeMap, BTreeSet};
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
    all: Arc<Mutex<AllSubscriptions>>,
    /// The sessions that changed since the last write began.
    changed: Arc<Mutex<BTreeSet<String>>>,
    file: PathBuf,
    lease: WriteLease,
    handover_items: mpsc::Sender<HandoverItem>,
    tasks: TaskTracker,
}

/// The subscriptions of all sessions, and how large they are.
#[derive(Default)]
struct AllSubscriptions {
    sessions: BTreeMap<String, StoredSubscriptions>,
    bytes: usize,
}

const MAX_SESSIONS: usize = 4096;
/// How much is kept of all sessions together.
const MAX_BYTES: usize = 8 << 20;
/// What a session or a resource takes besides its text.
const ENTRY_SIZE: usize = 64;

impl SubscriptionStore {
    pub fn new(
        file: PathBuf,
        lease: WriteLease,
        handover_items: mpsc::Sender<HandoverItem>,
        tasks: TaskTracker,
    ) -> Self {
        Self { all: Arc::default(), changed: Arc::default(), file, lease, handover_items, tasks }
    }

    /// Reads the file. An unreadable file is ignored: editors can subscribe again.
    pub fn load(&self) {
        let read = private::read_private(&self.file).ok().flatten();
        let read = read.and_then(|content| serde_json::from_slice::<BTreeMap<_, _>>(&content).ok());
        let Some(read) = read else { return };
        let mut all = self.all.lock();
        *all = AllSubscriptions::default();
        for (session, subscriptions) in read {
            all.set(session, subscriptions);
        }
    }

    /// The subscriptions of a session.
    pub fn get(&self, nonce: &Nonce) -> SessionSubscriptions {
        self.all
            .lock()
            .sessions
            .get(&key(nonce))
            .cloned()
            .map(SessionSubscriptions::from)
            .unwrap_or_default()
    }

    /// Sets the subscriptions of a session.
    pub fn set(&self, session: String, subscriptions: StoredSubscriptions) {
        if !self.all.lock().set(session.clone(), subscriptions) {
            return;
        }
        let mut changed = self.changed.lock();
        let is_scheduled = !changed.is_empty();
        changed.insert(session);
        if !is_scheduled {
            let notes = self.clone();
            self.tasks.spawn_blocking(move || notes.write());
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

    fn take_changed(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.changed.lock())
    }

    fn write(&self) {
        let writing = self.lease.take_blocking();
        let changed = self.take_changed();
        if let Some(writing) = writing {
            return self.write_all(&writing);
        }
        for session in changed {
            let known = self.all.lock().sessions.get(&session).cloned();
            let subscriptions = known.unwrap_or_default();
            let item = HandoverItem::Subscriptions { session, subscriptions };
            let _ = self.handover_items.blocking_send(item);
        }
    }

    fn write_all(&self, _: &WriteGuard) {
        let content = serde_json::to_vec(&self.all.lock().sessions).expect("strings serialise");
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

impl AllSubscriptions {
    /// Sets the subscriptions of a session. Returns whether they changed.
    fn set(&mut self, session: String, subscriptions: StoredSubscriptions) -> bool {
        let before = self.remove(&session);
        let changed = before.unwrap_or_default() != subscriptions;
        if !subscriptions.is_empty() {
            self.bytes += subscriptions.size();
            self.sessions.insert(session, subscriptions);
        }
        while self.sessions.len() > MAX_SESSIONS || self.bytes > MAX_BYTES {
            let largest = self.sessions.iter().max_by_key(|(_, one)| one.size());
            let Some(largest) = largest.map(|(session, _)| session.clone()) else { break };
            self.remove(&largest);
        }
        changed
    }

    fn remove(&mut self, session: &str) -> Option<StoredSubscriptions> {
        let removed = self.sessions.remove(session)?;
        self.bytes -= removed.size();
        Some(removed)
    }
}

impl StoredSubscriptions {
    fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.level.is_none()
    }

    /// About how many bytes they take.
    fn size(&self) -> usize {
        let resources = self.resources.iter();
        let resources = resources.map(|(upstream, uri)| upstream.len() + uri.len() + ENTRY_SIZE);
        ENTRY_SIZE + resources.sum::<usize>()
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

    #[test]
    fn the_sessions_with_the_most_subscriptions_are_forgotten_if_there_is_too_much() {
        let mut all = AllSubscriptions::default();
        all.set("small".into(), subscriptions("x://1"));
        for number in 0..20 {
            let large = subscriptions(&"x".repeat((1 << 20) + number));
            assert!(all.set(format!("large {number}"), large));
        }
        assert!(all.bytes <= MAX_BYTES, "{}", all.bytes);
        assert!(all.sessions.contains_key("small") && all.sessions.len() > 5);
        for session in all.sessions.keys().cloned().collect::<Vec<_>>() {
            all.set(session, StoredSubscriptions::default());
        }
        assert_eq!(all.bytes, 0);
    }

    #[tokio::test]
    async fn changes_during_a_write_are_written_together() {
        let folder = tempfile::tempdir().unwrap();
        let (handover_items, _queued) = mpsc::channel(1);
        let (file, lease) = (folder.path().join("sessions.json"), WriteLease::new(true));
        let notes = SubscriptionStore::new(file, lease.clone(), handover_items, TaskTracker::new());
        let writing = lease.take().await;
        for number in 0..50 {
            notes.set(key(&[number; 16]), subscriptions("x://1"));
        }
        assert_eq!(notes.tasks.len(), 1, "one write for all of them");
        drop(writing);
        settled(&notes).await;
        assert!(notes.changed.lock().is_empty());
        notes.load();
        assert_eq!(notes.all.lock().sessions.len(), 50);
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
