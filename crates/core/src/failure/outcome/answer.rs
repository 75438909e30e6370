//! The one answer to a call, and where it comes from.
//!
//! An upstream can write anything into its results, so who answered is never read from the answer.

use crate::protocol::envelope::{Id, Response};
use crate::protocol::version::ProtocolVersion;

use super::{DeliveryStatus, UndeliveredCall};

/// The one answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub response: Response,
    pub origin: AnswerOrigin,
}

/// Who answered a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerOrigin {
    /// The upstream, on a connection of this version.
    Upstream(ProtocolVersion),
    /// The gateway, for itself: a list, or a request that it refuses.
    Gateway,
    /// The gateway, for a call that got no answer from its upstream.
    Undelivered(DeliveryStatus),
}

impl Answer {
    pub fn from_upstream(response: Response, version: ProtocolVersion) -> Self {
        Self { response, origin: AnswerOrigin::Upstream(version) }
    }

    pub fn from_gateway(response: Response) -> Self {
        Self { response, origin: AnswerOrigin::Gateway }
    }

    /// The answer to a call that got none from its upstream.
    pub fn undelivered(call: &UndeliveredCall<'_>, id: Id) -> Self {
        Self { response: call.answer(id), origin: AnswerOrigin::Undelivered(call.fate) }
    }

    /// The same answer with the response changed.
    pub fn map(self, change: impl FnOnce(Response) -> Response) -> Self {
        Self { response: change(self.response), ..self }
    }
}
