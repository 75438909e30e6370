//! How a server wants to be spoken to, once that was found out.

use serde::{Deserialize, Serialize};

/// Which era a server is of, and with it which transport. Found out once, remembered, and found out
/// again when it holds no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// 2026-07-28: no sessions, every request speaks for itself.
    Stateless,
    /// 2025: a handshake and a session, over Streamable HTTP or pipes.
    Session,
    /// 2024-11-05: a stream of events, and an address to post to.
    Events,
}
