//! Where a supervisor shows the state of its upstream, and what it is to listen for.

use std::sync::Arc;

use tokio::sync::{Notify, watch};

use super::{Known, State};
use crate::interests::Wanted;
use crate::news::Newsroom;

/// Where the state is shown.
pub(super) struct Board {
    pub(super) show: watch::Sender<State>,
    pub(super) changed: Arc<Notify>,
    pub(super) news: Newsroom,
    /// What editors want to hear of.
    pub(super) wanted: watch::Receiver<Wanted>,
}

impl Board {
    /// Shows a state.
    pub(super) fn set(&self, state: State) {
        self.show.send_replace(state);
        self.changed.notify_one();
    }

    pub(super) fn known(&self) -> Option<Arc<Known>> {
        self.show.borrow().known.clone()
    }
}
