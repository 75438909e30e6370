//! Reads the notification log for one editor: only what it may see and subscribed to.
//! `list_changed` notifications are sent at most once a second, however many upstreams change at
//! once, because the editor reads the whole list after each.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use evermoor_core::protocol::envelope::Notification;
use evermoor_core::protocol::mcp::method;

use crate::upstream::notification_log::{EntriesExpired, LoggedNotification, NotificationLog};

/// Decides which notifications an editor receives.
pub(super) trait NotificationFilter: Send + Sync {
    fn accepts(&self, published: &LoggedNotification) -> bool;

    /// The notifications that make an editor read everything again, for when it may have missed
    /// some.
    fn resync(&self) -> Vec<Notification>;
}

pub(super) struct NotificationReader<E> {
    log: NotificationLog,
    latest: watch::Receiver<u64>,
    filter: E,
    /// The number of the last notification that was read from the log.
    at: u64,
    ready: VecDeque<(u64, Notification)>,
    /// `list_changed` notifications that are still to be sent.
    pending_lists: BTreeMap<String, u64>,
    sent_at: Option<Instant>,
}

/// `list_changed` notifications are at least this far apart.
const LIST_CHANGED_INTERVAL: Duration = Duration::from_secs(1);

impl<E: NotificationFilter> NotificationReader<E> {
    /// Reads what is published from now on.
    pub(super) fn new(log: NotificationLog, filter: E) -> Self {
        let latest = log.follow();
        let at = *latest.borrow();
        Self {
            log,
            latest,
            filter,
            at,
            ready: VecDeque::new(),
            pending_lists: BTreeMap::new(),
            sent_at: None,
        }
    }

    /// Continues after notification `at`. If the log no longer reaches back that far, the editor
    /// reads everything again.
    pub(super) fn resume(log: NotificationLog, filter: E, at: Option<u64>) -> Self {
        let mut reader = Self::new(log, filter);
        match at.filter(|at| reader.log.after(*at).is_ok()) {
            Some(at) => reader.at = at,
            None => {
                let now = reader.at;
                let all = reader.filter.resync();
                reader.ready = all.into_iter().map(|notification| (now, notification)).collect();
            }
        }
        reader
    }

    /// The next notification, with its number.
    pub(super) async fn next(&mut self) -> Option<(u64, Notification)> {
        loop {
            if let Some(notification) = self.ready.pop_front() {
                return Some(notification);
            }
            self.read();
            if let Some(notification) = self.due() {
                return Some(notification);
            }
            if !self.ready.is_empty() {
                continue;
            }
            let due_at = (!self.pending_lists.is_empty()).then_some(self.sent_at).flatten();
            tokio::select! {
                changed = self.latest.changed() => changed.ok()?,
                () = async {
                    match due_at {
                        Some(sent_at) => sleep_until(sent_at + LIST_CHANGED_INTERVAL).await,
                        None => std::future::pending().await,
                    }
                } => {}
            }
        }
    }

    fn read(&mut self) {
        self.latest.borrow_and_update();
        match self.log.after(self.at) {
            Ok(published) => {
                for one in published {
                    self.at = one.number;
                    if !self.filter.accepts(&one) {
                        continue;
                    }
                    if one.is_list_change() {
                        self.pending_lists.insert(one.notification.method.clone(), one.number);
                    } else {
                        self.ready.push_back((one.number, one.notification.clone()));
                    }
                }
            }
            // The log has already dropped what comes next.
            Err(EntriesExpired) => {
                self.at = *self.latest.borrow();
                let now = self.at;
                self.ready.extend(
                    self.filter.resync().into_iter().map(|notification| (now, notification)),
                );
            }
        }
    }

    /// A `list_changed` notification, if one may be sent now.
    fn due(&mut self) -> Option<(u64, Notification)> {
        let now = Instant::now();
        if self.pending_lists.is_empty()
            || self.sent_at.is_some_and(|at| now < at + LIST_CHANGED_INTERVAL)
        {
            return None;
        }
        self.sent_at = Some(now);
        let pending_lists = std::mem::take(&mut self.pending_lists);
        let notification =
            pending_lists.into_iter().map(|(method, at)| (at, Notification::new(&method, None)));
        self.ready.extend(notification);
        self.ready.pop_front()
    }
}

/// Notifications that make an editor read every list again.
pub(super) fn every_list_changed() -> Vec<Notification> {
    ["tools", "prompts", "resources"]
        .map(|list| Notification::new(&format!("notifications/{list}/list_changed"), None))
        .to_vec()
}

/// The resource that a `resources/updated` notification is about.
pub(super) fn updated_resource(notification: &Notification) -> Option<String> {
    let is_update = notification.method == method::RESOURCE_UPDATED;
    is_update.then(|| notification.params.as_ref()?.text_member("uri")).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::ConnectionScope;
    use evermoor_core::catalog::naming::UpstreamName;

    struct All;

    impl NotificationFilter for All {
        fn accepts(&self, _: &LoggedNotification) -> bool {
            true
        }

        fn resync(&self) -> Vec<Notification> {
            every_list_changed()
        }
    }

    fn publish(log: &NotificationLog, method: &str) {
        let scope = ConnectionScope::shared(&UpstreamName::parse("a").unwrap());
        log.publish(&scope, Notification::new(method, None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_keeps_changing_is_announced_once_a_second() {
        let log = NotificationLog::default();
        let mut reader = NotificationReader::new(log.clone(), All);
        let began = Instant::now();
        publish(&log, "notifications/tools/list_changed");
        assert_eq!(reader.next().await.unwrap().0, 1);
        for _ in 0..300 {
            publish(&log, "notifications/tools/list_changed");
        }
        assert_eq!(reader.next().await.unwrap().0, 301);
        assert_eq!(began.elapsed(), LIST_CHANGED_INTERVAL);
        publish(&log, "notifications/message");
        assert_eq!(reader.next().await.unwrap().1.method, "notifications/message");
        assert_eq!(began.elapsed(), LIST_CHANGED_INTERVAL, "other notifications do not wait");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_resumes_gets_what_it_missed_or_reads_everything_again() {
        let log = NotificationLog::default();
        publish(&log, "notifications/message");
        publish(&log, "notifications/message");
        let mut back = NotificationReader::resume(log.clone(), All, Some(1));
        assert_eq!(back.next().await.unwrap().0, 2);
        let mut stranger = NotificationReader::resume(log, All, None);
        for wanted in every_list_changed() {
            assert_eq!(stranger.next().await.unwrap().1, wanted);
        }
    }
}
