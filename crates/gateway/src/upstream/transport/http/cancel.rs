//! Cancels a call over HTTP when its caller goes away.
//!
//! A stateless server sees that the stream is closed. A server with sessions needs a notification:
//! up to 2025-11-25, disconnecting cancels nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::{Id, Notification};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;

use super::target::{HttpTarget, SessionMode};

/// How long the notification may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Sends `notifications/cancelled` when dropped, unless the call has ended.
pub(super) struct CancelOnDrop {
    target: Arc<HttpTarget>,
    tasks: TaskTracker,
    sent: Id,
    answered: Arc<AtomicBool>,
}

impl CancelOnDrop {
    /// For the call that is sent under this id.
    pub(super) fn new(target: &Arc<HttpTarget>, tasks: &TaskTracker, sent: Id) -> Self {
        let (target, tasks) = (Arc::clone(target), tasks.clone());
        Self { target, tasks, sent, answered: Arc::default() }
    }

    /// A flag to set when the answer has come.
    pub(super) fn answered(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.answered)
    }

    /// The call has ended, so there is nothing to cancel.
    pub(super) fn disarm(self) {
        self.answered.store(true, Ordering::Relaxed);
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let SessionMode::Session { .. } = self.target.mode else { return };
        if self.answered.load(Ordering::Relaxed) {
            return;
        }
        let params = Raw::of(&serde_json::json!({ "requestId": self.sent.raw() }));
        let cancelled = Notification::new(method::CANCELLED, Some(params));
        let target = Arc::clone(&self.target);
        self.tasks.spawn(async move {
            let _ = timeout(LIMIT, target.post(&cancelled.into())).await;
        });
    }
}
