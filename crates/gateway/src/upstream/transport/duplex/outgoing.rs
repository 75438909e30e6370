//! Messages on their way out, and what becomes of them.

use bytes::Bytes;
use tokio::sync::oneshot;

use evermoor_core::failure::Failure;

/// One message on its way out, and where to say what became of it.
pub(crate) struct Outgoing {
    pub(crate) text: Bytes,
    pub(crate) fate: Fate,
}

/// Where to say what became of a message; nobody asks about some.
pub(crate) struct Fate(Option<oneshot::Sender<Result<(), SendError>>>);

/// Why a message did not get out.
#[derive(Clone, Debug)]
pub(crate) enum SendError {
    /// Not one complete message left.
    NotSent(String),
    /// It may have arrived.
    Unknown(String),
    /// It did not leave, because the upstream is at work and does not read.
    Busy,
    /// The upstream wants credentials.
    AuthRequired(Failure),
    /// The upstream cannot serve now, in these words.
    Unavailable(String),
    /// The upstream read it and said no, in these words.
    Refused(String),
}

impl Fate {
    /// A place to say it, and the place to hear it.
    pub(super) fn channel() -> (Self, oneshot::Receiver<Result<(), SendError>>) {
        let (fate, told) = oneshot::channel();
        (Self(Some(fate)), told)
    }

    pub(super) fn of_no_interest() -> Self {
        Self(None)
    }

    /// Whether whoever wanted the message sent has gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.as_ref().is_some_and(oneshot::Sender::is_closed)
    }

    /// Says what became of the message, and returns whether anybody wanted to know.
    pub(crate) fn send(self, sent: Result<(), SendError>) -> bool {
        self.0.is_some_and(|fate| fate.send(sent).is_ok())
    }
}
