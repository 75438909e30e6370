//! Connections of editors' own, to an upstream that is not to be shared.
//!
//! # Theory of operation
//! The shared connection stays: it is how the upstream is watched and its lists are known. Besides
//! it, each session (or each editor that has no sessions) gets a whole upstream to itself when it
//! first calls, with a supervisor, a connection and subscriptions of its own. One that is not used
//! for a while, and listens to nothing, is closed; the next call makes it anew.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use evermoor_core::config::{self, Sharing};

use super::{Handle, Known, Lane, Link, Owner, Surroundings};
use crate::history::History;

pub(super) struct Privates {
    around: Surroundings,
    stop: CancellationToken,
    table: Mutex<HashMap<Owner, Private>>,
}

struct Private {
    handle: Handle,
    stop: CancellationToken,
    used: Instant,
}

/// A connection that nobody has used for this long is closed.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// How often that is looked at.
const LOOK: Duration = Duration::from_secs(60);

impl Handle {
    /// The upstream as `owner` may use it: shared with others, or to itself.
    pub fn used_by(&self, owner: &Owner) -> Self {
        match (&self.privates, self.config.sharing) {
            (Some(privates), Sharing::PerClient) => privates.handle(self, owner),
            (None, _) | (_, Sharing::Shared) => self.clone(),
        }
    }

    /// `owner` is gone for good.
    pub fn release(&self, owner: &Owner) {
        if let Some(privates) = &self.privates {
            privates.release(owner);
        }
    }
}

impl Privates {
    pub(super) fn new(around: Surroundings, stop: CancellationToken) -> Self {
        // What is written down of an upstream is about the connection that all share.
        let around = Surroundings { history: History::nowhere(), ..around };
        Self { around, stop, table: Mutex::default() }
    }

    /// The upstream as `owner` has it to itself.
    pub(super) fn handle(self: &Arc<Self>, shared: &Handle, owner: &Owner) -> Handle {
        let mut table = self.table.lock();
        if table.is_empty() {
            let tidy = Arc::clone(self).tidy();
            self.around.tasks.spawn(self.stop.clone().run_until_cancelled_owned(tidy));
        }
        let private = table.entry(owner.clone()).or_insert_with(|| {
            let stop = self.stop.child_token();
            let lane = Lane { upstream: shared.name().clone(), owner: Some(owner.clone()) };
            let (config, known) = ((*shared.config).clone(), shared.state().known);
            tracing::info!(upstream = %shared.name(), "an editor gets a connection of its own");
            let handle = Handle::on_lane(lane, config, known, &self.around, stop.clone());
            Private { handle, stop, used: Instant::now() }
        });
        private.used = Instant::now();
        private.handle.clone()
    }

    /// Its owner is gone.
    pub(super) fn release(&self, owner: &Owner) {
        if let Some(private) = self.table.lock().remove(owner) {
            private.stop.cancel();
        }
    }

    pub(super) async fn restart(&self) {
        for handle in self.handles() {
            Box::pin(handle.restart()).await;
        }
    }

    /// Follows the entry in the configuration.
    pub(super) async fn configure(&self, config: &config::Upstream, known: Option<&Arc<Known>>) {
        if config.sharing == Sharing::Shared {
            for (_, private) in self.table.lock().drain() {
                private.stop.cancel();
            }
        }
        for handle in self.handles() {
            let Some(owner) = &handle.lane.owner else { continue };
            let altered = Box::pin(handle.configure(config.clone(), known.cloned())).await;
            if let Some(private) = self.table.lock().get_mut(owner) {
                private.handle = altered;
            }
        }
    }

    pub(super) fn handles(&self) -> Vec<Handle> {
        self.table.lock().values().map(|private| private.handle.clone()).collect()
    }

    /// Closes what nobody uses, until there is nothing left to close.
    async fn tidy(self: Arc<Self>) {
        loop {
            sleep(LOOK).await;
            let mut table = self.table.lock();
            table.retain(|_, private| {
                let wanted = private.used.elapsed() < IDLE || private.is_needed(&self.around);
                if !wanted {
                    private.stop.cancel();
                }
                wanted
            });
            if table.is_empty() {
                return;
            }
        }
    }
}

impl Private {
    /// Whether a call is under way, or somebody listens.
    fn is_needed(&self, around: &Surroundings) -> bool {
        let busy = match &self.handle.state.borrow().link {
            Link::Ready(ready) => ready.in_flight() > 0,
            Link::Connecting | Link::Down { .. } | Link::Paused { .. } => {
                *self.handle.held.borrow() > 0
            }
        };
        busy || !around.interests.on_lane(&self.handle.lane).borrow().resources.is_empty()
    }
}
