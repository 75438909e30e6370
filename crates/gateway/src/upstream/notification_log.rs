//! News: what upstreams say to nobody in particular, kept for a while for whoever listens.
//!
//! One log serves all editors, numbered from one. An editor that listens reads on from the number
//! it has; one whose stream broke says where it was and misses nothing. An editor that was away
//! for longer than the log reaches is told to look again, which is all that news ever says.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use evermoor_core::catalog::audience::{Audience, Changed};
use evermoor_core::catalog::{Catalog, List};
use evermoor_core::protocol::envelope::Notification;

use crate::upstream::Lane;

/// Where news is published and read.
#[derive(Clone)]
pub struct Newsroom(Arc<Room>);

struct Room {
    log: Mutex<VecDeque<Arc<News>>>,
    latest: watch::Sender<u64>,
}

/// Something that an upstream said, or that is to be said of it.
#[derive(Debug)]
pub struct News {
    pub number: u64,
    pub lane: Lane,
    pub told: Notification,
    /// Whom it concerns.
    pub audience: Audience,
}

/// The log does not reach back that far.
#[derive(Debug, PartialEq, Eq)]
pub struct Missed;

/// How many news are kept, and how many bytes of them.
const MOST: usize = 512;
const MOST_BYTES: usize = 1 << 20;

impl Default for Newsroom {
    fn default() -> Self {
        Self(Arc::new(Room { log: Mutex::default(), latest: watch::Sender::new(0) }))
    }
}

impl Newsroom {
    /// What an upstream said to everybody who sees it.
    pub fn publish(&self, lane: &Lane, told: Notification) {
        self.append(lane.clone(), told, Audience::Everybody);
    }

    /// A list that is another one than before.
    pub fn list_changed(&self, changed: Changed) {
        let told = Notification::new(changed.told, None);
        self.append(Lane::shared(&changed.upstream), told, changed.audience);
    }

    fn append(&self, lane: Lane, told: Notification, audience: Audience) {
        let mut log = self.0.log.lock();
        let number = *self.0.latest.borrow() + 1;
        log.push_back(Arc::new(News { number, lane, told, audience }));
        let mut bytes: usize = log.iter().map(|news| news.size()).sum();
        while log.len() > MOST || (bytes > MOST_BYTES && log.len() > 1) {
            bytes -= log.pop_front().map_or(0, |oldest| oldest.size());
        }
        self.0.latest.send_replace(number);
    }

    /// Says on an editor's own lane which lists differ between what was offered there and what is.
    pub fn lists_changed(&self, lane: &Lane, old: &Catalog, new: &Catalog) {
        let mut told: Vec<&str> = List::ALL
            .into_iter()
            .filter(|list| old.list(*list) != new.list(*list))
            .map(List::changed)
            .collect();
        told.dedup();
        for method in told {
            self.publish(lane, Notification::new(method, None));
        }
    }

    /// The number of the latest, and every later one.
    pub fn follow(&self) -> watch::Receiver<u64> {
        self.0.latest.subscribe()
    }

    /// All that came after `number`.
    pub fn after(&self, number: u64) -> Result<Vec<Arc<News>>, Missed> {
        let log = self.0.log.lock();
        let first = log.front().map_or(*self.0.latest.borrow() + 1, |news| news.number);
        if number + 1 < first || number > *self.0.latest.borrow() {
            return Err(Missed);
        }
        Ok(log.iter().filter(|news| news.number > number).cloned().collect())
    }
}

impl News {
    /// Whether it says that a list is another one than before.
    pub fn is_of_lists(&self) -> bool {
        self.told.method.ends_with("/list_changed")
    }

    fn size(&self) -> usize {
        self.told.params.as_ref().map_or(0, |params| params.as_bytes().len()) + 128
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::catalog::naming::UpstreamName;
    use evermoor_core::protocol::json::Raw;

    fn lane() -> Lane {
        Lane::shared(&UpstreamName::parse("a").unwrap())
    }

    fn publish(room: &Newsroom, count: usize) {
        for _ in 0..count {
            room.publish(&lane(), Notification::new("notifications/x", None));
        }
    }

    #[test]
    fn whoever_says_where_they_were_misses_nothing() {
        let room = Newsroom::default();
        publish(&room, 5);
        let numbers: Vec<u64> = room.after(2).unwrap().iter().map(|news| news.number).collect();
        assert_eq!(numbers, [3, 4, 5]);
        assert!(room.after(5).unwrap().is_empty());
    }

    #[test]
    fn whoever_was_away_for_too_long_or_elsewhere_is_told_so() {
        let room = Newsroom::default();
        publish(&room, MOST + 10);
        assert_eq!(room.after(3).unwrap_err(), Missed);
        assert!(room.after(10).is_ok());
        assert_eq!(room.after(u64::MAX - 1).unwrap_err(), Missed);
    }

    #[test]
    fn the_log_is_bounded_in_bytes() {
        let room = Newsroom::default();
        let large = Raw::of(&"x".repeat(MOST_BYTES / 2));
        for _ in 0..8 {
            room.publish(&lane(), Notification::new("n", Some(large.clone())));
        }
        assert!(room.0.log.lock().len() <= 2);
        assert!(room.after(7).is_ok());
    }

    #[test]
    fn only_lists_that_differ_are_news_and_templates_are_resources() {
        let room = Newsroom::default();
        let old = Catalog { tools: vec![Raw::of("a")], ..Catalog::default() };
        let resources =
            Catalog { resources: vec![Raw::of("r")], templates: vec![Raw::of("t")], ..old.clone() };
        room.lists_changed(&lane(), &old, &old.clone());
        assert!(room.after(0).unwrap().is_empty());
        room.lists_changed(&lane(), &old, &resources);
        let told = room.after(0).unwrap();
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].told.method, "notifications/resources/list_changed");
    }
}
