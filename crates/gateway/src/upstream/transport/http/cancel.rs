//! A call over HTTP that nobody wants answered any more.
//!
//! A server without sessions sees it by the stream that is closed. One with sessions must be told:
//! up to 2025-11-25, hanging up cancels nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::{Id, Notification};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;

use super::target::{Era, Line};

/// A server that does not take it by then does not read at all.
const LIMIT: Duration = Duration::from_secs(5);

/// Tells the server when it is dropped, unless the answer came before.
pub(super) struct Unwanted {
    line: Arc<Line>,
    tasks: TaskTracker,
    sent: Id,
    answered: Arc<AtomicBool>,
}

impl Unwanted {
    /// Watches over the call that is sent under this id.
    pub(super) fn new(line: &Arc<Line>, tasks: &TaskTracker, sent: Id) -> Self {
        let (line, tasks) = (Arc::clone(line), tasks.clone());
        Self { line, tasks, sent, answered: Arc::default() }
    }

    /// Set as soon as there is nothing left to cancel.
    pub(super) fn answered(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.answered)
    }

    /// There is nothing left to cancel.
    pub(super) fn forget(self) {
        self.answered.store(true, Ordering::Relaxed);
    }
}

impl Drop for Unwanted {
    fn drop(&mut self) {
        let Era::Session { .. } = self.line.era else { return };
        if self.answered.load(Ordering::Relaxed) {
            return;
        }
        let params = Raw::of(&serde_json::json!({ "requestId": self.sent.raw() }));
        let cancelled = Notification::new(method::CANCELLED, Some(params));
        let line = Arc::clone(&self.line);
        self.tasks.spawn(async move {
            let _ = timeout(LIMIT, line.post(&cancelled.into())).await;
        });
    }
}
