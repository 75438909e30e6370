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

use super::server::{Desk, Mouth};

/// A server with one stream at a time.
#[derive(Clone)]
pub struct Stage {
    pub desk: Arc<Desk>,
    pub mouth: Arc<Mutex<Option<Mouth>>>,
    pub tasks: TaskTracker,
}

pub async fn open(State(stage): State<Stage>) -> HttpResponse {
    let (mouth, mut said) = mpsc::unbounded_channel::<Message>();
    *stage.mouth.lock() = Some(mouth.clone());
    let mut news = stage.desk.news.subscribe();
    let desk = Arc::clone(&stage.desk);
    stage.tasks.spawn(async move {
        while let Ok(told) = news.recv().await {
            if desk.is_wanted(&told, None) && mouth.send(told.into()).is_err() {
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

pub async fn post(State(stage): State<Stage>, body: Bytes) -> StatusCode {
    let Some(mouth) = stage.mouth.lock().clone() else { return StatusCode::NOT_FOUND };
    match Message::parse(&body) {
        Ok(Message::Request(request)) => {
            let desk = Arc::clone(&stage.desk);
            stage.tasks.spawn(async move {
                if let Some(answer) = desk.answer(request, json!({}), mouth.clone()).await {
                    let _ = mouth.send(Message::Response(answer));
                }
            });
        }
        Ok(message) => stage.desk.hear(message),
        Err(_) => return StatusCode::BAD_REQUEST,
    }
    StatusCode::ACCEPTED
}
