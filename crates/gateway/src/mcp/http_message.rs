//! HTTP headers and bodies of MCP messages: content type checks, and JSON-RPC responses.

use axum::body::Body;
use axum::response::Response as HttpResponse;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use evermoor_core::api::ClientTransport;
use evermoor_core::protocol::envelope::{INVALID_REQUEST, Response};

use crate::system::message_body::MessageBody;

/// The User-Agent that the stdio shim sends.
const SHIM: &str = "evermoor-connect";

/// Why a message is rejected before it is parsed.
pub(super) type Refused = (StatusCode, &'static str);

/// A header's value, if it is present and valid text.
pub(super) fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Whether the client accepts this content type.
pub(super) fn takes(headers: &HeaderMap, kind: &str) -> bool {
    let accept = value(headers, header::ACCEPT.as_str()).unwrap_or_default();
    let mut kinds = accept.split([',', ';']).map(str::trim);
    kinds.any(|one| one.eq_ignore_ascii_case(kind) || one == "*/*")
}

/// Requires a JSON content type: a web page cannot send one across origins without a preflight.
pub(super) fn check_json(headers: &HeaderMap) -> Result<(), Refused> {
    let kind = value(headers, header::CONTENT_TYPE.as_str()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send `Content-Type: application/json`."));
    }
    Ok(())
}

/// Requires a JSON content type, and an `Accept` header with both response types.
pub(super) fn check_types(headers: &HeaderMap) -> Result<(), Refused> {
    check_json(headers)?;
    if !takes(headers, "application/json") || !takes(headers, "text/event-stream") {
        let why = "Send `Accept: application/json, text/event-stream`.";
        return Err((StatusCode::NOT_ACCEPTABLE, why));
    }
    Ok(())
}

/// An error response that belongs to no request.
pub(super) fn refuse(status: StatusCode, why: &str) -> HttpResponse {
    json_with(status, &Response::error(None, INVALID_REQUEST, why))
}

pub(super) fn json(response: &Response) -> HttpResponse {
    json_with(StatusCode::OK, response)
}

pub(super) fn json_with(status: StatusCode, response: &Response) -> HttpResponse {
    let body = MessageBody::from(response.to_parts());
    let mut response = HttpResponse::new(Body::new(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// How the client reached the gateway.
pub(super) fn wire(headers: &HeaderMap) -> ClientTransport {
    let agent = value(headers, http::header::USER_AGENT.as_str()).unwrap_or_default();
    if agent.starts_with(SHIM) { ClientTransport::Stdio } else { ClientTransport::Http }
}
