//! Editors that shake hands: the revisions from 2024-11-05 to 2025-11-25.
//!
//! # Theory of operation
//! A request is answered as plain JSON if its answer is the first thing that happens. A message
//! about the call, a question, or ten seconds of nothing make it a stream, which is kept in a
//! [`Transcript`] so that an editor whose stream broke can take it up again. In these revisions an
//! editor that hangs up has not cancelled: a call that was sent goes on without it.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response as HttpResponse;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::{Message, Request};
use evermoor_core::protocol::mcp::{Revision, method};

use super::subscriptions;
use super::{Live, UnderWay};
use crate::mcp::endpoint::Endpoint;
use crate::mcp::event_stream;
use crate::mcp::exchange::transcript::Transcript;
use crate::mcp::exchange::{Exchange, Part};
use crate::mcp::http_message::json;
use crate::routing::router::View;

/// How long an editor hears nothing before it is shown a sign of life.
pub(crate) const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// Answers one request of a session.
pub(crate) async fn answer(
    endpoint: &Endpoint,
    view: View,
    live: &Arc<Live>,
    request: Request,
) -> HttpResponse {
    if subscriptions::is_wish(&request.method) {
        return json(&endpoint.grant(&view, live, &request).await);
    }
    let under_way = live.begin(request.id.clone());
    let exchange = Exchange::start(endpoint, view, request, live.asker());
    let mut going = Going { exchange: Some(exchange), tasks: &endpoint.tasks };
    let first = tokio::select! {
        part = going.next() => part,
        () = sleep(SIGN_OF_LIFE) => None,
        () = under_way.cancelled.cancelled() => {
            drop(going.exchange.take());
            return event_stream::empty();
        }
    };
    let first = match first {
        Some(Part::Message(Message::Response(response))) => {
            going.exchange = None;
            return json(&response);
        }
        first => first,
    };
    let Some(exchange) = going.exchange.take() else { return event_stream::empty() };
    let stream = endpoint.sessions.number();
    let transcript = Transcript::new(&endpoint.edition, stream, exchange.about().clone());
    live.transcribe(&transcript, stream);
    let primed = live.session().revision >= Revision::V2025_11_25;
    let beginning = primed.then(|| transcript.beginning());
    let reader = transcript.reader(0);
    let live = Arc::clone(live);
    endpoint.tasks.spawn(async move {
        // The transcript stays for an editor that hangs up and comes back.
        let left = std::future::pending();
        converse(exchange, first, &live, under_way, left, &*transcript).await;
        transcript.finish();
    });
    event_stream::transcript(beginning, reader)
}

/// An exchange that goes on when the editor hangs up, if its call was sent.
struct Going<'a> {
    exchange: Option<Exchange>,
    tasks: &'a TaskTracker,
}

impl Going<'_> {
    async fn next(&mut self) -> Option<Part> {
        self.exchange.as_mut()?.next().await
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        if let Some(mut exchange) = self.exchange.take().filter(Exchange::was_sent) {
            self.tasks.spawn(async move { while exchange.next().await.is_some() {} });
        }
    }
}

/// Where an editor reads what is said about its call.
pub(crate) trait Outlet {
    fn write(&self, message: &Message);

    /// Waits until there is room for more.
    fn room(&self) -> impl Future<Output = ()> + Send;
}

/// Brings an exchange to its end: messages and questions go to the editor as they come. An editor
/// that has `left` has not cancelled a call that was sent; one that was not is not made any more.
/// What the upstream says is taken when there is room for it.
pub(crate) async fn converse(
    mut exchange: Exchange,
    first: Option<Part>,
    live: &Live,
    under_way: UnderWay,
    left: impl Future<Output = ()>,
    outlet: &impl Outlet,
) {
    let mut withdrawn = FuturesUnordered::new();
    let mut left = std::pin::pin!(left.fuse());
    let mut next = first;
    loop {
        match next.take() {
            Some(Part::Message(Message::Notification(told)))
                if told.method == method::LOG && !live.hears(&told) => {}
            Some(Part::Message(message)) => {
                outlet.write(&message);
                if matches!(message, Message::Response(_)) {
                    return;
                }
            }
            Some(Part::Question(question)) => {
                let taken_back = question.withdrawn.clone();
                let (id, request) = live.ask(question);
                outlet.write(&request);
                withdrawn.push(async move {
                    taken_back.cancelled_owned().await;
                    id
                });
            }
            None => {}
        }
        tokio::select! {
            biased;
            () = under_way.cancelled.cancelled() => return,
            () = &mut left => {
                if !exchange.was_sent() {
                    return;
                }
            }
            Some(id) = withdrawn.next() => {
                if let Some(message) = live.withdraw(&id) {
                    outlet.write(&message);
                }
            }
            part = async { outlet.room().await; exchange.next().await } => match part {
                Some(part) => next = Some(part),
                None => return,
            },
        }
    }
}
