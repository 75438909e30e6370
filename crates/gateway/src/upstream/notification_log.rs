//! Notifications of upstreams that belong to no call, kept for a while for the editors that listen.
//!
//! One numbered log serves all editors. An editor reads on from the last number it has seen, so it
//! misses nothing when its stream breaks and it resumes. If the log no longer reaches back that far,
//! the editor is told to read its lists again, which is what the lost entries would have said.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use evermoor_core::catalog::list_changes::{ListChange, Recipients};
use evermoor_core::catalog::{Catalog, ListKind};
use evermoor_core::protocol::envelope::Notification;

use crate::upstream::ConnectionScope;

/// A log of notifications that many editors read.
#[derive(Clone)]
pub struct NotificationLog(Arc<SharedLog>);

struct SharedLog {
    entries: Mutex<VecDeque<Arc<LoggedNotification>>>,
    /// The number of the newest entry.
    latest: watch::Sender<u64>,
}

/// A notification from an upstream, or from Evermoor about its lists.
#[derive(Debug)]
pub struct LoggedNotification {
    pub number: u64,
    pub scope: ConnectionScope,
    pub notification: Notification,
    /// Which editors may see it.
    pub audience: Recipients,
}

/// The requested entries are no longer in the log.
#[derive(Debug, PartialEq, Eq)]
pub struct EntriesExpired;

/// How many entries are kept, and how many bytes.
const MAX_ENTRIES: usize = 512;
const MAX_BYTES: usize = 1 << 20;
/// A larger notification is dropped: every stream would have a copy of it.
const LARGEST: usize = 64 << 10;

impl Default for NotificationLog {
    fn default() -> Self {
        Self(Arc::new(SharedLog { entries: Mutex::default(), latest: watch::Sender::new(0) }))
    }
}

impl NotificationLog {
    /// Appends a notification for every editor that sees the upstream.
    pub fn publish(&self, scope: &ConnectionScope, notification: Notification) {
        self.append(scope.clone(), notification, Recipients::Everybody);
    }

    /// Appends a `list_changed` notification for the editors whose list changed.
    pub fn list_changed(&self, changed: ListChange) {
        let notification = Notification::new(changed.notification, None);
        self.append(ConnectionScope::shared(&changed.upstream), notification, changed.audience);
    }

    fn append(&self, scope: ConnectionScope, notification: Notification, audience: Recipients) {
        if notification.params.as_ref().is_some_and(|params| params.as_bytes().len() > LARGEST) {
            tracing::debug!(upstream = %scope.upstream, "dropped a notification that is too large");
            return;
        }
        let mut entries = self.0.entries.lock();
        let number = *self.0.latest.borrow() + 1;
        entries.push_back(Arc::new(LoggedNotification { number, scope, notification, audience }));
        let mut bytes: usize = entries.iter().map(|entry| entry.size()).sum();
        while entries.len() > MAX_ENTRIES || bytes > MAX_BYTES {
            bytes -= entries.pop_front().map_or(0, |oldest| oldest.size());
        }
        self.0.latest.send_replace(number);
    }

    /// Appends a notification for each list that differs, in the scope of one editor.
    pub fn lists_changed(&self, scope: &ConnectionScope, old: &Catalog, new: &Catalog) {
        let mut methods: Vec<&str> = ListKind::ALL
            .into_iter()
            .filter(|list| old.list(*list) != new.list(*list))
            .map(ListKind::changed)
            .collect();
        methods.dedup();
        for method in methods {
            self.publish(scope, Notification::new(method, None));
        }
    }

    /// Watches the number of the newest entry.
    pub fn follow(&self) -> watch::Receiver<u64> {
        self.0.latest.subscribe()
    }

    /// All entries after `number`.
    pub fn after(&self, number: u64) -> Result<Vec<Arc<LoggedNotification>>, EntriesExpired> {
        let entries = self.0.entries.lock();
        let first = entries.front().map_or(*self.0.latest.borrow() + 1, |entry| entry.number);
        if number + 1 < first || number > *self.0.latest.borrow() {
            return Err(EntriesExpired);
        }
        Ok(entries.iter().filter(|entry| entry.number > number).cloned().collect())
    }
}

impl LoggedNotification {
    /// Whether it says that a list changed.
    pub fn is_list_change(&self) -> bool {
        self.notification.method.ends_with("/list_changed")
    }

    fn size(&self) -> usize {
        self.notification.params.as_ref().map_or(0, |params| params.as_bytes().len()) + 128
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_core::catalog::naming::UpstreamName;
    use evermoor_core::protocol::json::Raw;

    fn scope() -> ConnectionScope {
        ConnectionScope::shared(&UpstreamName::parse("a").unwrap())
    }

    fn publish(log: &NotificationLog, count: usize) {
        for _ in 0..count {
            log.publish(&scope(), Notification::new("notifications/x", None));
        }
    }

    #[test]
    fn a_reader_that_resumes_misses_nothing() {
        let log = NotificationLog::default();
        publish(&log, 5);
        let numbers: Vec<u64> = log.after(2).unwrap().iter().map(|entry| entry.number).collect();
        assert_eq!(numbers, [3, 4, 5]);
        assert!(log.after(5).unwrap().is_empty());
    }

    #[test]
    fn a_number_that_is_too_old_or_unknown_is_an_error() {
        let log = NotificationLog::default();
        publish(&log, MAX_ENTRIES + 10);
        assert_eq!(log.after(3).unwrap_err(), EntriesExpired);
        assert!(log.after(10).is_ok());
        assert_eq!(log.after(u64::MAX - 1).unwrap_err(), EntriesExpired);
    }

    #[test]
    fn the_log_is_bounded_in_bytes() {
        let log = NotificationLog::default();
        let large = Raw::of(&"x".repeat(LARGEST / 2));
        for _ in 0..100 {
            log.publish(&scope(), Notification::new("n", Some(large.clone())));
        }
        assert!(log.0.entries.lock().len() <= 2 * MAX_BYTES / LARGEST);
        assert!(log.after(99).is_ok());
        let huge = Raw::of(&"x".repeat(LARGEST));
        log.publish(&scope(), Notification::new("n", Some(huge)));
        assert!(log.after(100).unwrap().is_empty(), "it is dropped");
    }

    #[test]
    fn only_lists_that_differ_are_published_and_templates_count_as_resources() {
        let log = NotificationLog::default();
        let old = Catalog { tools: vec![Raw::of("a")], ..Catalog::default() };
        let resources =
            Catalog { resources: vec![Raw::of("r")], templates: vec![Raw::of("t")], ..old.clone() };
        log.lists_changed(&scope(), &old, &old.clone());
        assert!(log.after(0).unwrap().is_empty());
        log.lists_changed(&scope(), &old, &resources);
        let published = log.after(0).unwrap();
        assert_eq!(published.len(), 1);
        assert_eq!(published[0].notification.method, "notifications/resources/list_changed");
    }
}
