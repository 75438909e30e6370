//! Protocol versions of MCP.
//!
//! - [`transport`]: the transport and the kind of session that a server uses
//! - [`unsupported`]: the version to use after a server rejected another

pub mod transport;
pub mod unsupported;

use crate::protocol::mcp::{STATELESS, SessionVersion};

/// A protocol version of MCP, ordered from the oldest to the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProtocolVersion {
    /// A version with a handshake and sessions.
    Session(SessionVersion),
    /// 2026-07-28, in which every request is self-contained.
    Stateless,
}

impl ProtocolVersion {
    pub const ALL: [Self; 5] = [
        Self::Session(SessionVersion::V2024_11_05),
        Self::Session(SessionVersion::V2025_03_26),
        Self::Session(SessionVersion::V2025_06_18),
        Self::Session(SessionVersion::V2025_11_25),
        Self::Stateless,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Session(revision) => revision.as_str(),
            Self::Stateless => STATELESS,
        }
    }

    pub fn is_stateless(self) -> bool {
        self == Self::Stateless
    }

    /// Whether it includes the features of `revision`.
    pub fn knows(self, revision: SessionVersion) -> bool {
        self >= Self::Session(revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_date() {
        let dates = ProtocolVersion::ALL.map(ProtocolVersion::as_str);
        assert!(ProtocolVersion::ALL.is_sorted() && dates.is_sorted());
        assert!(ProtocolVersion::Stateless.knows(SessionVersion::V2025_11_25));
        assert!(
            !ProtocolVersion::Session(SessionVersion::V2025_03_26)
                .knows(SessionVersion::V2025_06_18)
        );
    }
}
