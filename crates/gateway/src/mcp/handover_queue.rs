//! What a gateway that was taken over hands to its successor.
//!
//! Items are queued once a successor serves, and are sent in order.

use bytes::Bytes;
use tokio::net::TcpStream;

/// An item for the successor.
pub enum HandoverItem {
    /// An idle connection, with what was already read from it.
    Connection { stream: TcpStream, known: bool, read: Bytes },
    /// A session's subscriptions have changed.
    Subscriptions { session: String, subscriptions: crate::mcp::StoredSubscriptions },
}

/// How many items the queue holds; senders wait when it is full.
pub const CAPACITY: usize = 64;
