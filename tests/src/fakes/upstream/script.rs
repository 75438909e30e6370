//! The orders that make a running fake upstream misbehave.

use serde::{Deserialize, Serialize};

/// An order for a fake upstream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Answer requests of this method in this way, always or `times` times.
    Do { on: String, times: Option<u32>, act: Act },
    /// Drop all orders.
    Behave,
    /// Forget all sessions, and reject them in this way from now on.
    Forget(Forgotten),
    /// Offer prompts and resources besides the tools, and list everything in pages of this size.
    Stock { page: usize },
}

/// How a server rejects an unknown session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Forgotten {
    /// 404, as the specification requires.
    NotFound,
    /// 400 with a text about sessions and no id, as the reference servers do.
    BadRequest,
    /// 410.
    Gone,
    /// 401 with a text about sessions, and without a way to sign in.
    Unauthorized,
}

/// What to do instead of a normal answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Act {
    /// Refuses. For statuses that look like those of an intermediary, the call is executed first.
    Refuse { status: u16, retry_after: Option<String> },
    /// Executes, and never answers.
    Hang,
    /// Answers with this delay.
    Wait { millis: u64 },
    /// Executes, and sends a malformed or unusual reply.
    Reply(ScriptedReply),
}

/// Malformed and unusual replies, sent after the call was executed and recorded in the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScriptedReply {
    /// Truncated JSON.
    Malformed,
    /// A result and an error in one reply.
    Both,
    /// A reply to a request that nobody made.
    WrongId,
    /// A stream with a reply to a request that nobody made, then the right one.
    WrongIdFirst,
    /// A stream with the reply twice.
    Twice,
    /// JSON of this many MiB.
    Huge(u32),
    /// A stream with one event of this many MiB.
    HugeEvent(u32),
    /// Invalid UTF-8 inside a string.
    InvalidUtf8,
    /// A NUL byte inside a string.
    Nul,
    /// JSON with line breaks.
    Pretty,
    /// A byte order mark before the JSON.
    Bom,
    /// A stream that ends before the reply.
    CutStream,
    /// A stream that ends inside the reply's event.
    CutEvent,
    /// A stream with an event id that ends before the reply; resuming it returns the reply.
    Resumable,
    /// A chunked stream without a content length.
    Chunked,
    /// A stream with this many MiB of comments before the reply.
    Comments(u32),
    /// A stream with one unterminated comment of this many MiB.
    LongComment(u32),
    /// A stream whose lines end in CR.
    CarriageReturns,
    /// A stream that asks for immediate reconnection, then for none.
    Retry,
}

impl Act {
    pub fn refuse(status: u16) -> Self {
        Self::Refuse { status, retry_after: None }
    }

    pub fn refuse_until(status: u16, retry_after: &str) -> Self {
        Self::Refuse { status, retry_after: Some(retry_after.to_owned()) }
    }
}
