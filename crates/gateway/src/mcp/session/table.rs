//! The table of sessions that have spoken.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

use evermoor_core::security::session_id::{Session, SessionKey};

use super::Live;
use super::store;
use super::store::{Nonce, Notes, Remembered};
use super::subscriptions::Wishes;
use crate::lifecycle::keys;
use crate::lifecycle::keys::KeyError;
use crate::routing::router::Router;
use crate::upstream::subscriptions::Interests;

pub struct Sessions {
    key: SessionKey,
    /// Tells this life of the gateway from others.
    edition: Arc<str>,
    table: Mutex<HashMap<Nonce, Arc<Live>>>,
    /// Sessions that their editors ended.
    ended: Mutex<VecDeque<Nonce>>,
    numbers: AtomicU64,
    notes: Notes,
    router: Router,
    interests: Interests,
    tasks: TaskTracker,
}

/// More than this many idle sessions are not kept in memory; their ids are as good as before.
const MOST_IDLE: usize = 4096;
const MOST_ENDED: usize = 4096;

impl Sessions {
    pub fn new(
        key: SessionKey,
        edition: &str,
        notes: Notes,
        router: Router,
        interests: Interests,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            key,
            edition: edition.into(),
            table: Mutex::default(),
            ended: Mutex::default(),
            numbers: AtomicU64::new(1),
            notes,
            router,
            interests,
            tasks,
        }
    }

    /// Reads what sessions of earlier lives want to hear of.
    pub fn recall(&self) {
        self.notes.recall();
    }

    /// Writes down what sessions want to hear of, as far as that was not possible.
    pub fn write_again(&self) {
        self.notes.write_again();
    }

    /// A number that no other session or request has.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// A new session and its id.
    pub fn create(&self, session: Session) -> (Arc<Live>, String) {
        let id = self.key.sign(&session);
        (self.put(session, false), id)
    }

    /// The session with this id, if it is one of ours and of this editor.
    pub fn find(&self, id: &str, editor: &str) -> Option<Arc<Live>> {
        let session = self.key.verify(id).filter(|session| session.editor == editor)?;
        if let Some(live) = self.table.lock().get(&session.nonce) {
            return Some(Arc::clone(live));
        }
        let ended = self.ended.lock().contains(&session.nonce);
        (!ended).then(|| self.put(session, true))
    }

    /// The session with this id, if it has spoken here.
    pub fn spoken(&self, id: &str) -> Option<Arc<Live>> {
        let session = self.key.verify(id)?;
        self.table.lock().get(&session.nonce).cloned()
    }

    /// The id of a session.
    pub fn id(&self, live: &Live) -> String {
        self.key.sign(&live.session())
    }

    /// The editor is done with it: what it asked for is not wanted any more.
    pub fn end(&self, live: &Live) {
        live.end();
        self.leave(live);
    }

    /// The editor is gone for good, and has cancelled nothing by that.
    pub fn leave(&self, live: &Live) {
        let nonce = live.session().nonce;
        live.leave();
        self.interests.forget(live.number);
        // What it had of upstreams to itself is not wanted any more.
        for upstream in self.router.lineup().iter() {
            upstream.release(&live.owner());
        }
        self.table.lock().remove(&nonce);
        let mut ended = self.ended.lock();
        ended.push_back(nonce);
        if ended.len() > MOST_ENDED {
            ended.pop_front();
        }
        drop(ended);
        self.notes.note(store::key(&nonce), Remembered::default());
    }

    /// Keeps what the session wants to hear of.
    pub fn keep(&self, live: &Live) {
        let wishes = Remembered::from(&*live.wishes.lock());
        self.notes.note(store::key(&live.session().nonce), wishes);
    }

    /// Keeps what another gateway says that a session wants to hear of.
    pub fn inherit(&self, session: String, wishes: Remembered) {
        let spoken = store::nonce(&session).and_then(|nonce| {
            let table = self.table.lock();
            table.get(&nonce).cloned()
        });
        if let Some(live) = spoken {
            let wishes = Wishes::from(wishes.clone());
            self.interests.forget(live.number);
            self.register(&live, &wishes);
            *live.wishes.lock() = wishes;
        }
        self.notes.note(session, wishes);
    }

    /// Bytes that nobody can guess, to tell sessions apart.
    pub fn nonce() -> Result<Nonce, KeyError> {
        keys::random()
    }

    /// Puts a session into the table; `old` if it is of an earlier life.
    fn put(&self, session: Session, old: bool) -> Arc<Live> {
        let nonce = session.nonce;
        let wishes = self.notes.of(&nonce);
        let edition = Arc::clone(&self.edition);
        let mut table = self.table.lock();
        // Two requests may both have found no session; the first one's counts.
        if let Some(live) = table.get(&nonce) {
            return Arc::clone(live);
        }
        if table.len() >= MOST_IDLE {
            table.retain(|_, live| {
                let wanted = Arc::strong_count(live) > 1 || !live.is_idle();
                wanted || !live.wishes.lock().is_empty()
            });
        }
        let live = Arc::new(Live::new(self.number(), session, wishes.clone(), edition));
        live.may_have_missed_something(old);
        table.insert(nonce, Arc::clone(&live));
        drop(table);
        self.register(&live, &wishes);
        live
    }

    /// Adds what a session wants to hear of to everybody's, and has upstreams asked for it.
    fn register(&self, live: &Arc<Live>, wishes: &Wishes) {
        if !wishes.is_empty() {
            let (router, interests) = (self.router.clone(), self.interests.clone());
            self.tasks.spawn(wishes.clone().register(Arc::clone(live), router, interests));
        }
    }
}
