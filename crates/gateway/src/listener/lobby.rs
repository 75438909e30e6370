//! Connections that have not shown a token yet, and how many of them there may be.
//!
//! # Theory of operation
//! Whoever connects is a guest in the lobby until a request with a good token comes over the
//! connection. The lobby has few places. When it is full, a newcomer takes the place of the guest
//! that was silent longest, because a healthy client speaks at once. A guest that has just come, or
//! whose words have not been looked at yet, is never sent away, so a crowd of healthy clients
//! merely waits at the door.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Limits;

/// The guests.
pub(super) struct Lobby {
    guests: Mutex<VecDeque<Arc<Guest>>>,
    freed: Notify,
    limits: Limits,
}

/// One connection, as its parts share it.
pub struct Guest {
    lobby: Arc<Lobby>,
    came: Instant,
    /// A good token was shown.
    known: AtomicBool,
    /// It was listened to, and said nothing more.
    silent: AtomicBool,
    /// How many requests have begun, and how many of them are over.
    begun: AtomicU64,
    ended: AtomicU64,
    /// A request was answered before all of it had come.
    unread: AtomicBool,
    slow: AtomicBool,
    out: CancellationToken,
}

impl Lobby {
    pub(super) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { guests: Mutex::default(), freed: Notify::new(), limits })
    }

    /// A place for a new connection, as soon as there is one.
    pub(super) async fn enter(self: &Arc<Self>) -> Arc<Guest> {
        loop {
            let look_again = match self.try_enter() {
                Ok(guest) => return guest,
                Err(look_again) => look_again,
            };
            tokio::select! {
                () = self.freed.notified() => {}
                () = sleep_until(look_again) => {}
            }
        }
    }

    /// Sends a silent guest away, if there is one.
    pub(super) fn make_room(&self) {
        self.send_one_away(&mut self.guests.lock());
    }

    fn try_enter(self: &Arc<Self>) -> Result<Arc<Guest>, Instant> {
        let mut guests = self.guests.lock();
        if guests.len() >= self.limits.guests && !self.send_one_away(&mut guests) {
            return Err(Instant::now() + self.limits.grace);
        }
        let guest = Arc::new(Guest::new(Arc::clone(self)));
        guests.push_back(Arc::clone(&guest));
        Ok(guest)
    }

    fn send_one_away(&self, guests: &mut VecDeque<Arc<Guest>>) -> bool {
        let now = Instant::now();
        let silent = |guest: &Arc<Guest>| {
            guest.silent.load(Ordering::Relaxed) && now - guest.came >= self.limits.grace
        };
        let found = guests.iter().position(silent).and_then(|at| guests.remove(at));
        if let Some(guest) = &found {
            guest.out.cancel();
        }
        found.is_some()
    }

    fn leave(&self, guest: &Guest) {
        let mut guests = self.guests.lock();
        if let Some(at) = guests.iter().position(|other| std::ptr::eq(&raw const **other, guest)) {
            guests.remove(at);
            self.freed.notify_one();
        }
    }
}

impl Guest {
    fn new(lobby: Arc<Lobby>) -> Self {
        Self {
            lobby,
            came: Instant::now(),
            known: AtomicBool::new(false),
            silent: AtomicBool::new(false),
            begun: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            unread: AtomicBool::new(false),
            slow: AtomicBool::new(false),
            out: CancellationToken::new(),
        }
    }

    /// A good token was shown: from now on the connection may stay.
    pub fn welcome(&self) {
        if !self.known.swap(true, Ordering::Relaxed) {
            self.lobby.leave(self);
        }
    }

    /// The connection is over.
    pub(super) fn leave(&self) {
        self.lobby.leave(self);
    }

    /// Waits until the place is needed for somebody else.
    pub(super) async fn sent_away(&self) {
        self.out.cancelled().await;
    }

    pub(super) fn is_known(&self) -> bool {
        self.known.load(Ordering::Relaxed)
    }

    pub(super) fn heard(&self, silent: bool) {
        self.silent.store(silent, Ordering::Relaxed);
    }

    pub(super) fn begin_request(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.unread.store(false, Ordering::Relaxed);
    }

    pub(super) fn end_request(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a request is being handled, so that what comes is its body.
    pub(super) fn is_busy(&self) -> bool {
        self.requests() != self.ended.load(Ordering::Relaxed)
    }

    /// How many requests have begun.
    pub(super) fn requests(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    pub(super) fn left_unread(&self) {
        self.unread.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    pub(super) fn was_too_slow(&self) {
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

    fn lobby() -> Arc<Lobby> {
        Lobby::new(Limits { guests: 2, ..Limits::default() })
    }

    fn is_out(guest: &Guest) -> bool {
        guest.out.is_cancelled()
    }

    #[tokio::test(start_paused = true)]
    async fn a_newcomer_takes_the_place_of_the_one_that_was_silent_longest() {
        let lobby = lobby();
        let (first, second) = (lobby.enter().await, lobby.enter().await);
        first.heard(true);
        second.heard(true);
        let third = lobby.enter();
        let mut third = Box::pin(third);
        assert!(third.as_mut().now_or_never().is_none(), "the first has only just come");
        let _third = third.await;
        assert!(is_out(&first) && !is_out(&second));
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_sent_away_before_it_was_listened_to() {
        let lobby = lobby();
        let (first, second) = (lobby.enter().await, lobby.enter().await);
        tokio::time::advance(10 * lobby.limits.grace).await;
        assert!(lobby.enter().now_or_never().is_none());
        second.welcome();
        let _third = lobby.enter().await;
        assert!(!is_out(&first) && !is_out(&second));
    }

    #[tokio::test(start_paused = true)]
    async fn a_known_guest_keeps_no_place_and_is_never_sent_away() {
        let lobby = lobby();
        let mut known = Vec::new();
        for _ in 0..10 {
            let guest = lobby.enter().await;
            guest.heard(true);
            guest.welcome();
            known.push(guest);
        }
        tokio::time::advance(10 * lobby.limits.grace).await;
        lobby.make_room();
        assert!(!known.iter().any(|guest| is_out(guest)));
    }
}
