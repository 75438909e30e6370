//! Collects server requests that an upstream sends together, for an editor that receives all of
//! them at once.
//!
//! A session-based upstream does not know the capabilities of the editor at hand and may ask for
//! more. Requests that the editor does not support are declined when it comes back with its other
//! answers, or at once if there are no others.

use std::collections::VecDeque;
use std::time::Duration;

use evermoor_core::protocol::envelope::Request;

use super::ExchangeEvent;
use crate::upstream::ServerRequest;

/// Server requests that arrive this soon after the first are part of its batch.
pub(super) const BATCH_WINDOW: Duration = Duration::from_millis(30);

#[derive(Default)]
pub(super) struct InputBatch {
    pub(super) enabled: bool,
    pub(super) questions: Vec<ServerRequest>,
    /// Those that the editor does not support.
    pub(super) unsupported: Vec<ServerRequest>,
    pub(super) unsupported_request: Option<Request>,
    /// Messages that arrived while the batch was collected.
    pub(super) queued: VecDeque<ExchangeEvent>,
}
