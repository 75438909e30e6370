//! The table of active sessions.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

use evermoor_core::security::session_id::{SessionClaims, SessionKey};

use super::ActiveSession;
use super::store;
use super::store::{Nonce, StoredSubscriptions, SubscriptionStore};
use super::subscriptions::SessionSubscriptions;
use crate::routing::router::Router;
use crate::system::keys;
use crate::system::keys::KeyError;
use crate::upstream::subscriptions::Subscriptions;

pub struct Sessions {
    key: SessionKey,
    /// Identifies this run of the gateway.
    instance_id: Arc<str>,
    table: Mutex<HashMap<Nonce, Arc<ActiveSession>>>,
    /// Ids whose signature was verified, so that it is not computed for every request.
    verified: Mutex<HashMap<Box<str>, Nonce>>,
    /// Sessions that ended, so that their ids are not accepted again.
    ended: Mutex<VecDeque<Nonce>>,
    numbers: AtomicU64,
    notes: SubscriptionStore,
    router: Router,
    upstream_subscriptions: Subscriptions,
    tasks: TaskTracker,
}

/// How many sessions are kept before idle ones are dropped. Their ids stay valid.
const MAX_IDLE: usize = 4096;
const MAX_ENDED: usize = 4096;
const MAX_VERIFIED: usize = 4096;

