//! The answer to a call that the gateway cannot complete.

use std::time::Duration;

use evermoor_core::failure::outcome::{Answer, DeliveryStatus, UndeliveredCall, Unknown};
use evermoor_core::protocol::event_id::CallRef;
use evermoor_platform::clock;

/// Says what is known of the call's delivery, and why it ended.
pub(crate) fn answer(call: &CallRef, fate: DeliveryStatus, detail: &str) -> Answer {
    answer_for(call, ("evermoor", "Evermoor"), fate, detail)
}

/// Says that the answer of the gateway was discarded, because its editor has no room for it.
pub(crate) fn discarded(call: &CallRef, detail: &str) -> Answer {
    answer(call, DeliveryStatus::Unknown(Unknown::ReplyTooLarge, clock::now()), detail)
}

/// The same for a call to an upstream with this name and title.
pub(crate) fn answer_for(
    call: &CallRef,
    (upstream, title): (&str, &str),
    fate: DeliveryStatus,
    detail: &str,
) -> Answer {
    let undelivered = UndeliveredCall {
        subject: &call.subject,
        is_tool: call.is_tool,
        upstream,
        title,
        fate,
        detail,
        attempts: 1,
        held: Duration::ZERO,
        retry_after: None,
    };
    Answer::undelivered(&undelivered, call.id.clone())
}
