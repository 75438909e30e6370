//! HTTP+SSE, the transport of 2024-11-05: one stream for everything, and an address for posts.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use futures_util::StreamExt as _;
use http::{StatusCode, header};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::Message;
use evermoor_core::protocol::sse;

use super::server::{MessageSender, SingleVersionServer};

/// A server with one stream at a time.
#[derive(Clone)]
pub struct SseState {
    pub server: Arc<SingleVersionServer>,
    pub messages: Arc<Mutex<Option<MessageSender>>>,
    pub tasks: TaskTracker,
}

pub async fn open(State(state): State<SseState>) -> HttpResponse {
    let (messages, mut said) = mpsc::unbounded_channel::<Message>();
    *state.messages.lock() = Some(messages.clone());
    let mut notifications = state.server.notifications.subscribe();
    let server = Arc::clone(&state.server);
    state.tasks.spawn(async move {
        while let Ok(notification) = notifications.recv().await {
            if server.is_wanted(&notification, None) && messages.send(notification.into()).is_err()
            {
                return;
            }
        }
    });
    let first = sse::write(Some("endpoint"), None, b"/messages");
    let rest = futures_util::stream::poll_fn(move |context| said.poll_recv(context))
        .map(|message| sse::write(Some("message"), None, &message.to_bytes()));
    let events = futures_util::stream::iter([first]).chain(rest).map(Ok::<_, Infallible>);
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

pub async fn post(State(state): State<SseState>, body: Bytes) -> StatusCode {
    let Some(messages) = state.messages.lock().clone() else { return StatusCode::NOT_FOUND };
    match Message::parse(&body) {
        Ok(Message::Request(request)) => {
            let server = Arc::clone(&state.server);
            state.tasks.spawn(async move {
                if let Some(answer) = server.answer(request, json!({}), messages.clone()).await {
                    let _ = messages.send(Message::Response(answer));
                }
            });
        }
        Ok(message) => state.server.receive(message),
        Err(_) => return StatusCode::BAD_REQUEST,
    }
    StatusCode::ACCEPTED
}
