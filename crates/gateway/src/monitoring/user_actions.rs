//! What people last did to upstreams through the control API. Whoever tells people of trouble keeps
//! quiet about what they do themselves, wherever they do it.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use evermoor_core::api::Touched;
use evermoor_platform::clock;

#[derive(Clone, Default)]
pub struct Touches(Arc<Mutex<BTreeMap<String, Touched>>>);

impl Touches {
    /// A person wants this upstream back. Said before anything is done, so that whoever sees what comes
    /// of it sees this too.
    pub fn restarts(&self, upstream: &str) {
        self.note(upstream, true);
    }

    /// A person pauses, resumes or turns this upstream.
    pub fn turns(&self, upstream: &str) {
        self.note(upstream, false);
    }

    pub fn last(&self, upstream: &str) -> Option<Touched> {
        self.0.lock().get(upstream).copied()
    }

    fn note(&self, upstream: &str, restarts: bool) {
        let at = clock::unix_millis();
        self.0.lock().insert(upstream.to_owned(), Touched { at, restarts });
    }
}
