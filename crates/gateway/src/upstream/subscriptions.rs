//! What editors want to hear of, added up per lane to an upstream.
//!
//! One connection serves all editors, so an upstream is asked once for what several want, and told
//! to stop when the last one has lost interest. The sum outlives connections and upstreams: after
//! a reconnect or a changed configuration everything is asked for again.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::timeout;

use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::log_level::Level;

use crate::upstream::Lane;

/// Everybody's interests.
#[derive(Clone, Default)]
pub struct Interests(Arc<Mutex<HashMap<Lane, Interest>>>);

/// What is wanted of one upstream, in sum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Resources whose changes are of interest.
    pub resources: BTreeSet<String>,
    /// The quietest log message that anybody wants to hear.
    pub level: Option<Level>,
    /// Where is said which of the resources are told of.
    pub carried: Carried,
}

/// Which resources an upstream without sessions has said that it tells of.
#[derive(Clone, Debug, Default)]
pub struct Carried(watch::Sender<BTreeSet<String>>);

impl Carried {
    /// From now on these are told of, and no others.
    pub fn are(&self, resources: &BTreeSet<String>) {
        self.0.send_replace(resources.clone());
    }
}

/// What is wanted is the same whatever came of it.
impl PartialEq for Carried {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for Carried {}

/// Who takes longer to say that it tells of a resource is believed to.
const PATIENCE: Duration = Duration::from_secs(2);

impl Wanted {
    /// The same as an upstream without sessions is asked for it, with all lists.
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
struct Interest {
    /// Which sessions want to hear of each resource.
    resources: BTreeMap<String, BTreeSet<u64>>,
    /// What each session listens from.
    levels: BTreeMap<u64, Level>,
    wanted: watch::Sender<Wanted>,
    carried: Carried,
}

impl Interests {
    /// `session` wants to hear of a resource. Says whether it is the first that does.
    pub fn subscribe(&self, lane: &Lane, session: u64, uri: &str) -> bool {
        self.change(lane, |interest| {
            let sessions = interest.resources.entry(uri.to_owned()).or_default();
            let first = sessions.is_empty();
            sessions.insert(session);
            first
        })
    }

    /// It does not any more. Says whether it was the last that did.
    pub fn unsubscribe(&self, lane: &Lane, session: u64, uri: &str) -> bool {
        self.change(lane, |interest| {
            let Some(sessions) = interest.resources.get_mut(uri) else { return false };
            let last = sessions.remove(&session) && sessions.is_empty();
            if sessions.is_empty() {
                interest.resources.remove(uri);
            }
            last
        })
    }

    /// `session` listens to log messages from `level` on. Says whether the sum changed.
    pub fn listen_from(&self, lane: &Lane, session: u64, level: Level) -> bool {
        self.change(lane, |interest| {
            let before = interest.quietest();
            interest.levels.insert(session, level);
            interest.quietest() != before
        })
    }

    /// A session that is over has no interests.
    pub fn forget(&self, session: u64) {
        for interest in self.0.lock().values_mut() {
            interest.levels.remove(&session);
            interest.resources.retain(|_, sessions| {
                sessions.remove(&session);
                !sessions.is_empty()
            });
            interest.show();
        }
    }

    /// What is wanted on a lane, now and from now on.
    pub fn on_lane(&self, lane: &Lane) -> watch::Receiver<Wanted> {
        self.0.lock().entry(lane.clone()).or_default().wanted.subscribe()
    }

    /// Waits until an upstream without sessions has said that it tells of a resource, so that nobody
    /// is told to listen to what is not spoken of yet.
    pub async fn until_carried(&self, lane: &Lane, uri: &str) {
        let carried = self.0.lock().entry(lane.clone()).or_default().carried.clone();
        let mut carried = carried.0.subscribe();
        let _ = timeout(PATIENCE, carried.wait_for(|all| all.contains(uri))).await;
    }

    fn change<T>(&self, lane: &Lane, change: impl FnOnce(&mut Interest) -> T) -> T {
        let mut all = self.0.lock();
        let interest = all.entry(lane.clone()).or_default();
        let changed = change(interest);
        interest.show();
        changed
    }
}

impl Interest {
    fn quietest(&self) -> Option<Level> {
        self.levels.values().min().copied()
    }

    fn show(&self) {
        let resources = self.resources.keys().cloned().collect();
        let carried = self.carried.clone();
        let wanted = Wanted { resources, level: self.quietest(), carried };
        self.wanted.send_if_modified(|shown| {
            let news = *shown != wanted;
            *shown = wanted;
            news
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::catalog::naming::UpstreamName;

    fn lane() -> Lane {
        Lane::shared(&UpstreamName::parse("a").unwrap())
    }

    #[test]
    fn the_first_asks_and_the_last_stops() {
        let (all, name) = (Interests::default(), lane());
        assert!(all.subscribe(&name, 1, "x://1"));
        assert!(!all.subscribe(&name, 2, "x://1"));
        assert!(!all.subscribe(&name, 2, "x://1"), "twice is once");
        assert!(!all.unsubscribe(&name, 1, "x://1"));
        assert!(all.unsubscribe(&name, 2, "x://1"));
        assert!(!all.unsubscribe(&name, 2, "x://1"));
    }

    #[test]
    fn the_quietest_listener_decides() {
        let (all, name) = (Interests::default(), lane());
        assert!(all.listen_from(&name, 1, Level::Error));
        assert!(all.listen_from(&name, 2, Level::Debug));
        assert!(!all.listen_from(&name, 1, Level::Warning));
        assert_eq!(all.on_lane(&name).borrow().level, Some(Level::Debug));
        all.forget(2);
        assert_eq!(all.on_lane(&name).borrow().level, Some(Level::Warning));
    }

    #[tokio::test(start_paused = true)]
    async fn who_subscribes_waits_until_it_is_told_of_and_not_for_ever() {
        let (all, name) = (Interests::default(), lane());
        all.subscribe(&name, 1, "x://1");
        let wanted = all.on_lane(&name).borrow().clone();
        let began = tokio::time::Instant::now();
        let told = async { wanted.carried.are(&wanted.resources) };
        tokio::join!(all.until_carried(&name, "x://1"), told);
        assert_eq!(began.elapsed(), Duration::ZERO);
        all.until_carried(&name, "x://2").await;
        assert_eq!(began.elapsed(), PATIENCE);
    }

    #[test]
    fn a_session_that_is_over_leaves_nothing_behind() {
        let (all, name) = (Interests::default(), lane());
        all.subscribe(&name, 1, "x://1");
        all.subscribe(&name, 2, "x://2");
        all.forget(1);
        let wanted = all.on_lane(&name).borrow().clone();
        assert_eq!(wanted.resources, BTreeSet::from(["x://2".to_owned()]));
    }
}
