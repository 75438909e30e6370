//! The scope of a connection to an upstream: shared by all editors, or owned by one.

use evermoor_core::catalog::naming::UpstreamName;

/// Identifies a connection to an upstream, with its subscriptions and notifications.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConnectionScope {
    pub upstream: UpstreamName,
    /// The owner of the connection; `None` if it is shared.
    pub owner: Option<ScopeOwner>,
}

/// Who can own a connection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ScopeOwner {
    /// A session, by its number.
    Session(u64),
    /// An editor without sessions, by its name.
    Editor(String),
}

impl ConnectionScope {
    pub fn shared(upstream: &UpstreamName) -> Self {
        Self { upstream: upstream.clone(), owner: None }
    }

    /// Whether `listener` receives the notifications of this connection.
    pub fn is_for(&self, listener: &ScopeOwner) -> bool {
        self.owner.as_ref().is_none_or(|owner| owner == listener)
    }
}
