//! How a fake upstream is told to misbehave, while it runs.

use serde::{Deserialize, Serialize};

/// One thing to tell a fake upstream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Order {
    /// Answer requests of this method in this way, for ever or so many times.
    Do { on: String, times: Option<u32>, act: Act },
    /// Forget what was ordered.
    Behave,
    /// Forget the sessions, and say so in this way from now on.
    Forget(Forgotten),
    /// Offer prompts and resources besides the tools, and list everything in pages of this size.
    Stock { page: usize },
}

/// How a server tells that it does not know a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Forgotten {
    /// 404, as the specification wants it.
    NotFound,
    /// 400 with a text about sessions and no id, as the reference servers do.
    BadRequest,
    /// 410.
    Gone,
}

/// What to do instead of a plain answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Act {
    /// Refuses. What looks like an answer of something in between is executed first.
    Refuse { status: u16, retry_after: Option<String> },
    /// Executes, and never answers.
    Hang,
    /// Answers this much later.
    Wait { millis: u64 },
    /// Executes, and answers with something strange.
    Reply(Reply),
}

/// Strange answers. Each is sent after the call was executed and written into the ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// Half of a JSON text.
    Malformed,
    /// A result and an error in one.
    Both,
    /// The answer to a request that nobody made.
    WrongId,
    /// A stream with an answer to a request that nobody made, then the right one.
    WrongIdFirst,
    /// A stream with the answer, and another one.
    Twice,
    /// JSON that goes on for this many MiB.
    Huge(u32),
    /// A stream with one event of this many MiB.
    HugeEvent(u32),
    /// A byte that is no UTF-8 inside a text.
    InvalidUtf8,
    /// A NUL inside a text.
    Nul,
    /// JSON of many lines.
    Pretty,
    /// A byte order mark before the JSON.
    Bom,
    /// A stream that ends before the answer.
    CutStream,
    /// A stream that ends inside the event with the answer.
    CutEvent,
    /// A stream with an event id that ends before the answer, which waits for whoever asks again.
    Resumable,
    /// A stream in chunks, without a length.
    Chunked,
    /// A stream with this many MiB of comments before the answer.
    Comments(u32),
    /// A stream with one comment of this many MiB and no end.
    LongComment(u32),
    /// A stream whose lines end in CR alone.
    CarriageReturns,
    /// A stream that asks for reconnection at once, then never.
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
