//! The stream on which a server without sessions tells what changed.
//!
//! One stream carries everything that any editor wants to hear of, and all lists. When what is
//! wanted changes, a new stream is opened; the old one is read until the server has said that the
//! new one carries everything, and closed then. A server that offers none says so and is left alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use evermoor_core::protocol::envelope::{Message, Notification, Outcome, Request};
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::stateless::{ACKNOWLEDGED, unsubscribed};

use super::super::connection::Incoming;
use super::reply_events::Events;
use super::target::Line;
use crate::upstream::subscriptions::Wanted;

const RETRY: Duration = Duration::from_secs(1);

/// What came of opening a stream.
enum Opened {
    /// It carries what is wanted.
    Stream(Box<Events>),
    /// It broke before it did.
    Broken,
    /// The server offers no such stream.
    NotOffered,
}

/// Listens for as long as the server offers it.
pub(super) async fn subscribe(
    line: Arc<Line>,
    incoming: mpsc::Sender<Incoming>,
    mut wanted: watch::Receiver<Wanted>,
) {
    let mut current: Option<Box<Events>> = None;
    loop {
        let now = wanted.borrow_and_update().clone();
        let opened = {
            let mut opening = std::pin::pin!(open(&line, &incoming, &now));
            loop {
                tokio::select! {
                    biased;
                    told = next(&mut current), if current.is_some() => tell(&incoming, told).await,
                    opened = &mut opening => break opened,
                }
            }
        };
        match opened {
            Opened::Stream(events) => {
                current = Some(events);
                now.carried.are(&now.resources);
            }
            // There is nothing to wait for.
            Opened::NotOffered => return now.carried.are(&now.resources),
            Opened::Broken => {
                sleep(RETRY).await;
                continue;
            }
        }
        loop {
            tokio::select! {
                told = next(&mut current) => match told {
                    Some(_) => tell(&incoming, told).await,
                    None => {
                        now.carried.are(&BTreeSet::new());
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

/// Asks for a stream, and waits until the server says that it carries what was asked for.
async fn open(line: &Arc<Line>, incoming: &mpsc::Sender<Incoming>, wanted: &Wanted) -> Opened {
    let request = Request::new(line.next_id(), method::LISTEN, Some(wanted.filter()));
    let (sent, _) = line.outbound(&request, None);
    let answer = match line.post(&sent.into()).await {
        Ok(answer) if answer.status().is_success() => answer,
        Ok(answer) if answer.status().is_client_error() => return Opened::NotOffered,
        Ok(_) | Err(_) => return Opened::Broken,
    };
    let mut events = Box::new(Events::new(answer, None));
    loop {
        let Ok(event) = events.next().await else { return Opened::Broken };
        match Message::parse(&event.data) {
            Ok(Message::Notification(told)) if told.method == ACKNOWLEDGED => break,
            // Who tells something has begun.
            Ok(Message::Notification(told)) => {
                tell(incoming, Some(told)).await;
                break;
            }
            Ok(Message::Response(response)) => match response.outcome {
                Outcome::Result(_) => return Opened::Broken,
                Outcome::Error(_) => return Opened::NotOffered,
            },
            Ok(Message::Request(_)) | Err(_) => {}
        }
    }
    Opened::Stream(events)
}

/// The next piece of news; `None` when the stream has ended, and there is none any more.
async fn next(current: &mut Option<Box<Events>>) -> Option<Notification> {
    loop {
        let Ok(event) = current.as_mut()?.next().await else {
            *current = None;
            return None;
        };
        match Message::parse(&event.data) {
            Ok(Message::Notification(told)) if told.method == ACKNOWLEDGED => {}
            Ok(Message::Notification(told)) => return Some(told),
            // The server ends the stream in good order.
            Ok(Message::Response(_)) => *current = None,
            Ok(Message::Request(_)) | Err(_) => {}
        }
    }
}

async fn tell(incoming: &mpsc::Sender<Incoming>, told: Option<Notification>) {
    if let Some(told) = told {
        let _ = incoming.send(Incoming::Notification(unsubscribed(told))).await;
    }
}
