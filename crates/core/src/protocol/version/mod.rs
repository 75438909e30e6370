//! Protocol versions of MCP.

pub mod transport;
pub mod unsupported;

use crate::protocol::mcp::{Revision, STATELESS};

/// A protocol version of MCP, ordered from the oldest to the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spoken {
    /// A version with a handshake and sessions.
    Session(Revision),
    /// 2026-07-28, in which every request is self-contained.
    Stateless,
}

impl Spoken {
    pub const ALL: [Self; 5] = [
        Self::Session(Revision::V2024_11_05),
        Self::Session(Revision::V2025_03_26),
        Self::Session(Revision::V2025_06_18),
        Self::Session(Revision::V2025_11_25),
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
    pub fn knows(self, revision: Revision) -> bool {
        self >= Self::Session(revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_date() {
        let dates = Spoken::ALL.map(Spoken::as_str);
        assert!(Spoken::ALL.is_sorted() && dates.is_sorted());
        assert!(Spoken::Stateless.knows(Revision::V2025_11_25));
        assert!(!Spoken::Session(Revision::V2025_03_26).knows(Revision::V2025_06_18));
    }
}
