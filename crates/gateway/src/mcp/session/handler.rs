//! Requests of editors with a session: protocol versions 2024-11-05 to 2025-11-25.
//!
//! # Theory of operation
//! If the response is the first thing to arrive, it is returned as plain JSON. A notification about
//! the call, a server request, or ten seconds of silence turn the response into an SSE stream. The
//! stream is kept in a [`Transcript`] so that an editor whose connection broke can resume it. In
//! these versions, disconnecting is not cancelling: a call that was sent continues without its
//! editor.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response as HttpResponse;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::outcome::AnswerOrigin;
use evermoor_core::protocol::envelope::{Message, Request};
use evermoor_core::protocol::mcp::{SessionVersion, method};

use super::subscriptions;
use super::{ActiveSession, CancellableCall};
use crate::mcp::endpoint::McpEndpoint;
use crate::mcp::event_stream;
use crate::mcp::exchange::transcript::Transcript;
use crate::mcp::exchange::{Exchange, ExchangeEvent, unfinished};
use crate::mcp::http_message::json;
use crate::routing::router::View;

/// How often a silent stream carries a keep-alive comment.
pub(crate) const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

const NOT_READ: &str = "The editor reads too slowly.";

/// Answers one request of a session.
pub(crate) async fn answer(
    endpoint: &McpEndpoint,
    view: View,
    session: &Arc<ActiveSession>,
    request: Request,
) -> HttpResponse {
    if subscriptions::is_subscription_request(&request.method) {
        return json(&endpoint.update_subscriptions(&view, session, &request).await);
    }
    let call = session.begin(request.id.clone());
    let exchange = Exchange::start(endpoint, view, request, session.requester());
    let mut running = DetachOnDrop { exchange: Some(exchange), tasks: &endpoint.tasks };
    let first = tokio::select! {
        event = running.next() => event,
        () = sleep(KEEPALIVE_INTERVAL) => None,
        () = call.cancelled.cancelled() => {
            drop(running.exchange.take());
            return event_stream::empty();
        }
    };
    let first = match first {
        Some(ExchangeEvent::Answer(answer)) => {
            running.exchange = None;
            return json(&answer.response);
        }
        first => first,
    };
    let Some(exchange) = running.exchange.take() else { return event_stream::empty() };
    let stream = endpoint.sessions.number();
    let budget = endpoint.budgets.editor(&session.claims().editor);
    let call_ref = exchange.call_ref().clone();
    let transcript = Transcript::new(&endpoint.instance_id, stream, call_ref, budget);
    session.add_transcript(&transcript, stream);
    let primed = session.claims().revision >= SessionVersion::V2025_11_25;
    let priming_event = primed.then(|| transcript.priming_event());
    let reader = transcript.reader(0);
    let session = Arc::clone(session);
    endpoint.tasks.spawn(async move {
        // The editor may disconnect and resume, so nothing ends the transcript early.
        let left = std::future::pending();
        relay(exchange, first, &session, call, left, &*transcript).await;
        transcript.finish();
    });
    event_stream::transcript(priming_event, reader)
}

/// An exchange that continues in the background when its editor disconnects, if the call was sent.
struct DetachOnDrop<'a> {
    exchange: Option<Exchange>,
    tasks: &'a TaskTracker,
}

impl DetachOnDrop<'_> {
    async fn next(&mut self) -> Option<ExchangeEvent> {
        self.exchange.as_mut()?.next().await
    }
}

impl Drop for DetachOnDrop<'_> {
    fn drop(&mut self) {
        if let Some(mut exchange) = self.exchange.take().filter(Exchange::was_sent) {
            self.tasks.spawn(async move { while exchange.next().await.is_some() {} });
        }
    }
}

/// Where the messages about a call are written for its editor.
pub(crate) trait MessageSink {
    fn write(&self, message: &Message);

    /// Whether the editor has room for a message of this size that it need not get.
    fn has_room(&self, bytes: usize) -> bool;

    /// Waits until another message fits.
    fn ready(&self) -> impl Future<Output = ()> + Send;
}

/// Runs an exchange to its end and writes its messages and server requests to the sink. When the
/// editor has `left`, a call that was sent continues and one that was not sent is dropped. Nothing
/// is read from the upstream before it fits into the sink.
pub(crate) async fn relay(
    mut exchange: Exchange,
    first: Option<ExchangeEvent>,
    session: &ActiveSession,
    call: CancellableCall,
    left: impl Future<Output = ()>,
    sink: &impl MessageSink,
) {
    let mut withdrawn = FuturesUnordered::new();
    let mut left = std::pin::pin!(left.fuse());
    let mut next = first;
    loop {
        match next.take() {
            Some(ExchangeEvent::Notification(notification))
                if notification.method == method::LOG && !session.wants_log(&notification) => {}
            Some(ExchangeEvent::Notification(notification))
                if !sink.has_room(
                    notification.params.as_ref().map_or(0, |params| params.as_bytes().len()),
                ) =>
            {
                tracing::debug!("dropped a notification: its editor does not read");
            }
            Some(ExchangeEvent::Notification(notification)) => {
                sink.write(&Message::Notification(notification));
            }
            // An answer of an upstream was charged, and is replaced by what is written.
            Some(ExchangeEvent::Answer(answer))
                if answer.origin == AnswerOrigin::Gateway
                    && !sink.has_room(answer.response.outcome.payload().as_bytes().len()) =>
            {
                let discarded = unfinished::discarded(exchange.call_ref(), NOT_READ);
                sink.write(&Message::Response(discarded.response));
                return;
            }
            Some(ExchangeEvent::Answer(answer)) => {
                // The editor need not show a question that was withdrawn just now.
                while let Some(Some(id)) = withdrawn.next().now_or_never() {
                    session.withdraw(&id).inspect(|message| sink.write(message));
                }
                sink.write(&Message::Response(answer.response));
                return;
            }
            Some(ExchangeEvent::ServerRequest(question))
                if !sink.has_room(
                    question.request.params.as_ref().map_or(0, |params| params.as_bytes().len()),
                ) =>
            {
                question.reject(NOT_READ);
            }
            Some(ExchangeEvent::ServerRequest(question)) => {
                let cancelled = question.withdrawn.clone();
                let (id, request) = session.ask(question);
                sink.write(&request);
                withdrawn.push(async move {
                    cancelled.cancelled_owned().await;
                    id
                });
            }
            None => {}
        }
        tokio::select! {
            biased;
            () = call.cancelled.cancelled() => return,
            () = &mut left => {
                if !exchange.was_sent() {
                    return;
                }
            }
            Some(id) = withdrawn.next() => {
                if let Some(message) = session.withdraw(&id) {
                    sink.write(&message);
                }
            }
            event = async { sink.ready().await; exchange.next().await } => match event {
                Some(event) => next = Some(event),
                None => return,
            },
        }
    }
}
