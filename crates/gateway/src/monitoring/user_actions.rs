//! When the user last paused, resumed or turned each upstream on or off, so that no alert is raised
//! for the effects of the user's own actions. Restarts that the user requests are in the desired
//! state of the upstream.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use evermoor_core::api::UserAction;
use evermoor_platform::clock;

#[derive(Clone, Default)]
pub struct UserActions(Arc<Mutex<BTreeMap<String, u64>>>);

impl UserActions {
    /// Records that the user pauses, resumes, or turns this upstream on or off. Call it before
    /// acting, so that it is visible together with the effects.
    pub fn turns(&self, upstream: &str) {
        self.0.lock().insert(upstream.to_owned(), clock::unix_millis());
    }

    /// The last action of the user on an upstream, the last restart of which was requested at
    /// `restarted`.
    pub fn last(&self, upstream: &str, restarted: Option<u64>) -> Option<UserAction> {
        let turned = self.0.lock().get(upstream).copied();
        let turned = turned.map(|at| UserAction { at, restarts: false });
        let restarted = restarted.map(|at| UserAction { at, restarts: true });
        restarted.into_iter().chain(turned).max_by_key(|action| action.at)
    }
}
