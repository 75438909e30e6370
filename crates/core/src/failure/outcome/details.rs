//! The machine-readable details of a call that got no answer from its upstream.

use std::time::Duration;

use serde::Serialize;

use super::{DeliveryStatus, NotSent, UndeliveredCall, Unknown};

/// JSON-RPC's "internal error".
const INTERNAL_ERROR: i32 = -32603;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Details<'a> {
    origin: &'a str,
    outcome: &'a str,
    pub(super) code: i32,
    cause: &'a str,
    last_error: &'a str,
    upstream: &'a str,
    sent: bool,
    executed: &'a str,
    safe_to_retry: bool,
    attempts: u32,
    held_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sent_at: Option<String>,
}

impl UndeliveredCall<'_> {
    pub(super) fn details(&self) -> Details<'_> {
        let (outcome, code, cause, sent_at) = match self.fate {
            DeliveryStatus::NotSent(why) => ("not_sent", why.code(), why.cause(), None),
            DeliveryStatus::Unknown(why @ Unknown::ReplyTooLarge, at) => {
                ("executed", why.code(), why.cause(), Some(at))
            }
            DeliveryStatus::Unknown(why, at) => ("unknown", why.code(), why.cause(), Some(at)),
            DeliveryStatus::Unavailable(at) => {
                ("answered", INTERNAL_ERROR, "service_unavailable", Some(at))
            }
        };
        Details {
            origin: if outcome == "answered" { "upstream" } else { "gateway" },
            outcome,
            code,
            cause,
            last_error: self.detail,
            upstream: self.upstream,
            sent: sent_at.is_some(),
            executed: match self.fate {
                DeliveryStatus::NotSent(_) => "no",
                DeliveryStatus::Unknown(Unknown::ReplyTooLarge, _) => "yes",
                DeliveryStatus::Unknown(_, _) => "unknown",
                DeliveryStatus::Unavailable(_) => "unlikely",
            },
            safe_to_retry: sent_at.is_none()
                && self.fate != DeliveryStatus::NotSent(NotSent::Hidden),
            attempts: self.attempts,
            held_ms: millis(self.held),
            retry_after_ms: self.retry_after.map(millis),
            sent_at: sent_at.map(|at| humantime::format_rfc3339_millis(at).to_string()),
        }
    }
}

impl NotSent {
    fn code(self) -> i32 {
        match self {
            Self::SessionRefused | Self::CrashLooping | Self::Paused => -33001,
            Self::HoldExpired | Self::Slept => -33003,
            Self::QueueFull | Self::TooManyClients | Self::Busy => -33002,
            Self::AuthRequired => -33004,
            Self::Hidden => -33005,
            Self::ShuttingDown => -33007,
        }
    }

    fn cause(self) -> &'static str {
        match self {
            Self::SessionRefused => "session_refused",
            Self::HoldExpired => "hold_expired",
            Self::Slept => "slept",
            Self::CrashLooping => "crash_looping",
            Self::QueueFull => "queue_full",
            Self::TooManyClients => "too_many_clients",
            Self::Busy => "busy",
            Self::AuthRequired => "auth_required",
            Self::Paused => "paused",
            Self::ShuttingDown => "shutting_down",
            Self::Hidden => "hidden",
        }
    }
}

impl Unknown {
    fn code(self) -> i32 {
        match self {
            Self::ConnectionReset | Self::EofBeforeReply | Self::BadGateway => -33010,
            Self::Timeout | Self::Stalled => -33011,
            Self::ReplyTooLarge => -33021,
            Self::GatewayRestarted | Self::UpstreamCrashed => -33012,
            Self::MalformedReply => -33020,
        }
    }

    fn cause(self) -> &'static str {
        match self {
            Self::ConnectionReset => "connection_reset",
            Self::EofBeforeReply => "eof_before_reply",
            Self::BadGateway => "bad_gateway",
            Self::Timeout => "timeout",
            Self::MalformedReply => "malformed_reply",
            Self::ReplyTooLarge => "reply_too_large",
            Self::Stalled => "stalled",
            Self::UpstreamCrashed => "upstream_crashed",
            Self::GatewayRestarted => "gateway_restarted",
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
