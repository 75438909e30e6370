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

/// How many resources editors may subscribe to over one connection.
const MAX_RESOURCES: usize = 16_384;
/// How long their URIs may be together.
const MAX_BYTES: usize = 4 << 20;

/// Editors have subscribed to too much over one connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Editors already subscribe to too many resources of this server. Unsubscribe from some of them, or \
     close a client that subscribes to many."
)]
pub(crate) struct TooManyResources;

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
    /// The bytes of their URIs.
    bytes: usize,
    /// The log level of each session.
    levels: BTreeMap<u64, LoggingLevel>,
    /// What the connection must subscribe to. It is changed in place, because it can be large.
    merged: watch::Sender<SubscriptionSet>,
}

impl Subscriptions {
    /// Subscribes `session` to a resource. Returns whether it is the first to do so.
    pub(crate) fn subscribe(
        &self,
        scope: &ConnectionScope,
        session: u64,
        uri: &str,
    ) -> Result<bool, TooManyResources> {
        let mut all = self.0.lock();
        let scoped = all.entry(scope.clone()).or_default();
        if let Some(sessions) = scoped.resources.get_mut(uri) {
            sessions.insert(session);
            return Ok(false);
        }
        if scoped.resources.len() >= MAX_RESOURCES || scoped.bytes + uri.len() > MAX_BYTES {
            return Err(TooManyResources);
        }
        scoped.resources.insert(uri.to_owned(), BTreeSet::from([session]));
        scoped.bytes += uri.len();
        scoped.merged.send_modify(|merged| merged.resources.extend([uri.to_owned()]));
        Ok(true)
    }

    /// Unsubscribes `session` from a resource. Returns whether it was the last subscriber.
    pub fn unsubscribe(&self, scope: &ConnectionScope, session: u64, uri: &str) -> bool {
        let mut all = self.0.lock();
        let Some(scoped) = all.get_mut(scope) else { return false };
        let Some(sessions) = scoped.resources.get_mut(uri) else { return false };
        let last = sessions.remove(&session) && sessions.is_empty();
        if last {
            scoped.remove(uri);
        }
        last
    }

    /// Sets the log level of `session`. Returns whether the lowest level changed.
    pub fn set_log_level(
        &self,
        scope: &ConnectionScope,
        session: u64,
        level: LoggingLevel,
    ) -> bool {
        let mut all = self.0.lock();
        let scoped = all.entry(scope.clone()).or_default();
        scoped.levels.insert(session, level);
        scoped.publish_level()
    }

    /// Removes a session that has ended.
    pub fn forget(&self, session: u64) {
        self.forget_all(&BTreeSet::from([session]));
    }

    /// Removes sessions that have ended.
    pub(crate) fn forget_all(&self, ended: &BTreeSet<u64>) {
        for scoped in self.0.lock().values_mut() {
            scoped.levels.retain(|session, _| !ended.contains(session));
            scoped.publish_level();
            let mut unwanted = Vec::new();
            for (uri, sessions) in &mut scoped.resources {
                sessions.retain(|session| !ended.contains(session));
                if sessions.is_empty() {
                    unwanted.push(uri.clone());
                }
            }
            unwanted.iter().for_each(|uri| scoped.remove(uri));
        }
    }

    /// Watches the merged subscriptions of a scope.
    pub fn in_scope(&self, scope: &ConnectionScope) -> watch::Receiver<SubscriptionSet> {
        self.0.lock().entry(scope.clone()).or_default().merged.subscribe()
    }

    /// Waits until a stateless upstream has acknowledged a resource, so that an editor is not told
    /// that it is subscribed before it is.
    pub async fn until_acknowledged(&self, scope: &ConnectionScope, uri: &str) {
        let acknowledged = self.in_scope(scope).borrow().acknowledged.clone();
        let mut acknowledged = acknowledged.0.subscribe();
        let _ = timeout(PATIENCE, acknowledged.wait_for(|all| all.contains(uri))).await;
    }
}

impl ScopeSubscriptions {
    fn lowest_level(&self) -> Option<LoggingLevel> {
        self.levels.values().min().copied()
    }

    /// Publishes the lowest level. Returns whether it changed.
    fn publish_level(&self) -> bool {
        let level = self.lowest_level();
        self.merged.send_if_modified(|merged| std::mem::replace(&mut merged.level, level) != level)
    }

    /// Removes a resource that no session wants any more.
    fn remove(&mut self, uri: &str) {
        if self.resources.remove(uri).is_some() {
            self.bytes -= uri.len();
            self.merged.send_if_modified(|merged| merged.resources.remove(uri));
        }
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
        assert_eq!(all.subscribe(&name, 1, "x://1"), Ok(true));
        assert_eq!(all.subscribe(&name, 2, "x://1"), Ok(false));
        assert_eq!(all.subscribe(&name, 2, "x://1"), Ok(false), "twice is once");
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
        all.subscribe(&name, 1, "x://1").unwrap();
        let wanted = all.in_scope(&name).borrow().clone();
        let began = tokio::time::Instant::now();
        let acknowledge = async { wanted.acknowledged.set(&wanted.resources) };
        tokio::join!(all.until_acknowledged(&name, "x://1"), acknowledge);
        assert_eq!(began.elapsed(), Duration::ZERO);
        all.until_acknowledged(&name, "x://2").await;
        assert_eq!(began.elapsed(), PATIENCE);
    }

    #[test]
    fn one_connection_takes_a_limited_number_of_resources() {
        let (all, name) = (Subscriptions::default(), scope());
        for number in 0..MAX_RESOURCES {
            assert_eq!(all.subscribe(&name, 1, &format!("x://{number}")), Ok(true));
        }
        assert_eq!(all.subscribe(&name, 1, "x://more"), Err(TooManyResources));
        assert_eq!(all.subscribe(&name, 2, "x://0"), Ok(false), "it is known already");
        all.forget(1);
        assert_eq!(all.subscribe(&name, 1, "x://more"), Ok(true));
        let long = "x".repeat(MAX_BYTES / 2);
        assert_eq!(all.subscribe(&name, 1, &long), Ok(true));
        assert_eq!(all.subscribe(&name, 1, &format!("{long}y")), Err(TooManyResources));
        all.forget(1);
        assert_eq!(all.in_scope(&name).borrow().resources, BTreeSet::from(["x://0".to_owned()]));
    }

    #[test]
    fn a_session_that_ended_leaves_no_subscriptions() {
        let (all, name) = (Subscriptions::default(), scope());
        all.subscribe(&name, 1, "x://1").unwrap();
        all.subscribe(&name, 2, "x://2").unwrap();
        all.forget(1);
        let wanted = all.in_scope(&name).borrow().clone();
        assert_eq!(wanted.resources, BTreeSet::from(["x://2".to_owned()]));
    }
}
