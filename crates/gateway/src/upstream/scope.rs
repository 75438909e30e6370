//! Lanes to an upstream: the one that all editors share, or one of an editor's own.

use evermoor_core::catalog::naming::UpstreamName;

/// One way to an upstream, with a connection, subscriptions and news of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lane {
    pub upstream: UpstreamName,
    /// Whom it is for; `None` if it is for everybody.
    pub owner: Option<Owner>,
}

/// Whom a lane may be for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A session, by its number.
    Session(u64),
    /// An editor that has no sessions, by its name.
    Editor(String),
}

impl Lane {
    pub fn shared(upstream: &UpstreamName) -> Self {
        Self { upstream: upstream.clone(), owner: None }
    }

    /// Whether what is said on it is for `listener`.
    pub fn is_for(&self, listener: &Owner) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner == listener)
    }
}
