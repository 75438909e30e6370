//! Where a supervisor shows the state of its upstream, and what it is to listen for.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

use evermoor_core::catalog::Catalog;

use evermoor_core::policy::pause::Paused;

use crate::history::recorder::Chronicle;
use crate::upstream::notification_log::Newsroom;
use crate::upstream::subscriptions::Wanted;
use crate::upstream::{Known, Lane, State};

/// Where the state is shown.
pub(crate) struct Board {
    pub(crate) lane: Lane,
    pub(crate) show: watch::Sender<State>,
    pub(crate) changed: Arc<Notify>,
    pub(crate) news: Newsroom,
    /// Where its outages are written down.
    pub(crate) chronicle: Chronicle,
    /// What a person paused.
    pub(crate) paused: watch::Receiver<Paused>,
    /// Whether nothing is to be sent, because the application is being restarted.
    pub(crate) aside: watch::Receiver<bool>,
    /// What editors want to hear of.
    pub(crate) wanted: watch::Receiver<Wanted>,
}

impl Board {
    /// Shows a state.
    pub(crate) fn set(&self, state: State) {
        let new = state.known.clone();
        let old = self.show.send_replace(state).known;
        // What everybody is told is made of all upstreams together; this concerns one editor.
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
        self.show.borrow().known.clone()
    }
}
