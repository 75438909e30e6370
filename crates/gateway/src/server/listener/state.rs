//! The state of one connection, which its parts share.
//!
//! # Theory of operation
//! A connection takes a slot among the unauthenticated connections until it has presented a valid token.
//! There is a fixed number of slots, and nobody keeps one for long: without a token, a connection is
//! closed when the time for its first head is over.
//!
//! Requests on a connection come one after the other, so it is always in one [`Phase`].

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::time::Instant;

use crate::system::budget::ConnectionCharge;

/// The state of one connection.
pub struct ConnectionState {
    pub(super) opened: Instant,
    /// Its slot among the unauthenticated connections; `None` once it has presented a valid token.
    slot: Mutex<Option<OwnedSemaphorePermit>>,
    /// The charge to its editor's budget, once the editor is known.
    editor: Mutex<Option<ConnectionCharge>>,
    phase: Mutex<Phase>,
    /// How many requests have started.
    requests: AtomicU64,
    became_idle: Notify,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No request is in progress.
    Idle,
    Answering {
        body: RequestProgress,
        /// The request or its response announced that the connection closes.
        closes: bool,
    },
    /// The last request is answered.
    Closing(RequestProgress),
    /// It is being handed to another gateway, so it must not be closed.
    HandingOff,
}

/// How the body of a request arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestProgress {
    Whole,
    TooSlow,
    /// The request was answered before all of it had arrived.
    Unread,
}

impl ConnectionState {
    /// A new connection. Without a slot, it counts as authenticated.
    pub(super) fn new(slot: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            opened: Instant::now(),
            slot: Mutex::new(slot),
            editor: Mutex::default(),
            phase: Mutex::new(Phase::Idle),
            requests: AtomicU64::new(0),
            became_idle: Notify::new(),
        }
    }

    /// A valid token was presented: from now on the connection may stay open.
    pub fn set_authenticated(&self) {
        drop(self.slot.lock().take());
    }

    /// The same, for an editor that has room for the connection. Returns whether it has.
    pub(crate) fn set_editor(&self, charge: impl FnOnce() -> Option<ConnectionCharge>) -> bool {
        let mut editor = self.editor.lock();
        if editor.is_none() {
            *editor = charge();
        }
        let admitted = editor.is_some();
        drop(editor);
        if admitted {
            self.set_authenticated();
        }
        admitted
    }

    pub(super) fn is_authenticated(&self) -> bool {
        self.slot.lock().is_none()
    }

    /// How many requests have started.
    pub(super) fn requests_started(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    pub(super) fn begin_request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        *self.phase.lock() = Phase::Answering { body: RequestProgress::Whole, closes: false };
    }

    pub(super) fn end_request(&self) {
        let mut phase = self.phase.lock();
        if let Phase::Answering { body, closes } = *phase {
            let reusable = !closes && body == RequestProgress::Whole;
            *phase = if reusable { Phase::Idle } else { Phase::Closing(body) };
        }
        self.became_idle.notify_one();
    }

    /// Notes how the body of the current request arrived.
    pub(super) fn set_progress(&self, progress: RequestProgress) {
        match &mut *self.phase.lock() {
            Phase::Answering { body, .. } => *body = progress,
            // The response was complete first.
            phase @ Phase::Idle => *phase = Phase::Closing(progress),
            Phase::Closing(body) => *body = progress,
            Phase::HandingOff => {}
        }
    }

    /// Notes that the connection closes after the current request.
    pub(super) fn set_last(&self) {
        if let Phase::Answering { closes, .. } = &mut *self.phase.lock() {
            *closes = true;
        }
    }

    /// Whether the body of the current request arrives too slowly.
    pub(super) fn is_too_slow(&self) -> bool {
        matches!(*self.phase.lock(), Phase::Answering { body: RequestProgress::TooSlow, .. })
    }

    /// Whether a request is in progress, so that arriving bytes are its body.
    pub(super) fn is_busy(&self) -> bool {
        matches!(*self.phase.lock(), Phase::Answering { .. })
    }

    /// Whether the client may still be sending a request that is answered already.
    pub(super) fn has_unread(&self) -> bool {
        use RequestProgress::{TooSlow, Unread, Whole};
        match *self.phase.lock() {
            Phase::Answering { body, .. } | Phase::Closing(body) => match body {
                TooSlow | Unread => true,
                Whole => false,
            },
            Phase::Idle | Phase::HandingOff => false,
        }
    }

    /// Waits until no request is in progress.
    pub(super) async fn idle(&self) {
        while self.is_busy() {
            self.became_idle.notified().await;
        }
    }

    /// Begins to hand the connection over, if another request may follow on it.
    pub(super) fn begin_handoff(&self) {
        let mut phase = self.phase.lock();
        if *phase == Phase::Idle {
            *phase = Phase::HandingOff;
        }
    }

    /// Whether it is being handed over, and no request has started since.
    pub(super) fn is_handing_off(&self) -> bool {
        *self.phase.lock() == Phase::HandingOff
    }

    /// The handoff does not happen after all.
    pub(super) fn cancel_handoff(&self) {
        *self.phase.lock() = Phase::Closing(RequestProgress::Whole);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_reusable_after_a_whole_request_only() {
        for (progress, last, handed_over) in [
            (RequestProgress::Whole, false, true),
            (RequestProgress::Whole, true, false),
            (RequestProgress::Unread, false, false),
            (RequestProgress::TooSlow, false, false),
        ] {
            let state = ConnectionState::new(None);
            state.begin_request();
            state.set_progress(progress);
            if last {
                state.set_last();
            }
            assert!(state.is_busy());
            state.end_request();
            assert_eq!(state.has_unread(), progress != RequestProgress::Whole);
            state.begin_handoff();
            assert_eq!(state.is_handing_off(), handed_over, "{progress:?} {last}");
        }
    }

    #[test]
    fn a_request_that_starts_during_the_handoff_ends_it() {
        let state = ConnectionState::new(None);
        state.begin_handoff();
        assert!(state.is_handing_off());
        state.begin_request();
        state.end_request();
        assert!(!state.is_handing_off());
    }
}
