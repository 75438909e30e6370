//! What a supervisor publishes about its upstream, and the watches it reacts to.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

use evermoor_core::catalog::Catalog;
use evermoor_core::policy::pause::Paused;

use crate::history::recorder::Chronicle;
use crate::upstream::notification_log::Newsroom;
use crate::upstream::subscriptions::SubscriptionSet;
use crate::upstream::{Known, Lane, State};

pub(crate) struct PublishedState {
    pub(crate) lane: Lane,
    pub(crate) state: watch::Sender<State>,
    /// Notified of every change of state.
    pub(crate) changed: Arc<Notify>,
    pub(crate) news: Newsroom,
    /// Records its outages.
    pub(crate) incidents: Chronicle,
    /// Which upstreams the user paused.
    pub(crate) paused: watch::Receiver<Paused>,
    /// True while the application is being restarted and nothing may be sent to it.
    pub(crate) app_restarting: watch::Receiver<bool>,
    /// What editors subscribe to.
    pub(crate) wanted: watch::Receiver<SubscriptionSet>,
}

impl PublishedState {
    pub(crate) fn set(&self, state: State) {
        let new = state.known.clone();
        let old = self.state.send_replace(state).known;
        // List changes of shared connections are published for all upstreams together, by the
        // status task. Here they concern the one editor that owns the connection.
        if let (Some(_), Some(new)) = (&self.lane.owner, new)
            && old.as_ref().is_none_or(|old| !Arc::ptr_eq(old, &new))
        {
            let nothing = Catalog::default();
            let before = old.as_ref().map_or(&nothing, |old| &old.catalog);
            self.news.lists_changed(&self.lane, before, &new.catalog);
        }
        self.changed.notify_one();
    }

    pub(crate) fn known(&self) -> Option<Arc<Known>> {
        self.state.borrow().known.clone()
    }
}