impl Sessions {
    pub fn new(
        key: SessionKey,
        instance_id: &str,
        notes: SubscriptionStore,
        router: Router,
        upstream_subscriptions: Subscriptions,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            key,
            instance_id: instance_id.into(),
            table: Mutex::default(),
            verified: Mutex::default(),
            ended: Mutex::default(),
            numbers: AtomicU64::new(1),
            notes,
            router,
            upstream_subscriptions,
            tasks,
        }
    }

    /// Reads the stored subscriptions.
    pub fn load(&self) {
        self.notes.load();
    }

    /// Stores the subscriptions that could not be written before.
    pub fn rewrite(&self) {
        self.notes.rewrite();
    }

    /// A number that no other session or request has.
    pub fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Starts a session and returns it with its id.
    pub fn create(&self, claims: SessionClaims) -> (Arc<ActiveSession>, String) {
        let id = self.key.sign(&claims);
        (self.put(claims, false), id)
    }

    /// The session with this id, if Evermoor issued it to this editor and it has not ended.
    pub fn find(&self, id: &str, editor: &str) -> Option<Arc<ActiveSession>> {
        if let Some(session) = self.find_verified(id) {
            return session.is_of(editor).then_some(session);
        }
        let claims = self.key.verify(id).filter(|claims| claims.editor == editor)?;
        self.remember_verified(id, claims.nonce);
        if let Some(session) = self.table.lock().get(&claims.nonce) {
            return Some(Arc::clone(session));
        }
        let ended = self.ended.lock().contains(&claims.nonce);
        (!ended).then(|| self.put(claims, true))
    }

    /// The active session with an id that was verified before.
    fn find_verified(&self, id: &str) -> Option<Arc<ActiveSession>> {
        let nonce = *self.verified.lock().get(id)?;
        self.table.lock().get(&nonce).cloned()
    }

    fn remember_verified(&self, id: &str, nonce: Nonce) {
        let mut verified = self.verified.lock();
        if verified.len() >= MAX_VERIFIED {
            verified.clear();
        }
        verified.insert(id.into(), nonce);
    }

    /// The session with this id, if it is active.
    pub fn active(&self, id: &str) -> Option<Arc<ActiveSession>> {
        let claims = self.key.verify(id)?;
        self.table.lock().get(&claims.nonce).cloned()
    }

    /// The id of a session.
    pub fn id(&self, session: &ActiveSession) -> String {
        self.key.sign(&session.claims())
    }

    /// Ends a session at its editor's request and cancels its calls.
    pub fn end(&self, session: &ActiveSession) {
        session.end();
        self.leave(session);
    }

    /// Ends a session whose editor is gone. Its calls continue.
    pub fn leave(&self, session: &ActiveSession) {
        let nonce = session.claims().nonce;
        session.leave();
        self.upstream_subscriptions.forget(session.number);
        // Closes the upstream connections that belong to this session alone.
        for upstream in self.router.all_upstreams().iter() {
            upstream.release(&session.owner());
        }
        self.table.lock().remove(&nonce);
        let mut ended = self.ended.lock();
        ended.push_back(nonce);
        if ended.len() > MAX_ENDED {
            ended.pop_front();
        }
        drop(ended);
        self.notes.set(store::key(&nonce), StoredSubscriptions::default());
    }

    /// Stores the session's subscriptions.
    pub fn keep(&self, session: &ActiveSession) {
        let subscriptions = StoredSubscriptions::from(&*session.subscriptions.lock());
        self.notes.set(store::key(&session.claims().nonce), subscriptions);
    }

    /// Stores the subscriptions of a session as another gateway reports them.
    pub fn inherit(&self, session: String, subscriptions: StoredSubscriptions) {
        let active = store::nonce(&session).and_then(|nonce| {
            let table = self.table.lock();
            table.get(&nonce).cloned()
        });
        if let Some(session) = active {
            let subscriptions = SessionSubscriptions::from(subscriptions.clone());
            self.upstream_subscriptions.forget(session.number);
            self.register(&session, &subscriptions);
            *session.subscriptions.lock() = subscriptions;
        }
        self.notes.set(session, subscriptions);
    }

    /// Ends the subscriptions to resources that a list hides, and restores them when it shows them
    /// again, as long as the gateway serves.
    pub async fn follow_visibility(&self) {
        let mut overview = self.router.overview();
        let mut before = Arc::clone(&overview.borrow_and_update().editor_catalogs);
        while overview.changed().await.is_ok() {
            let now = Arc::clone(&overview.borrow_and_update().editor_catalogs);
            if Arc::ptr_eq(&before, &now) {
                continue;
            }
            before = now;
            let sessions: Vec<Arc<ActiveSession>> = self.table.lock().values().cloned().collect();
            for session in sessions {
                let subscriptions = session.subscriptions.lock().clone();
                self.register(&session, &subscriptions);
            }
        }
    }

    /// Random bytes that identify a session.
    pub fn nonce() -> Result<Nonce, KeyError> {
        keys::random()
    }

    /// Adds a session to the table; `old` if it is older than this gateway.
    fn put(&self, claims: SessionClaims, old: bool) -> Arc<ActiveSession> {
        let nonce = claims.nonce;
        let subscriptions = self.notes.get(&nonce);
        let instance_id = Arc::clone(&self.instance_id);
        let mut table = self.table.lock();
        // Two requests may have missed the same session; the first one added it.
        if let Some(session) = table.get(&nonce) {
            return Arc::clone(session);
        }
        if table.len() >= MAX_IDLE {
            table.retain(|_, session| is_used(session) || !session.subscriptions.lock().is_empty());
        }
        // Then those with subscriptions, which are stored, and subscribed again when the editor returns.
        if table.len() >= MAX_IDLE {
            let idle = table.extract_if(|_, session| !is_used(session));
            let numbers = idle.map(|(_, session)| session.number).collect();
            self.upstream_subscriptions.forget_all(&numbers);
        }
        let session =
            Arc::new(ActiveSession::new(self.number(), claims, subscriptions.clone(), instance_id));
        session.set_missed_notifications(old);
        table.insert(nonce, Arc::clone(&session));
        drop(table);
        self.register(&session, &subscriptions);
        session
    }

    /// Subscribes at the upstreams for a session.
    fn register(&self, session: &Arc<ActiveSession>, subscriptions: &SessionSubscriptions) {
        if !subscriptions.is_empty() {
            let (router, upstream_subscriptions) =
                (self.router.clone(), self.upstream_subscriptions.clone());
            self.tasks.spawn(subscriptions.clone().register(
                Arc::clone(session),
                router,
                upstream_subscriptions,
            ));
        }
    }
}

/// Whether a session must stay in the table.
fn is_used(session: &Arc<ActiveSession>) -> bool {
    Arc::strong_count(session) > 1 || !session.is_idle()
}
