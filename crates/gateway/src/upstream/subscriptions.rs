//! The subscriptions of editors, merged per connection scope.
//!
//! One connection serves all editors, so an upstream gets one subscription for what several editors
//! want, and an unsubscribe when the last one no longer wants it. The merged set outlives
//! connections: after a reconnect or a changed configuration, everything is subscribed again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;

use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::log_level::LoggingLevel;

use crate::upstream::ConnectionScope;

/// The subscriptions of all editors.
#[derive(Clone, Default)]
pub struct Subscriptions(Arc<Mutex<HashMap<ConnectionScope, ScopeSubscriptions>>>);

/// What one connection must subscribe to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscriptionSet {
    /// The resources to subscribe to.
    pub resources: BTreeSet<String>,
    /// The lowest log level that any editor wants.
    pub level: Option<LoggingLevel>,
    /// Reports which of the resources the upstream has acknowledged.
    pub acknowledged: Acknowledged,
}

/// The resources that a stateless upstream has acknowledged in its subscription stream.
#[derive(Clone, Debug, Default)]
pub struct Acknowledged(watch::Sender<BTreeSet<String>>);

impl Acknowledged {
    /// Replaces the acknowledged resources.
    pub fn set(&self, resources: &BTreeSet<String>) {
        self.0.send_replace(resources.clone());
    }
}

/// Two sets are equal if they want the same, acknowledged or not.
impl PartialEq for Acknowledged {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Acknowledged {}

/// How long to wait for an acknowledgement; without one, the subscription is assumed to work.
const PATIENCE: Duration = Duration::from_secs(2);

impl SubscriptionSet {
    /// The parameters of `subscriptions/listen`, which also ask for all list changes.
    pub fn filter(&self) -> Raw {
        let mut notifications = serde_json::json!({
            "toolsListChanged": true,
            "promptsListChanged": true,
            "resourcesListChanged": true,
        });
        if !self.resources.is_empty() {
            notifications["resourceSubscriptions"] = serde_json::json!(self.resources);
        }
        Raw::of(&serde_json::json!({ "notifications": notifications }))
    }
}

#[derive(Default)]
struct ScopeSubscriptions {
    /// The sessions that subscribe to each resource.
    resources: BTreeMap<String, BTreeSet<u64>>,
    /// The log level of each session.
    levels: BTreeMap<u64, LoggingLevel>,
    merged: watch::Sender<SubscriptionSet>,
    acknowledged: Acknowledged,
}

impl Subscriptions {
    /// Subscribes `session` to a resource. Returns whether it is the first to do so.
    pub fn subscribe(&self, scope: &ConnectionScope, session: u64, uri: &str) -> bool {
        self.change(scope, |scoped| {
            let sessions = scoped.resources.entry(uri.to_owned()).or_default();
            let first = sessions.is_empty();
            sessions.insert(session);
            first
        })
    }

    /// Unsubscribes `session` from a resource. Returns whether it was the last subscriber.
    pub fn unsubscribe(&self, scope: &ConnectionScope, session: u64, uri: &str) -> bool {
        let mut all = self.0.lock();
        let Some(scoped) = all.get_mut(scope) else { return false };
        let Some(sessions) = scoped.resources.get_mut(uri) else { return false };
        let last = sessions.remove(&session) && sessions.is_empty();
        if sessions.is_empty() {
            scoped.resources.remove(uri);
        }
        scoped.publish();
        last
    }

    /// Sets the log level of `session`. Returns whether the lowest level changed.
    pub fn set_log_level(
        &self,
        scope: &ConnectionScope,
        session: u64,
        level: LoggingLevel,
    ) -> bool {
        self.change(scope, |scoped| {
            let before = scoped.lowest_level();
            scoped.levels.insert(session, level);
            scoped.lowest_level() != before
        })
    }

    /// Removes a session that has ended.
    pub fn forget(&self, session: u64) {
        for scoped in self.0.lock().values_mut() {
            scoped.levels.remove(&session);
            scoped.resources.retain(|_, sessions| {
                sessions.remove(&session);
                !sessions.is_empty()
            });
            scoped.publish();
        }
    }

