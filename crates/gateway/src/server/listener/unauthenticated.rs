//! The state of a connection, and the limits on connections without a valid token.
//!
//! # Theory of operation
//! A connection is unauthenticated until it carries a request with a valid token. A healthy client
//! sends one as soon as its machine lets it, so a new connection has a few seconds, and there may
//! be many new ones. Only a few older ones may stay: when there is one too many, the one that has
//! been silent longest is closed. When there are too many new ones as well, the next is not
//! accepted yet.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::ConnectionLimits;

/// All unauthenticated connections.
pub(super) struct UnauthenticatedConnections {
    connections: Mutex<VecDeque<Arc<ConnectionState>>>,
    freed: Notify,
    limits: ConnectionLimits,
}

/// The state of one connection, which its parts share.
pub struct ConnectionState {
    unauthenticated: Arc<UnauthenticatedConnections>,
    opened: Instant,
    /// It has presented a valid token.
    authenticated: AtomicBool,
    /// It was read from, and has sent nothing more.
    silent: AtomicBool,
    /// How many requests have started, and how many have ended.
    started: AtomicU64,
    ended: AtomicU64,
    /// A request was answered before all of it had arrived.
    unread: AtomicBool,
    slow: AtomicBool,
    /// The last response, or its request, announced that the connection closes.
    last: AtomicBool,
    /// It is being handed to another gateway, so it must not be closed.
    handing_off: AtomicBool,
    became_idle: Notify,
    evicted: CancellationToken,
}

/// How often a full set is checked again.
const RECHECK_INTERVAL: Duration = Duration::from_millis(100);

impl UnauthenticatedConnections {
    pub(super) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { connections: Mutex::default(), freed: Notify::new(), limits })
    }

    /// Waits until another connection may be accepted.
    pub(super) async fn wait_for_capacity(&self) {
        while !self.has_capacity() {
            let recheck = Instant::now() + RECHECK_INTERVAL;
            tokio::select! {
                () = self.freed.notified() => {}
                () = sleep_until(recheck) => {}
            }
        }
    }

    /// Adds a connection.
    pub(super) fn add(self: &Arc<Self>) -> Arc<ConnectionState> {
        let state = Arc::new(ConnectionState::new(Arc::clone(self)));
        self.connections.lock().push_back(Arc::clone(&state));
        state
    }

    /// Closes an old connection that is silent, if there is one.
    pub(super) fn make_room(&self) {
        self.evict_silent(&mut self.connections.lock());
    }

    /// Closes one if there are too many old ones.
    fn enforce_limit(&self) {
        let mut connections = self.connections.lock();
        let now = Instant::now();
        let old = connections.iter().filter(|state| self.is_old(state, now)).count();
        if old > self.limits.max_unauthenticated {
            self.evict_silent(&mut connections);
        }
    }

    fn is_old(&self, state: &ConnectionState, now: Instant) -> bool {
        now - state.opened >= self.limits.grace
    }

    fn has_capacity(&self) -> bool {
        let mut connections = self.connections.lock();
        connections.len() < self.limits.max_new || self.evict_silent(&mut connections)
    }

    fn evict_silent(&self, connections: &mut VecDeque<Arc<ConnectionState>>) -> bool {
        let now = Instant::now();
        let silent = |state: &Arc<ConnectionState>| {
            state.silent.load(Ordering::Relaxed) && self.is_old(state, now)
        };
        let found = connections.iter().position(silent).and_then(|at| connections.remove(at));
        if let Some(state) = &found {
            state.evicted.cancel();
        }
        found.is_some()
    }

    fn remove(&self, state: &ConnectionState) {
        let mut connections = self.connections.lock();
        if let Some(at) =
            connections.iter().position(|other| std::ptr::eq(&raw const **other, state))
        {
            connections.remove(at);
            self.freed.notify_one();
        }
    }
}

impl ConnectionState {
    fn new(unauthenticated: Arc<UnauthenticatedConnections>) -> Self {
        Self {
            unauthenticated,
            opened: Instant::now(),
            authenticated: AtomicBool::new(false),
            silent: AtomicBool::new(false),
            started: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            unread: AtomicBool::new(false),
            slow: AtomicBool::new(false),
            last: AtomicBool::new(false),
            handing_off: AtomicBool::new(false),
            became_idle: Notify::new(),
            evicted: CancellationToken::new(),
        }
    }

    /// A valid token was presented: from now on the connection may stay open.
    pub fn set_authenticated(&self) {
        if !self.authenticated.swap(true, Ordering::Relaxed) {
            self.unauthenticated.remove(self);
        }
    }

    /// The connection has ended.
    pub(super) fn closed(&self) {
        self.unauthenticated.remove(self);
    }

    /// Waits until it is old and has to be closed in favour of another.
    pub(super) async fn evicted(&self) {
        let old = sleep_until(self.opened + self.unauthenticated.limits.grace);
        if self.evicted.run_until_cancelled(old).await.is_some() && !self.is_authenticated() {
            self.unauthenticated.enforce_limit();
        }
        self.evicted.cancelled().await;
    }

