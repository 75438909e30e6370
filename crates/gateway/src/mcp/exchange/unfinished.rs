//! The answer to a call that the gateway cannot complete.

use std::time::Duration;

use evermoor_core::failure::outcome::{Answer, DeliveryStatus, UndeliveredCall};
use evermoor_core::protocol::event_id::CallRef;

/// Says what is known of the call's delivery, and why it ended.
pub(crate) fn answer(call: &CallRef, fate: DeliveryStatus, detail: &str) -> Answer {
    let undelivered = UndeliveredCall {
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
    Answer::undelivered(&undelivered, call.id.clone())
}
