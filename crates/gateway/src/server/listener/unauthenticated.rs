//! Connections that have not shown a token yet, and how many of them there may be.
//!
//! # Theory of operation
//! Whoever connects is a state in the unauthenticated until a request with a good token comes over the
//! connection. A healthy client speaks as soon as its machine lets it, so a newcomer has a few
//! seconds, and there may be many max_new. Of those who have been there longer only a few may
//! stay: when there is one too many, the one that was silent longest is sent away. When even the
//! max_new are too many, the next one waits at the door.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Limits;

/// The connections.
pub(super) struct UnauthenticatedConnections {
    connections: Mutex<VecDeque<Arc<ConnectionState>>>,
    freed: Notify,
    limits: Limits,
}

/// One connection, as its parts share it.
pub struct ConnectionState {
    unauthenticated: Arc<UnauthenticatedConnections>,
    opened: Instant,
    /// A good token was shown.
    known: AtomicBool,
    /// It was listened to, and said nothing more.
    silent: AtomicBool,
    /// How many requests have started, and how many of them are over.
    started: AtomicU64,
    ended: AtomicU64,
    /// A request was answered before all of it had come.
    unread: AtomicBool,
    slow: AtomicBool,
    /// The last answer, or its request, said that the connection ends with it.
    last: AtomicBool,
    /// It is to go on elsewhere, so it must not be closed.
    handing_off: AtomicBool,
    became_idle: Notify,
    evicted: CancellationToken,
}

/// How soon a full unauthenticated is looked at again.
const RECHECK_INTERVAL: Duration = Duration::from_millis(100);

impl UnauthenticatedConnections {
    pub(super) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { connections: Mutex::default(), freed: Notify::new(), limits })
    }

    /// Waits until there is a place for a new connection.
    pub(super) async fn wait_for_capacity(&self) {
        while !self.has_capacity() {
            let recheck = Instant::now() + RECHECK_INTERVAL;
            tokio::select! {
                () = self.freed.notified() => {}
                () = sleep_until(recheck) => {}
            }
        }
    }

    /// Takes a connection in.
    pub(super) fn admit(self: &Arc<Self>) -> Arc<ConnectionState> {
        let state = Arc::new(ConnectionState::new(Arc::clone(self)));
        self.connections.lock().push_back(Arc::clone(&state));
        state
    }

    /// Sends away a state that was silent for long, if there is one.
    pub(super) fn make_room(&self) {
        self.evict_silent(&mut self.connections.lock());
    }

    /// Sends one away if too many have been here for long.
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

    fn leave(&self, state: &ConnectionState) {
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
            known: AtomicBool::new(false),
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

    /// A good token was shown: from now on the connection may stay.
    pub fn set_authenticated(&self) {
        if !self.known.swap(true, Ordering::Relaxed) {
            self.unauthenticated.leave(self);
        }
    }

    /// The connection is over.
    pub(super) fn leave(&self) {
        self.unauthenticated.leave(self);
    }

    /// Waits until it has been here for long and its place is needed for somebody else.
    pub(super) async fn evicted(&self) {
        let old = sleep_until(self.opened + self.unauthenticated.limits.grace);
        if self.evicted.run_until_cancelled(old).await.is_some() && !self.is_authenticated() {
            self.unauthenticated.enforce_limit();
        }
        self.evicted.cancelled().await;
    }

    pub(super) fn is_authenticated(&self) -> bool {
        self.known.load(Ordering::Relaxed)
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

    /// Waits until no request is under way.
    pub(super) async fn idle(&self) {
        while self.is_busy() {
            self.became_idle.notified().await;
        }
    }

    pub(super) fn begin_handoff(&self) {
        self.handing_off.store(true, Ordering::Relaxed);
    }

    /// It does not go on elsewhere after all.
    pub(super) fn cancel_handoff(&self) {
        self.handing_off.store(false, Ordering::Relaxed);
    }

    pub(super) fn is_handing_off(&self) -> bool {
        self.handing_off.load(Ordering::Relaxed)
    }

    pub(super) fn set_last(&self, last: bool) {
        self.last.store(last, Ordering::Relaxed);
    }

    /// Whether a next request may come, and be understood.
    pub(super) fn is_reusable(&self) -> bool {
        !self.last.load(Ordering::Relaxed) && !self.has_unread()
    }

    /// Whether a request is being handled, so that what comes is its body.
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
        UnauthenticatedConnections::new(Limits {
            max_unauthenticated: 2,
            max_new: 4,
            ..Limits::default()
        })
    }

    impl UnauthenticatedConnections {
        async fn enter(self: &Arc<Self>) -> Arc<ConnectionState> {
            self.wait_for_capacity().await;
            self.admit()
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
    async fn newcomers_have_time_to_speak_and_of_the_old_only_a_few_may_stay() {
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
    async fn when_the_lobby_is_full_the_next_one_waits_for_the_place_of_a_silent_one() {
        let unauthenticated = unauthenticated();
        let connections = silent(&unauthenticated, 4).await;
        assert!(unauthenticated.enter().now_or_never().is_none(), "they have only just come");
        let began = Instant::now();
        let _next = unauthenticated.enter().await;
        assert!(began.elapsed() >= unauthenticated.limits.grace);
        assert_eq!(evicted(&connections), [true, false, false, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_sent_away_before_it_was_listened_to() {
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
    async fn a_known_guest_keeps_no_place_and_is_never_sent_away() {
        let unauthenticated = unauthenticated();
        let mut known = Vec::new();
        for _ in 0..10 {
            let mut state = silent(&unauthenticated, 1).await;
            state[0].set_authenticated();
            known.append(&mut state);
        }
        tokio::time::advance(10 * unauthenticated.limits.grace).await;
        for state in &known {
            let _ = state.evicted().now_or_never();
        }
        unauthenticated.make_room();
        assert_eq!(evicted(&known), [false; 10]);
    }
}
