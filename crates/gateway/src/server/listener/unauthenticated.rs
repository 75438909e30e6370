//! Connections that have not shown a token yet, and how many of them there may be.
//!
//! # Theory of operation
//! Whoever connects is a guest in the lobby until a request with a good token comes over the
//! connection. A healthy client speaks as soon as its machine lets it, so a newcomer has a few
//! seconds, and there may be many newcomers. Of those who have been there longer only a few may
//! stay: when there is one too many, the one that was silent longest is sent away. When even the
//! newcomers are too many, the next one waits at the door.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

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
    /// The last answer, or its request, said that the connection ends with it.
    last: AtomicBool,
    /// It is to go on elsewhere, so it must not be closed.
    parting: AtomicBool,
    rests: Notify,
    out: CancellationToken,
}

/// How soon a full lobby is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

impl Lobby {
    pub(super) fn new(limits: Limits) -> Arc<Self> {
        Arc::new(Self { guests: Mutex::default(), freed: Notify::new(), limits })
    }

    /// Waits until there is a place for a new connection.
    pub(super) async fn room(&self) {
        while !self.has_room() {
            let look_again = Instant::now() + LOOK_AGAIN;
            tokio::select! {
                () = self.freed.notified() => {}
                () = sleep_until(look_again) => {}
            }
        }
    }

    /// Takes a connection in.
    pub(super) fn admit(self: &Arc<Self>) -> Arc<Guest> {
        let guest = Arc::new(Guest::new(Arc::clone(self)));
        self.guests.lock().push_back(Arc::clone(&guest));
        guest
    }

    /// Sends away a guest that was silent for long, if there is one.
    pub(super) fn make_room(&self) {
        self.send_one_away(&mut self.guests.lock());
    }

    /// Sends one away if too many have been here for long.
    fn thin_out(&self) {
        let mut guests = self.guests.lock();
        let now = Instant::now();
        let old = guests.iter().filter(|guest| self.is_old(guest, now)).count();
        if old > self.limits.guests {
            self.send_one_away(&mut guests);
        }
    }

    fn is_old(&self, guest: &Guest, now: Instant) -> bool {
        now - guest.came >= self.limits.grace
    }

    fn has_room(&self) -> bool {
        let mut guests = self.guests.lock();
        guests.len() < self.limits.newcomers || self.send_one_away(&mut guests)
    }

    fn send_one_away(&self, guests: &mut VecDeque<Arc<Guest>>) -> bool {
        let now = Instant::now();
        let silent =
            |guest: &Arc<Guest>| guest.silent.load(Ordering::Relaxed) && self.is_old(guest, now);
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
            last: AtomicBool::new(false),
            parting: AtomicBool::new(false),
            rests: Notify::new(),
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

    /// Waits until it has been here for long and its place is needed for somebody else.
    pub(super) async fn sent_away(&self) {
        let old = sleep_until(self.came + self.lobby.limits.grace);
        if self.out.run_until_cancelled(old).await.is_some() && !self.is_known() {
            self.lobby.thin_out();
        }
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
        self.rests.notify_one();
    }

    /// Waits until no request is under way.
    pub(super) async fn at_rest(&self) {
        while self.is_busy() {
            self.rests.notified().await;
        }
    }

    pub(super) fn part(&self) {
        self.parting.store(true, Ordering::Relaxed);
    }

    /// It does not go on elsewhere after all.
    pub(super) fn stay(&self) {
        self.parting.store(false, Ordering::Relaxed);
    }

    pub(super) fn is_parting(&self) -> bool {
        self.parting.load(Ordering::Relaxed)
    }

    pub(super) fn said_to_be_last(&self, last: bool) {
        self.last.store(last, Ordering::Relaxed);
    }

    /// Whether a next request may come, and be understood.
    pub(super) fn may_go_on(&self) -> bool {
        !self.last.load(Ordering::Relaxed) && !self.has_unread()
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
        Lobby::new(Limits { guests: 2, newcomers: 4, ..Limits::default() })
    }

    impl Lobby {
        async fn enter(self: &Arc<Self>) -> Arc<Guest> {
            self.room().await;
            self.admit()
        }
    }

    async fn silent(lobby: &Arc<Lobby>, count: usize) -> Vec<Arc<Guest>> {
        let mut guests = Vec::new();
        for _ in 0..count {
            let guest = lobby.enter().await;
            guest.heard(true);
            guests.push(guest);
        }
        guests
    }

    fn out(guests: &[Arc<Guest>]) -> Vec<bool> {
        guests.iter().map(|guest| guest.out.is_cancelled()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn newcomers_have_time_to_speak_and_of_the_old_only_a_few_may_stay() {
        let lobby = lobby();
        let guests = silent(&lobby, 4).await;
        assert_eq!(out(&guests), [false; 4]);
        tokio::time::advance(lobby.limits.grace).await;
        for guest in &guests {
            let _ = guest.sent_away().now_or_never();
        }
        assert_eq!(out(&guests), [true, true, false, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn when_the_lobby_is_full_the_next_one_waits_for_the_place_of_a_silent_one() {
        let lobby = lobby();
        let guests = silent(&lobby, 4).await;
        assert!(lobby.enter().now_or_never().is_none(), "they have only just come");
        let began = Instant::now();
        let _next = lobby.enter().await;
        assert!(began.elapsed() >= lobby.limits.grace);
        assert_eq!(out(&guests), [true, false, false, false]);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_sent_away_before_it_was_listened_to() {
        let lobby = lobby();
        let guests = silent(&lobby, 4).await;
        guests.iter().for_each(|guest| guest.heard(false));
        tokio::time::advance(10 * lobby.limits.grace).await;
        assert!(lobby.enter().now_or_never().is_none());
        guests[1].welcome();
        let _next = lobby.enter().await;
        assert_eq!(out(&guests), [false; 4]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_known_guest_keeps_no_place_and_is_never_sent_away() {
        let lobby = lobby();
        let mut known = Vec::new();
        for _ in 0..10 {
            let mut guest = silent(&lobby, 1).await;
            guest[0].welcome();
            known.append(&mut guest);
        }
        tokio::time::advance(10 * lobby.limits.grace).await;
        for guest in &known {
            let _ = guest.sent_away().now_or_never();
        }
        lobby.make_room();
        assert_eq!(out(&known), [false; 10]);
    }
}