    pub(super) fn is_authenticated(&self) -> bool {
        self.authenticated.load(Ordering::Relaxed)
    }

    pub(super) fn set_silent(&self, silent: bool) {
        self.silent.store(silent, Ordering::Relaxed);
    }

    pub(super) fn begin_request(&self) {
        self.started.fetch_add(1, Ordering::Relaxed);
        self.unread.store(false, Ordering::Relaxed);
    }

    pub(super) fn end_request(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        self.became_idle.notify_one();
    }

    /// Waits until no request is in progress.
    pub(super) async fn idle(&self) {
        while self.is_busy() {
            self.became_idle.notified().await;
        }
    }

    pub(super) fn begin_handoff(&self) {
        self.handing_off.store(true, Ordering::Relaxed);
    }

    /// The handoff does not happen after all.
    pub(super) fn cancel_handoff(&self) {
        self.handing_off.store(false, Ordering::Relaxed);
    }

    pub(super) fn is_handing_off(&self) -> bool {
        self.handing_off.load(Ordering::Relaxed)
    }

    pub(super) fn set_last(&self, last: bool) {
        self.last.store(last, Ordering::Relaxed);
    }

    /// Whether another request may follow on this connection.
    pub(super) fn is_reusable(&self) -> bool {
        !self.last.load(Ordering::Relaxed) && !self.has_unread()
    }

    /// Whether a request is in progress, so that arriving bytes are its body.
    pub(super) fn is_busy(&self) -> bool {
        self.requests_started() != self.ended.load(Ordering::Relaxed)
    }

    /// How many requests have started.
    pub(super) fn requests_started(&self) -> u64 {
        self.started.load(Ordering::Relaxed)
    }

    pub(super) fn set_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    pub(super) fn set_too_slow(&self) {
        self.slow.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_too_slow(&self) -> bool {
        self.slow.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;

    fn unauthenticated() -> Arc<UnauthenticatedConnections> {
        UnauthenticatedConnections::new(ConnectionLimits {
            max_unauthenticated: 2,
            max_new: 4,
            ..ConnectionLimits::default()
        })
    }

    impl UnauthenticatedConnections {
        async fn enter(self: &Arc<Self>) -> Arc<ConnectionState> {
            self.wait_for_capacity().await;
            self.add()
        }
    }

    async fn silent(
        unauthenticated: &Arc<UnauthenticatedConnections>,
        count: usize,
    ) -> Vec<Arc<ConnectionState>> {
        let mut connections = Vec::new();
        for _ in 0..count {
            let state = unauthenticated.enter().await;
            state.set_silent(true);
            connections.push(state);
        }
        connections
    }

    fn evicted(connections: &[Arc<ConnectionState>]) -> Vec<bool> {
        connections.iter().map(|state| state.evicted.is_cancelled()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn new_connections_have_time_and_only_a_few_old_ones_may_stay() {
        let unauthenticated = unauthenticated();
        let connections = silent(&unauthenticated, 4).await;
        assert_eq!(evicted(&connections), [false; 4]);
        tokio::time::advance(unauthenticated.limits.grace).await;
        for state in &connections {
            let _ = state.evicted().now_or_never();
        }
        assert_eq!(evicted(&connections), [true, true, false, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn when_the_set_is_full_the_next_connection_waits_until_a_silent_one_is_closed() {
        let unauthenticated = unauthenticated();
        let connections = silent(&unauthenticated, 4).await;
        assert!(unauthenticated.enter().now_or_never().is_none(), "they have only just come");
        let began = Instant::now();
        let _next = unauthenticated.enter().await;
        assert!(began.elapsed() >= unauthenticated.limits.grace);
        assert_eq!(evicted(&connections), [true, false, false, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn no_connection_is_closed_before_it_was_read_from() {
        let unauthenticated = unauthenticated();
        let connections = silent(&unauthenticated, 4).await;
        connections.iter().for_each(|state| state.set_silent(false));
        tokio::time::advance(10 * unauthenticated.limits.grace).await;
        assert!(unauthenticated.enter().now_or_never().is_none());
        connections[1].set_authenticated();
        let _next = unauthenticated.enter().await;
        assert_eq!(evicted(&connections), [false; 4]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_authenticated_connection_takes_no_slot_and_is_never_closed() {
        let unauthenticated = unauthenticated();
        let mut authenticated = Vec::new();
        for _ in 0..10 {
            let mut state = silent(&unauthenticated, 1).await;
            state[0].set_authenticated();
            authenticated.append(&mut state);
        }
        tokio::time::advance(10 * unauthenticated.limits.grace).await;
        for state in &authenticated {
            let _ = state.evicted().now_or_never();
        }
        unauthenticated.make_room();
        assert_eq!(evicted(&authenticated), [false; 10]);
    }
}
