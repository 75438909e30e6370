//! Messages to send, and the result of sending them.

use bytes::Bytes;
use tokio::sync::oneshot;

use evermoor_core::failure::Failure;

/// One message to send, and where to report the result.
pub(crate) struct Outgoing {
    pub(crate) text: Bytes,
    pub(crate) receipt: SendReceipt,
}

/// Reports whether a message was sent; for some messages nobody needs to know.
pub(crate) struct SendReceipt(Option<oneshot::Sender<Result<(), SendError>>>);

/// Why a message was not sent.
#[derive(Clone, Debug)]
pub(crate) enum SendError {
    /// The upstream cannot have received the complete message.
    NotSent(String),
    /// The upstream may have received it.
    Unknown(String),
    /// It was not sent, because the upstream is busy and does not read.
    Busy,
    /// The upstream requires credentials.
    AuthRequired(Failure),
    /// The upstream is unavailable, with its reason.
    Unavailable(String),
    /// The upstream read it and refused it, with its reason.
    Refused(String),
}

impl SendReceipt {
    pub(super) fn channel() -> (Self, oneshot::Receiver<Result<(), SendError>>) {
        let (sender, result) = oneshot::channel();
        (Self(Some(sender)), result)
    }

    /// A receipt that nobody waits for.
    pub(super) fn ignored() -> Self {
        Self(None)
    }

    /// Whether the sender of the message no longer waits.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.as_ref().is_some_and(oneshot::Sender::is_closed)
    }

    /// Reports the result, and returns whether anyone received it.
    pub(crate) fn send(self, result: Result<(), SendError>) -> bool {
        self.0.is_some_and(|sender| sender.send(result).is_ok())
    }
}
