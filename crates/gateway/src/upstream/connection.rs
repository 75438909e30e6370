//! What every kind of connection to an upstream has in common: how a call ends.

use bytes::Bytes;
use tokio::sync::mpsc;

use evermoor_core::envelope::{Message, Response};
use evermoor_core::failure::Failure;
use evermoor_core::outcome::Unknown;

/// What an upstream answered.
pub enum Reply {
    /// The one answer.
    Whole(Response),
    /// Messages about the call, and at the end the one answer.
    Stream(ReplyStream),
}

/// Messages about one call as they arrive. The last one is its answer, whatever happens to the
/// upstream in between.
pub struct ReplyStream {
    messages: mpsc::Receiver<Message>,
    /// What the editor is told if the upstream never answers.
    otherwise: Option<Response>,
}

impl ReplyStream {
    pub(crate) fn new(messages: mpsc::Receiver<Message>) -> Self {
        Self { messages, otherwise: None }
    }

    pub(crate) fn or(self, otherwise: Response) -> Self {
        Self { otherwise: Some(otherwise), ..self }
    }

    /// The next message; `None` after the answer.
    pub async fn next(&mut self) -> Option<Message> {
        match self.messages.recv().await {
            Some(Message::Response(response)) => {
                self.otherwise = None;
                self.messages.close();
                Some(Message::Response(response))
            }
            Some(message) => Some(message),
            None => self.otherwise.take().map(Message::Response),
        }
    }

    /// The answer alone.
    pub(crate) async fn answer(mut self) -> Option<Response> {
        while let Some(message) = self.next().await {
            if let Message::Response(response) = message {
                return Some(response);
            }
        }
        None
    }
}

/// Why a call got no answer from its upstream.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// Nothing was executed: it never left, or the upstream turned it away unread.
    #[error("{0}")]
    NotSent(Failure),
    /// The upstream wants credentials and turned the call away.
    #[error("{0}")]
    AuthRequired(Failure),
    /// It may have been executed.
    #[error("{detail}")]
    Unknown { why: Unknown, detail: String, connection_broke: bool },
}

/// The most that is read of one answer or one event.
pub(crate) const LARGEST_REPLY: usize = 16 << 20;

/// The start of a body, for an error text.
pub(crate) fn excerpt(body: &Bytes) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(200)]);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
