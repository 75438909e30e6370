//! The answer to a call that the gateway cannot complete.

use std::time::Duration;

use evermoor_core::failure::outcome::{Fate, Undelivered};
use evermoor_core::protocol::envelope::Response;
use evermoor_core::protocol::event_id::Call;

/// Says what is known of the call's delivery, and why it ended.
pub(crate) fn answer(call: &Call, fate: Fate, detail: &str) -> Response {
    let undelivered = Undelivered {
        subject: &call.subject,
        is_tool: call.is_tool,
        upstream: "evermoor",
        title: "Evermoor",
        fate,
        detail,
        attempts: 1,
        held: Duration::ZERO,
        retry_after: None,
    };
    undelivered.answer(call.id.clone())
}
