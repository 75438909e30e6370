//! MCP over HTTP+SSE (2024-11-05) in the fake PiecesOS.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use http::{StatusCode, header};
use serde::Deserialize;
use tokio::sync::mpsc;

use evermoor_core::protocol::envelope::{INVALID_REQUEST, Message, Request};
use evermoor_core::protocol::mcp::{SessionVersion, method};
use evermoor_core::protocol::sse;

use super::sessions::Stream;
use crate::fakes::pieces::mcp;
use crate::fakes::pieces::process::FakeApp;

pub(crate) const STREAM: &str = "/model_context_protocol/2024-11-05/sse";
pub(crate) const MESSAGES: &str = "/model_context_protocol/2024-11-05/messages";

#[derive(Deserialize)]
pub(crate) struct Which {
    #[serde(rename = "sessionId")]
    session: String,
}

/// Opens a session. The first event on its stream is the address for messages.
pub(crate) async fn open(State(app): State<Arc<FakeApp>>) -> Response {
    let (stream, events) = mpsc::unbounded_channel();
    let session = app.sessions.open(Some(stream.clone()));
    let address = format!("{MESSAGES}?sessionId={session}");
    let _ = stream.send(sse::write(Some("endpoint"), None, address.as_bytes()));
    body(events)
}

/// Accepts a message; answers go to the stream.
pub(crate) async fn take(
    State(app): State<Arc<FakeApp>>,
    Query(which): Query<Which>,
    body: Bytes,
) -> StatusCode {
    let Some(stream) = app.sessions.stream(&which.session) else { return StatusCode::NOT_FOUND };
    match Message::parse(&body) {
        Ok(Message::Request(request)) => {
            let session = which.session;
            app.spawn({
                let app = Arc::clone(&app);
                async move { answer(&app, &session, &request, &stream).await }
            });
        }
        Ok(Message::Notification(notification)) if notification.method == method::CANCELLED => {
            app.ledger.record("cancelled");
        }
        Ok(Message::Notification(_) | Message::Response(_)) => {}
        Err(_) => return StatusCode::BAD_REQUEST,
    }
    StatusCode::ACCEPTED
}

async fn answer(app: &FakeApp, session: &str, request: &Request, stream: &Stream) {
    let write = |message: Bytes| drop(stream.send(sse::write(Some("message"), None, &message)));
    let begins = request.method == method::INITIALIZE;
    if begins {
        app.sessions.shake_hands(session);
    } else if app.settings().strict && !app.sessions.shook_hands(session) {
        let words = "The session has not been initialized.";
        let id = Some(request.id.clone());
        return write(
            evermoor_core::protocol::envelope::Response::error(id, INVALID_REQUEST, words)
                .to_bytes(),
        );
    }
    let said = |notification: evermoor_core::protocol::envelope::Notification| {
        write(notification.to_bytes())
    };
    if let Some(response) = mcp::answer(app, request, SessionVersion::V2024_11_05, said).await {
        write(response.to_bytes());
    }
}

/// A response body of events that ends when all senders are gone.
pub(crate) fn body(events: mpsc::UnboundedReceiver<Bytes>) -> Response {
    let events = stream::unfold(events, |mut events| async move {
        events.recv().await.map(|event| (Ok::<_, std::io::Error>(event), events))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}
