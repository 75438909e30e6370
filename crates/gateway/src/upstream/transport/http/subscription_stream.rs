//! The `subscriptions/listen` stream of a stateless server.
//!
//! One stream carries all subscriptions of editors and all list changes. When the subscriptions
//! change, a new stream is opened; the old one is read until the server acknowledges the new one, and
//! then closed. A server that does not offer the stream is not asked again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use evermoor_core::protocol::envelope::{Message, Notification, Outcome, Request};
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::stateless::{SUBSCRIPTIONS_ACKNOWLEDGED, without_subscription_id};

use super::super::connection::ConnectionEvent;
use super::super::outbound::OutboundCall;
use super::reply_events::ReplyEvents;
use super::target::HttpTarget;
use crate::system::message_parser;
use crate::upstream::subscriptions::SubscriptionSet;

const RETRY: Duration = Duration::from_secs(1);

/// The result of opening a stream.
enum OpenResult {
    /// The server acknowledged it.
    Stream(Box<ReplyEvents>),
    /// It broke before that.
    Broken,
    /// The server offers no such stream.
    NotOffered,
}

/// Keeps a stream open as long as the server offers it.
pub(super) async fn subscribe(
    target: Arc<HttpTarget>,
    incoming: mpsc::Sender<ConnectionEvent>,
    mut wanted: watch::Receiver<SubscriptionSet>,
) {
    let mut current: Option<Box<ReplyEvents>> = None;
    loop {
        let now = wanted.borrow_and_update().clone();
        let opened = {
            let mut opening = std::pin::pin!(open(&target, &incoming, &now));
            loop {
                tokio::select! {
                    biased;
                    notification = next(&mut current), if current.is_some() => {
                        forward(&incoming, notification).await;
                    }
                    opened = &mut opening => break opened,
                }
            }
        };
        match opened {
            OpenResult::Stream(events) => {
                current = Some(events);
                now.acknowledged.set(&now.resources);
            }
            // No acknowledgement will come, so nobody must wait for one.
            OpenResult::NotOffered => return now.acknowledged.set(&now.resources),
            OpenResult::Broken => {
                sleep(RETRY).await;
                continue;
            }
        }
        loop {
            tokio::select! {
                notification = next(&mut current) => match notification {
                    Some(_) => forward(&incoming, notification).await,
                    None => {
                        now.acknowledged.set(&BTreeSet::new());
                        sleep(RETRY).await;
                        break;
                    }
                },
                changed = wanted.changed() => match changed {
                    Ok(()) => break,
                    Err(_) => std::future::pending().await,
                },
            }
        }
    }
}

/// Opens a stream, and waits until the server acknowledges it.
async fn open(
    target: &Arc<HttpTarget>,
    incoming: &mpsc::Sender<ConnectionEvent>,
    wanted: &SubscriptionSet,
) -> OpenResult {
    let request = Request::new(target.next_id(), method::LISTEN, Some(wanted.filter()));
    let (sent, _) = target.encode(OutboundCall::of_gateway(&request));
    let answer = match target.post(&sent.into()).await {
        Ok(answer) if answer.status().is_success() => answer,
        Ok(answer) if answer.status().is_client_error() => return OpenResult::NotOffered,
        Ok(_) | Err(_) => return OpenResult::Broken,
    };
    let mut events = Box::new(ReplyEvents::new(answer, None, &target.clients.buffers));
    loop {
        let Ok(event) = events.next().await else { return OpenResult::Broken };
        match message_parser::parse(&event.data).await {
            Ok(Message::Notification(first)) if first.method == SUBSCRIPTIONS_ACKNOWLEDGED => break,
            // A server that sends notifications has accepted the subscription.
            Ok(Message::Notification(first)) => {
                forward(incoming, Some(first)).await;
                break;
            }
            Ok(Message::Response(response)) => match response.outcome {
                Outcome::Result(_) => return OpenResult::Broken,
                Outcome::Error(_) => return OpenResult::NotOffered,
            },
            Ok(Message::Request(_)) | Err(_) => {}
        }
    }
    OpenResult::Stream(events)
}

/// The next notification; `None` when the stream has ended, which also clears `current`.
async fn next(current: &mut Option<Box<ReplyEvents>>) -> Option<Notification> {
    loop {
        let Ok(event) = current.as_mut()?.next().await else {
            *current = None;
            return None;
        };
        match message_parser::parse(&event.data).await {
            Ok(Message::Notification(next)) if next.method == SUBSCRIPTIONS_ACKNOWLEDGED => {}
            Ok(Message::Notification(next)) => return Some(next),
            // The server ended the stream properly.
            Ok(Message::Response(_)) => *current = None,
            Ok(Message::Request(_)) | Err(_) => {}
        }
    }
}

async fn forward(incoming: &mpsc::Sender<ConnectionEvent>, notification: Option<Notification>) {
    if let Some(notification) = notification {
        let _ = incoming
            .send(ConnectionEvent::Notification(without_subscription_id(notification)))
            .await;
    }
}
