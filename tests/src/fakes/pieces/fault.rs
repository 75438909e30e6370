//! The faults that a test can inject into the fake PiecesOS.

use serde::{Deserialize, Serialize};

/// A fault, sent to a running process. It ends with the process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// Closes every connection, and keeps accepting new ones.
    Drop,
    /// Aborts (SIGABRT), as the real one does after days.
    Abort,
    /// Exits as if a user had quit it.
    Quit,
    /// Accepts requests in this area but does not answer until `Behave`.
    Hang(Area),
    /// Delays every answer in this area.
    Slow { area: Area, millis: u64 },
    /// Answers in this area with this status, always or `times` times.
    Refuse { area: Area, status: u16, times: Option<u32> },
    /// Executes the next calls and closes their connections instead of answering.
    LoseReplies { times: u32 },
    /// Exits and comes back on another port.
    Move,
    /// Forgets its MCP sessions; open streams stay open.
    Forget,
    /// Allocates this much memory. Optimizing frees it unless `for_good` is set.
    Grow { bytes: usize, for_good: bool },
    /// Announces to all listeners that its tools changed.
    AnnounceTools,
    /// Writes invalid data on every open stream.
    Babble,
    /// Works normally again, but keeps the memory it allocated.
    Behave,
}

/// An area that can fail separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Area {
    /// Everything except MCP.
    Health,
    /// All of MCP, at the HTTP level.
    Mcp,
    /// Tool lists: the request is accepted, the answer fails.
    Lists,
    /// Tool calls: the request is accepted and executed, the answer fails.
    Calls,
}
