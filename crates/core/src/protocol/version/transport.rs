//! The transport and the kind of session that a server uses.

use serde::{Deserialize, Serialize};

/// How to connect to a server. Probed once and remembered; probed again when it no longer works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// 2026-07-28: no sessions, every request is self-contained.
    Stateless,
    /// 2025: a handshake and a session, over Streamable HTTP or stdio.
    Session,
    /// 2024-11-05: HTTP+SSE, an event stream and a URL for POST requests.
    Events,
}
