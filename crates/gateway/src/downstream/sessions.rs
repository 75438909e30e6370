//! The table of sessions that have spoken.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

use evermoor_core::session::{Session, SessionKey};

use super::kept::Kept;
use super::session::Live;
use super::wishes::Wishes;
use crate::interests::Interests;
use crate::keys::{self, KeyError};
use crate::router::Router;

type Nonce = [u8; 16];

pub struct Sessions {
    key: SessionKey,
    table: Mutex<HashMap<Nonce, Arc<Live>>>,
    /// Sessions that their editors ended.
    ended: Mutex<VecDeque<Nonce>>,
    numbers: AtomicU64,
    kept: Kept,
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
        kept: Kept,
        router: Router,
        interests: Interests,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            key,
            table: Mutex::default(),
            ended: Mutex::default(),
            numbers: AtomicU64::new(1),
            kept,
            router,
            interests,
            tasks,
        }
    }

    /// A number that no other session or request has.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// A new session and its id.
    pub fn create(&self, session: Session) -> (Arc<Live>, String) {
        let id = self.key.sign(&session);
        (self.put(session), id)
    }

    /// The session with this id, if it is one of ours and of this editor.
    pub fn find(&self, id: &str, editor: &str) -> Option<Arc<Live>> {
        let session = self.key.verify(id).filter(|session| session.editor == editor)?;
        if let Some(live) = self.table.lock().get(&session.nonce) {
            return Some(Arc::clone(live));
        }
        let ended = self.ended.lock().contains(&session.nonce);
        (!ended).then(|| self.put(session))
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
        self.router.release(&live.owner());
        self.table.lock().remove(&nonce);
        let mut ended = self.ended.lock();
        ended.push_back(nonce);
        if ended.len() > MOST_ENDED {
            ended.pop_front();
        }
        drop(ended);
        self.kept.keep(&nonce, &Wishes::default());
    }

    /// Keeps what the session wants to hear of.
    pub fn keep(&self, live: &Live) {
        let wishes = live.wishes.lock().clone();
        self.kept.keep(&live.session().nonce, &wishes);
    }

    /// Bytes that nobody can guess, to tell sessions apart.
    pub fn nonce() -> Result<Nonce, KeyError> {
        keys::random()
    }

    fn put(&self, session: Session) -> Arc<Live> {
        let nonce = session.nonce;
        let wishes = self.kept.of(&nonce);
        let live = Arc::new(Live::new(self.number(), session, wishes.clone()));
        let mut table = self.table.lock();
        if table.len() >= MOST_IDLE {
            table.retain(|_, live| {
                let wanted = Arc::strong_count(live) > 1 || !live.is_idle();
                wanted || !live.wishes.lock().is_empty()
            });
        }
        // Two requests may both have found no session; the first one's counts.
        let mut is_first = false;
        let live = table.entry(nonce).or_insert_with(|| {
            is_first = true;
            live
        });
        if is_first && !wishes.is_empty() {
            let (router, interests) = (self.router.clone(), self.interests.clone());
            self.tasks.spawn(wishes.register(Arc::clone(live), router, interests));
        }
        Arc::clone(live)
    }
}
