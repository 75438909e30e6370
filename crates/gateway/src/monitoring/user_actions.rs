//! What the user last did to each upstream through the control API, so that no alert is raised for
//! the effects of the user's own actions.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use evermoor_core::api::UserAction;
use evermoor_platform::clock;

#[derive(Clone, Default)]
pub struct UserActions(Arc<Mutex<BTreeMap<String, UserAction>>>);

impl UserActions {
    /// Records that the user restarts this upstream. Call it before acting, so that it is visible
    /// together with the effects.
    pub fn restarts(&self, upstream: &str) {
        self.note(upstream, true);
    }

    /// Records that the user pauses, resumes, or turns this upstream on or off.
    pub fn turns(&self, upstream: &str) {
        self.note(upstream, false);
    }

    pub fn last(&self, upstream: &str) -> Option<UserAction> {
        self.0.lock().get(upstream).copied()
    }

    fn note(&self, upstream: &str, restarts: bool) {
        let at = clock::unix_millis();
        self.0.lock().insert(upstream.to_owned(), UserAction { at, restarts });
    }
}
