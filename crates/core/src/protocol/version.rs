//! Which revision somebody speaks.

use crate::protocol::mcp::{Revision, STATELESS};

/// A revision of MCP, from the oldest to the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spoken {
    /// One that begins with a handshake.
    Session(Revision),
    /// 2026-07-28, in which each request speaks for itself.
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

    /// Whether it has what `revision` brought.
    pub fn knows(self, revision: Revision) -> bool {
        self >= Self::Session(revision)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_ordered_by_their_dates() {
        let dates = Spoken::ALL.map(Spoken::as_str);
        assert!(Spoken::ALL.is_sorted() && dates.is_sorted());
        assert!(Spoken::Stateless.knows(Revision::V2025_11_25));
        assert!(!Spoken::Session(Revision::V2025_03_26).knows(Revision::V2025_06_18));
    }
}
