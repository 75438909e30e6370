//! A JSON-RPC message as the body of an HTTP request or response. A large payload is not copied into
//! it.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{BufMut as _, Bytes, BytesMut};
use hyper::body::{Body, Frame, SizeHint};

use evermoor_core::protocol::envelope::MessageParts;

/// The parts of a message that have yet to be sent.
#[derive(Clone, Default)]
pub(crate) struct MessageBody(VecDeque<Bytes>);

impl MessageBody {
    /// All of it in one piece.
    pub(crate) fn into_bytes(mut self) -> Bytes {
        if self.0.len() <= 1 {
            return self.0.pop_front().unwrap_or_default();
        }
        let mut whole = BytesMut::with_capacity(self.0.iter().map(Bytes::len).sum());
        self.0.iter().for_each(|part| whole.put_slice(part));
        whole.freeze()
    }
}

impl MessageBody {
    /// Several messages as a JSON array.
    pub(crate) fn batch(messages: impl IntoIterator<Item = MessageParts>) -> Self {
        let mut parts = VecDeque::from([Bytes::from_static(b"[")]);
        for MessageParts(message) in messages {
            if parts.len() > 1 {
                parts.push_back(Bytes::from_static(b","));
            }
            parts.extend(message.into_iter().filter(|part| !part.is_empty()));
        }
        parts.push_back(Bytes::from_static(b"]"));
        Self(parts)
    }
}

impl From<MessageParts> for MessageBody {
    fn from(parts: MessageParts) -> Self {
        Self(parts.0.into_iter().filter(|part| !part.is_empty()).collect())
    }
}

impl From<Bytes> for MessageBody {
    fn from(bytes: Bytes) -> Self {
        Self(VecDeque::from([bytes]))
    }
}

impl Body for MessageBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let length: usize = self.0.iter().map(Bytes::len).sum();
        SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::protocol::envelope::{Id, Response};
    use evermoor_core::protocol::json::Raw;

    #[test]
    fn a_batch_is_an_array_that_does_not_copy_its_large_messages() {
        let response = |text: &str| Response::result(Id::number(1), Raw::of(text));
        let responses = ["small".to_owned(), "x".repeat(1 << 20)].map(|text| response(&text));
        let large = responses[1].outcome.payload().as_bytes().as_ptr_range();
        let body = MessageBody::batch(responses.iter().map(Response::to_parts));
        assert!(body.0.iter().any(|part| part.as_ptr_range() == large), "the same bytes");
        let messages: Vec<serde_json::Value> = serde_json::from_slice(&body.into_bytes()).unwrap();
        assert_eq!((messages.len(), &messages[0]["result"]), (2, &"small".into()));
        assert_eq!(&MessageBody::batch([]).into_bytes()[..], b"[]");
    }
}
