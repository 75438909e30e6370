//! What the minder of an application may do to its upstream.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use evermoor_core::failure::Failure;

use crate::upstream::delivery::in_flight::UnderWay;
use crate::upstream::{CHANGE_OVER, Command, Handle, Link, State};

impl Handle {
    pub(crate) fn watch(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    /// The application answers again: now is the time to connect.
    pub(crate) async fn is_there(&self) {
        let _ = self.commands.send(Command::IsThere).await;
    }

    /// The application ended, so the connection is broken. Waits a little until that is shown.
    pub(crate) async fn broke(&self, failure: Failure, patience: Duration) {
        let Link::Ready(ready) = self.state().link else { return };
        let generation = ready.generation;
        let _ = self.commands.send(Command::Broken { generation, failure }).await;
        let mut state = self.state.clone();
        let shown = state.wait_for(|state| !matches!(state.link, Link::Ready(_)));
        let _ = timeout(patience, shown).await;
    }

    /// Waits a little until no new call is sent.
    pub(crate) async fn stepped_aside(&self) {
        let mut state = self.state.clone();
        let aside = state.wait_for(|state| !matches!(state.link, Link::Ready(_)));
        let _ = timeout(CHANGE_OVER, aside).await;
    }

    /// The calls that are under way over each of its connections.
    pub(crate) fn under_way(&self) -> Vec<Arc<UnderWay>> {
        let private = self.privates.as_ref().map(|all| all.handles()).unwrap_or_default();
        let states = private.iter().chain([self]).map(|one| one.state().link);
        let calls = states.filter_map(|link| match link {
            Link::Ready(ready) => Some(Arc::clone(ready.calls())),
            Link::Connecting | Link::Down { .. } | Link::Paused { .. } => None,
        });
        calls.collect()
    }
}