    /// Watches the merged subscriptions of a scope.
    pub fn in_scope(&self, scope: &ConnectionScope) -> watch::Receiver<SubscriptionSet> {
        self.0.lock().entry(scope.clone()).or_default().merged.subscribe()
    }

    /// Waits until a stateless upstream has acknowledged a resource, so that an editor is not told
    /// that it is subscribed before it is.
    pub async fn until_acknowledged(&self, scope: &ConnectionScope, uri: &str) {
        let acknowledged = self.0.lock().entry(scope.clone()).or_default().acknowledged.clone();
        let mut acknowledged = acknowledged.0.subscribe();
        let _ = timeout(PATIENCE, acknowledged.wait_for(|all| all.contains(uri))).await;
    }

    fn change<T>(
        &self,
        scope: &ConnectionScope,
        change: impl FnOnce(&mut ScopeSubscriptions) -> T,
    ) -> T {
        let mut all = self.0.lock();
        let scoped = all.entry(scope.clone()).or_default();
        let changed = change(scoped);
        scoped.publish();
        changed
    }
}

impl ScopeSubscriptions {
    fn lowest_level(&self) -> Option<LoggingLevel> {
        self.levels.values().min().copied()
    }

    fn publish(&self) {
        let resources = self.resources.keys().cloned().collect();
        let acknowledged = self.acknowledged.clone();
        let new = SubscriptionSet { resources, level: self.lowest_level(), acknowledged };
        self.merged.send_if_modified(|current| {
            let changed = *current != new;
            *current = new;
            changed
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::catalog::naming::UpstreamName;

    fn scope() -> ConnectionScope {
        ConnectionScope::shared(&UpstreamName::parse("a").unwrap())
    }

    #[test]
    fn the_first_session_subscribes_and_the_last_unsubscribes() {
        let (all, name) = (Subscriptions::default(), scope());
        assert!(all.subscribe(&name, 1, "x://1"));
        assert!(!all.subscribe(&name, 2, "x://1"));
        assert!(!all.subscribe(&name, 2, "x://1"), "twice is once");
        assert!(!all.unsubscribe(&name, 1, "x://1"));
        assert!(all.unsubscribe(&name, 2, "x://1"));
        assert!(!all.unsubscribe(&name, 2, "x://1"));
    }

    #[test]
    fn the_lowest_log_level_is_used() {
        let (all, name) = (Subscriptions::default(), scope());
        assert!(all.set_log_level(&name, 1, LoggingLevel::Error));
        assert!(all.set_log_level(&name, 2, LoggingLevel::Debug));
        assert!(!all.set_log_level(&name, 1, LoggingLevel::Warning));
        assert_eq!(all.in_scope(&name).borrow().level, Some(LoggingLevel::Debug));
        all.forget(2);
        assert_eq!(all.in_scope(&name).borrow().level, Some(LoggingLevel::Warning));
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscriber_waits_for_the_acknowledgement_but_not_forever() {
        let (all, name) = (Subscriptions::default(), scope());
        all.subscribe(&name, 1, "x://1");
        let wanted = all.in_scope(&name).borrow().clone();
        let began = tokio::time::Instant::now();
        let acknowledge = async { wanted.acknowledged.set(&wanted.resources) };
        tokio::join!(all.until_acknowledged(&name, "x://1"), acknowledge);
        assert_eq!(began.elapsed(), Duration::ZERO);
        all.until_acknowledged(&name, "x://2").await;
        assert_eq!(began.elapsed(), PATIENCE);
    }

    #[test]
    fn a_session_that_ended_leaves_no_subscriptions() {
        let (all, name) = (Subscriptions::default(), scope());
        all.subscribe(&name, 1, "x://1");
        all.subscribe(&name, 2, "x://2");
        all.forget(1);
        let wanted = all.in_scope(&name).borrow().clone();
        assert_eq!(wanted.resources, BTreeSet::from(["x://2".to_owned()]));
    }
}
