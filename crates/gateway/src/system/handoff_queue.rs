//! What a gateway that has been taken over still has for its successor.
//!
//! Whoever has something puts it into the outbox; it is sent, in order, once there is somebody to
//! send it to. Before that nobody puts anything in.

use bytes::Bytes;
use tokio::net::TcpStream;

/// Something for the gateway that has taken over.
pub enum Parcel {
    /// A connection at rest.
    Connection { stream: TcpStream, known: bool, read: Bytes },
    /// What a session wants to hear of has changed.
    Wishes { session: String, wishes: crate::mcp::Remembered },
}

/// How many may wait to be sent; whoever has more waits.
pub const ROOM: usize = 64;
