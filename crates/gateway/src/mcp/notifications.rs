//! An editor listening to the news: what of it is for this editor, and how often.
//!
//! Lists that change are told at most once a second, however many upstreams change at once: an
//! editor that hears of it reads the whole list.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use evermoor_core::protocol::envelope::Notification;
use evermoor_core::protocol::mcp::method;

use crate::upstream::notification_log::{Missed, News, Newsroom};

/// Decides which news are for an editor.
pub(super) trait Ear: Send + Sync {
    fn hears(&self, news: &News) -> bool;

    /// What the editor must look at again when it may have missed something.
    fn everything(&self) -> Vec<Notification>;
}

pub(super) struct Listener<E> {
    room: Newsroom,
    latest: watch::Receiver<u64>,
    ear: E,
    /// The number of the last news that was looked at.
    at: u64,
    ready: VecDeque<(u64, Notification)>,
    /// Changed lists that have not been told yet.
    owed: BTreeMap<String, u64>,
    told_at: Option<Instant>,
}

/// Changed lists are told this often at most.
const PAUSE: Duration = Duration::from_secs(1);

impl<E: Ear> Listener<E> {
    /// Listens from now on.
    pub(super) fn new(room: Newsroom, ear: E) -> Self {
        let latest = room.follow();
        let at = *latest.borrow();
        Self { room, latest, ear, at, ready: VecDeque::new(), owed: BTreeMap::new(), told_at: None }
    }

    /// Listens from where the editor was, or tells it to look at everything again.
    pub(super) fn resume(room: Newsroom, ear: E, at: Option<u64>) -> Self {
        let mut listener = Self::new(room, ear);
        match at.filter(|at| listener.room.after(*at).is_ok()) {
            Some(at) => listener.at = at,
            None => {
                let now = listener.at;
                let all = listener.ear.everything();
                listener.ready = all.into_iter().map(|told| (now, told)).collect();
            }
        }
        listener
    }

    /// The next one, with its number.
    pub(super) async fn next(&mut self) -> Option<(u64, Notification)> {
        loop {
            if let Some(told) = self.ready.pop_front() {
                return Some(told);
            }
            self.read();
            if let Some(told) = self.due() {
                return Some(told);
            }
            if !self.ready.is_empty() {
                continue;
            }
            let due_at = (!self.owed.is_empty()).then_some(self.told_at).flatten();
            tokio::select! {
                changed = self.latest.changed() => changed.ok()?,
                () = async {
                    match due_at {
                        Some(told_at) => sleep_until(told_at + PAUSE).await,
                        None => std::future::pending().await,
                    }
                } => {}
            }
        }
    }

    fn read(&mut self) {
        self.latest.borrow_and_update();
        match self.room.after(self.at) {
            Ok(news) => {
                for one in news {
                    self.at = one.number;
                    if !self.ear.hears(&one) {
                        continue;
                    }
                    if one.is_of_lists() {
                        self.owed.insert(one.told.method.clone(), one.number);
                    } else {
                        self.ready.push_back((one.number, one.told.clone()));
                    }
                }
            }
            // So much happened that the log is already past it.
            Err(Missed) => {
                self.at = *self.latest.borrow();
                let now = self.at;
                self.ready.extend(self.ear.everything().into_iter().map(|told| (now, told)));
            }
        }
    }

    /// A changed list that may be told now.
    fn due(&mut self) -> Option<(u64, Notification)> {
        let now = Instant::now();
        if self.owed.is_empty() || self.told_at.is_some_and(|at| now < at + PAUSE) {
            return None;
        }
        self.told_at = Some(now);
        let owed = std::mem::take(&mut self.owed);
        let told = owed.into_iter().map(|(method, at)| (at, Notification::new(&method, None)));
        self.ready.extend(told);
        self.ready.pop_front()
    }
}

/// The notifications by which an editor reads every list again.
pub(super) fn all_lists() -> Vec<Notification> {
    ["tools", "prompts", "resources"]
        .map(|list| Notification::new(&format!("notifications/{list}/list_changed"), None))
        .to_vec()
}

/// The resource that an update is about.
pub(super) fn updated(told: &Notification) -> Option<String> {
    let is_update = told.method == method::RESOURCE_UPDATED;
    is_update.then(|| told.params.as_ref()?.text_member("uri")).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::Lane;
    use evermoor_core::catalog::naming::UpstreamName;

    struct All;

    impl Ear for All {
        fn hears(&self, _: &News) -> bool {
            true
        }

        fn everything(&self) -> Vec<Notification> {
            all_lists()
        }
    }

    fn publish(room: &Newsroom, method: &str) {
        let lane = Lane::shared(&UpstreamName::parse("a").unwrap());
        room.publish(&lane, Notification::new(method, None));
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_keeps_changing_is_told_once_a_second() {
        let room = Newsroom::default();
        let mut listener = Listener::new(room.clone(), All);
        let began = Instant::now();
        publish(&room, "notifications/tools/list_changed");
        assert_eq!(listener.next().await.unwrap().0, 1);
        for _ in 0..300 {
            publish(&room, "notifications/tools/list_changed");
        }
        assert_eq!(listener.next().await.unwrap().0, 301);
        assert_eq!(began.elapsed(), PAUSE);
        publish(&room, "notifications/message");
        assert_eq!(listener.next().await.unwrap().1.method, "notifications/message");
        assert_eq!(began.elapsed(), PAUSE, "other news do not wait");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_comes_back_hears_what_it_missed_or_looks_at_everything() {
        let room = Newsroom::default();
        publish(&room, "notifications/message");
        publish(&room, "notifications/message");
        let mut back = Listener::resume(room.clone(), All, Some(1));
        assert_eq!(back.next().await.unwrap().0, 2);
        let mut stranger = Listener::resume(room, All, None);
        for wanted in all_lists() {
            assert_eq!(stranger.next().await.unwrap().1, wanted);
        }
    }
}
