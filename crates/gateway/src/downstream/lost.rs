//! The gateway's own answer to a call that it cannot bring to its end.

use std::time::Duration;

use evermoor_core::envelope::Response;
use evermoor_core::event_id::Call;
use evermoor_core::outcome::{Fate, Undelivered};

/// Says what is known of a call, and what was seen.
pub(super) fn answer(call: &Call, fate: Fate, detail: &str) -> Response {
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
