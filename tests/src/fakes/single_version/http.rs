//! Streamable HTTP: with sessions in 2025, stateless in 2026-07-28.
//!
//! Every answer is an event stream. In 2026-07-28 the headers are checked against the body.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use evermoor_core::protocol::envelope::{Message, Outcome, Request, Response};
use evermoor_core::protocol::mcp::{SessionVersion, method};
use evermoor_core::protocol::sse;
use evermoor_core::protocol::stateless;
use evermoor_core::protocol::version::ProtocolVersion;

use super::server::SingleVersionServer;

/// Accepts a message.
pub async fn post(
    State(server): State<Arc<SingleVersionServer>>,
    headers: HeaderMap,
    body: Bytes,
) -> HttpResponse {
    let message = match Message::parse(&body) {
        Ok(message) => message,
        Err(rejected) => return json(StatusCode::BAD_REQUEST, &rejected.into()),
    };
    let Message::Request(request) = message else {
        server.receive(message);
        return StatusCode::ACCEPTED.into_response();
    };
    if let Some(refusal) = refusal(&server, &request, &headers) {
        server.ledger.record(&format!("refused {}", request.method));
        return refusal;
    }
    if let Some(error) = server.discover_refusal(&request) {
        let outcome = Outcome::Error(error);
        return json(StatusCode::BAD_REQUEST, &Response { id: Some(request.id), outcome });
    }
    let begins = request.method == method::INITIALIZE;
    let (messages, said) = mpsc::unbounded_channel::<Message>();
    let (own_headers, tracker) = (mcp_headers(&headers), server.work.clone());
    let goes_on = !server.protocol_version.is_stateless();
    let work = async move {
        if let Some(answer) = server.answer(request, own_headers, messages.clone()).await {
            let _ = messages.send(Message::Response(answer));
        }
    };
    // In 2026-07-28, a client that disconnects cancels the work together with the stream.
    let work = match goes_on {
        true => {
            tracker.spawn(work);
            None
        }
        false => Some(Box::pin(work)),
    };
    let start = (said, work);
    let events = futures_util::stream::unfold(start, |(mut said, mut work)| async move {
        loop {
            let message = match &mut work {
                None => said.recv().await,
                Some(working) => tokio::select! {
                    biased;
                    message = said.recv() => message,
                    () = working => {
                        work = None;
                        continue;
                    }
                },
            };
            let event = sse::write(None, None, &message?.to_bytes());
            return Some((Ok::<_, Infallible>(event), (said, work)));
        }
    });
    let kind = [(header::CONTENT_TYPE, "text/event-stream")];
    let mut response = (kind, Body::from_stream(events)).into_response();
    if begins {
        let session = http::HeaderValue::from(std::process::id());
        response.headers_mut().insert("mcp-session-id", session);
    }
    response
}

/// The notification stream of the 2025 versions.
pub async fn get(
    State(server): State<Arc<SingleVersionServer>>,
    headers: HeaderMap,
) -> HttpResponse {
    if server.protocol_version.is_stateless() || !has_known_session(&headers) {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let notifications = server.notifications.subscribe();
    server.ledger.record("notification stream");
    let events = futures_util::stream::unfold(
        (notifications, server),
        |(mut notifications, server)| async move {
            loop {
                let notification = notifications.recv().await.ok()?;
                if server.is_wanted(&notification, None) {
                    let event = sse::write(None, None, &notification.to_bytes());
                    return Some((Ok::<_, Infallible>(event), (notifications, server)));
                }
            }
        },
    );
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

/// The refusal of a request with wrong headers.
fn refusal(
    server: &SingleVersionServer,
    request: &Request,
    headers: &HeaderMap,
) -> Option<HttpResponse> {
    let refuse = |status: StatusCode, code: i32, why: &str| {
        Some(json(status, &Response::error(Some(request.id.clone()), code, why)))
    };
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    match server.protocol_version {
        ProtocolVersion::Session(_) if request.method == method::INITIALIZE => None,
        ProtocolVersion::Session(_) if !has_known_session(headers) => {
            refuse(StatusCode::BAD_REQUEST, -32000, "Bad Request: Server not initialized")
        }
        ProtocolVersion::Session(revision)
            if revision >= SessionVersion::V2025_06_18
                && header("mcp-protocol-version") != Some(revision.as_str()) =>
        {
            refuse(StatusCode::BAD_REQUEST, -32600, "MCP-Protocol-Version is missing")
        }
        ProtocolVersion::Session(_) => None,
        ProtocolVersion::Stateless if header("mcp-protocol-version") != Some("2026-07-28") => {
            refuse(StatusCode::BAD_REQUEST, -32022, "not this version")
        }
        ProtocolVersion::Stateless => {
            let named = stateless::mcp_name(request);
            let named_by_header = header("mcp-name").and_then(stateless::decode_header);
            let agrees = header("mcp-method") == Some(&request.method) && named_by_header == named;
            if agrees { None } else { refuse(StatusCode::BAD_REQUEST, -32020, "headers disagree") }
        }
    }
}

/// Sessions of an earlier process are unknown.
fn has_known_session(headers: &HeaderMap) -> bool {
    let session = headers.get("mcp-session-id").and_then(|value| value.to_str().ok());
    session == Some(&std::process::id().to_string())
}

/// The MCP headers of a request.
fn mcp_headers(headers: &HeaderMap) -> Value {
    let own = headers.iter().filter(|(name, _)| name.as_str().starts_with("mcp-"));
    let headers: Map<String, Value> = own
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into()))
        .collect();
    headers.into()
}

fn json(status: StatusCode, response: &Response) -> HttpResponse {
    (status, [(header::CONTENT_TYPE, "application/json")], response.to_bytes()).into_response()
}
