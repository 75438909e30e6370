//! What all ways into the endpoint share.

use axum::response::{IntoResponse as _, Response as HttpResponse};
use http::{HeaderMap, StatusCode, header};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::{INVALID_REQUEST, Response};

use super::session::table::Sessions;
use super::stateless::pending_input::Continuations;
use super::tasks::finished::Finished;
use super::tasks::parked::Parked;
use crate::lifecycle::predecessor::Predecessor;
use crate::monitoring::activity::Activity;
use crate::monitoring::clients::Attendance;
use crate::routing::router::Router;
use crate::upstream::notification_log::Newsroom;
use crate::upstream::subscriptions::Interests;

/// What the endpoint needs to answer.
pub struct Endpoint {
    pub router: Router,
    pub sessions: Sessions,
    pub interests: Interests,
    pub news: Newsroom,
    /// The calls that are answered here.
    pub activity: Activity,
    /// Those who are here.
    pub attendance: Attendance,
    /// Tells this life of the gateway from others.
    pub edition: String,
    pub continuations: Continuations,
    pub finished: Finished,
    pub parked: Parked,
    /// Calls that go on whoever listens.
    pub tasks: TaskTracker,
    /// Cancelled when another gateway serves, or none.
    pub moved: CancellationToken,
    /// Cancelled when calls under way are not waited for any longer.
    pub given_up: CancellationToken,
    /// The gateway that this one took over from, while it has calls under way.
    pub predecessor: Predecessor,
}

/// The largest message an editor may send.
pub const LARGEST_REQUEST: usize = 4 << 20;

/// Why a message is not read.
pub(super) type Refused = (StatusCode, &'static str);

/// A header's value, if it is there and can be read.
pub(super) fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether an editor takes answers of this kind.
pub(super) fn takes(headers: &HeaderMap, kind: &str) -> bool {
    let accept = value(headers, header::ACCEPT.as_str()).unwrap_or_default().to_ascii_lowercase();
    accept.contains(kind) || accept.contains("*/*")
}

/// A message must say that it is JSON, which no web page can without asking first.
pub(super) fn check_json(headers: &HeaderMap) -> Result<(), Refused> {
    let kind = value(headers, header::CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send `Content-Type: application/json`."));
    }
    Ok(())
}

/// A message must be JSON, and its sender must take either kind of answer.
pub(super) fn check_types(headers: &HeaderMap) -> Result<(), Refused> {
    check_json(headers)?;
    if !takes(headers, "application/json") || !takes(headers, "text/event-stream") {
        let why = "Send `Accept: application/json, text/event-stream`.";
        return Err((StatusCode::NOT_ACCEPTABLE, why));
    }
    Ok(())
}

/// A refusal that names no request, in JSON-RPC's words.
pub(super) fn refuse(status: StatusCode, why: &str) -> HttpResponse {
    json_with(status, &Response::error(None, INVALID_REQUEST, why))
}

/// An answer.
pub(super) fn json(response: &Response) -> HttpResponse {
    json_with(StatusCode::OK, response)
}

pub(super) fn json_with(status: StatusCode, response: &Response) -> HttpResponse {
    (status, [(header::CONTENT_TYPE, "application/json")], response.to_bytes()).into_response()
}
