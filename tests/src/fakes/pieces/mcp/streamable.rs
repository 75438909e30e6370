//! MCP over Streamable HTTP (2025-03-26) in the fake PiecesOS.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use tokio::sync::mpsc;

use evermoor_core::protocol::envelope::{Message, Notification, Request, Response};
use evermoor_core::protocol::mcp::{SessionVersion, method};
use evermoor_core::protocol::sse;

use super::sse::body;
use crate::fakes::pieces::mcp;
use crate::fakes::pieces::process::FakeApp;

pub(crate) const PATH: &str = "/model_context_protocol/2025-03-26/mcp";
const SESSION: &str = "mcp-session-id";
const PROTOCOL_VERSION: SessionVersion = SessionVersion::V2025_03_26;

pub(crate) async fn take(
    State(app): State<Arc<FakeApp>>,
    headers: HeaderMap,
    message: Bytes,
) -> HttpResponse {
    let request = match Message::parse(&message) {
        Ok(Message::Request(request)) => request,
        Ok(Message::Notification(notification)) if notification.method == method::CANCELLED => {
            app.ledger.record("cancelled");
            return StatusCode::ACCEPTED.into_response();
        }
        Ok(Message::Notification(_) | Message::Response(_)) => {
            return StatusCode::ACCEPTED.into_response();
        }
        Err(rejected) => return json(&rejected.into()),
    };
    if request.method == method::INITIALIZE {
        return begin(&app, &request).await;
    }
    match session(&headers) {
        Some(id) if !app.sessions.knows(id) => StatusCode::NOT_FOUND.into_response(),
        None if app.settings().strict => StatusCode::BAD_REQUEST.into_response(),
        Some(_) | None => answer(app, request).await,
    }
}

async fn begin(app: &Arc<FakeApp>, request: &Request) -> HttpResponse {
    let Some(answer) = mcp::answer(app, request, PROTOCOL_VERSION, |_| {}).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let id = app.sessions.open(None);
    let mut response = json(&answer);
    let id = HeaderValue::from_str(&id).expect("digits make a header");
    response.headers_mut().insert(SESSION, id);
    response
}

/// A call with a progress token is answered with a stream, any other with JSON.
async fn answer(app: Arc<FakeApp>, request: Request) -> HttpResponse {
    let params = request.params.as_ref();
    let listens = params.and_then(|params| params.member("_meta")?.member("progressToken"));
    if listens.is_none() {
        return match mcp::answer(&app, &request, PROTOCOL_VERSION, |_| {}).await {
            Some(response) => json(&response),
            None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        };
    }
    let (stream, events) = mpsc::unbounded_channel();
    let talking = Arc::clone(&app);
    app.spawn(async move {
        let write = |message: Bytes| drop(stream.send(sse::write(Some("message"), None, &message)));
        let said = |notification: Notification| write(notification.to_bytes());
        if let Some(response) = mcp::answer(&talking, &request, PROTOCOL_VERSION, said).await {
            write(response.to_bytes());
        }
    });
    body(events)
}

/// The stream of server-initiated messages.
pub(crate) async fn listen(State(app): State<Arc<FakeApp>>, headers: HeaderMap) -> HttpResponse {
    match session(&headers) {
        None => StatusCode::BAD_REQUEST.into_response(),
        Some(id) if !app.sessions.knows(id) => StatusCode::NOT_FOUND.into_response(),
        Some(id) => {
            let (stream, events) = mpsc::unbounded_channel();
            app.sessions.listen(id, stream);
            body(events)
        }
    }
}

pub(crate) async fn end(State(app): State<Arc<FakeApp>>, headers: HeaderMap) -> StatusCode {
    session(&headers).inspect(|id| app.sessions.end(id));
    StatusCode::OK
}

fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION).and_then(|id| id.to_str().ok())
}

fn json(response: &Response) -> HttpResponse {
    ([(header::CONTENT_TYPE, "application/json")], response.to_bytes()).into_response()
}
