//! What can go wrong with PiecesOS, as a test tells the fake.

use serde::{Deserialize, Serialize};

/// One fault, told while it runs. What it is told ends with its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fault {
    /// Every connection is closed; it goes on taking new ones.
    Drop,
    /// It aborts (SIGABRT), as the real one does after days.
    Abort,
    /// It ends as if a person had quit it.
    Quit,
    /// What is asked of it there is taken and not answered until it behaves.
    Hang(Area),
    /// Every answer there takes this much longer.
    Slow { area: Area, millis: u64 },
    /// It answers there with this status: always, or so many times.
    Refuse { area: Area, status: u16, times: Option<u32> },
    /// The next calls are executed, and their connections closed instead of an answer.
    LoseReplies { times: u32 },
    /// It ends and comes back on another port.
    Move,
    /// It forgets its MCP sessions; open streams stay open.
    Forget,
    /// It takes this much memory. Optimizing gives it back, unless it is for good.
    Grow { bytes: usize, for_good: bool },
    /// It tells everybody who listens that its tools changed.
    AnnounceTools,
    /// It writes what is no event on every open stream.
    Babble,
    /// It does again what it should; what it took of memory it keeps.
    Behave,
}

/// A part of it that can fail alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Area {
    /// Everything that is not MCP.
    Health,
    /// Everything about MCP, at the level of HTTP.
    Mcp,
    /// Lists of tools: the request is taken, the answer fails.
    Lists,
    /// Calls of tools: the request is taken and executed, the answer fails.
    Calls,
}
