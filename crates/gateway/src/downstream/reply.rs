//! An answer as JSON, or as a stream when it takes long or comes in parts.
//!
//! The first thing that happens decides: an answer is sent as plain JSON; a message about the call
//! opens a stream; and after ten seconds of nothing a stream is opened too, so that comments can
//! show the editor that somebody still works on its call.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use http::header;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval_at, sleep};
use tokio_util::task::TaskTracker;

use evermoor_core::envelope::{Message, Request};
use evermoor_core::sse;

use crate::router::{Router, View};
use crate::upstream::Reply;

/// How long an editor hears nothing before it is shown a sign of life.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);
const BUFFER: usize = 16;

pub(super) async fn send(
    router: Router,
    view: View,
    request: Request,
    tasks: &TaskTracker,
) -> HttpResponse {
    let answer = async move { router.answer(&view, &request).await };
    let mut answer = Box::pin(answer);
    tokio::select! {
        reply = &mut answer => match reply {
            Reply::Whole(response) => json(response.to_bytes()),
            Reply::Stream(_) => stream(std::future::ready(reply), tasks),
        },
        () = sleep(SIGN_OF_LIFE) => stream(answer, tasks),
    }
}

fn json(body: Bytes) -> HttpResponse {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

fn stream(
    reply: impl Future<Output = Reply> + Send + 'static,
    tasks: &TaskTracker,
) -> HttpResponse {
    let (send, events) = mpsc::channel(BUFFER);
    tasks.spawn(write(reply, send));
    let events = futures_util::stream::unfold(events, async |mut events| {
        let event: Bytes = events.recv().await?;
        Some((Ok::<_, std::convert::Infallible>(event), events))
    });
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(events)).into_response()
}

async fn write(reply: impl Future<Output = Reply>, events: mpsc::Sender<Bytes>) {
    let start = tokio::time::Instant::now() + SIGN_OF_LIFE;
    let mut alive = interval_at(start, SIGN_OF_LIFE);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tokio::pin!(reply);
    let mut messages = loop {
        tokio::select! {
            reply = &mut reply => match reply {
                Reply::Whole(response) => {
                    let _ = events.send(event(&Message::Response(response))).await;
                    return;
                }
                Reply::Stream(messages) => break messages,
            },
            _ = alive.tick() => if events.send(sse::KEEPALIVE).await.is_err() { return },
        }
    };
    loop {
        let next = tokio::select! {
            message = messages.next() => match message {
                Some(message) => event(&message),
                None => return,
            },
            _ = alive.tick() => sse::KEEPALIVE,
        };
        if events.send(next).await.is_err() {
            return;
        }
    }
}

fn event(message: &Message) -> Bytes {
    sse::write(None, None, &message.to_bytes())
}
