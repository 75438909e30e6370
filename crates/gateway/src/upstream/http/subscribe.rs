//! The stream on which a server without sessions tells what changed.
//!
//! One stream carries everything that any editor wants to hear of, and all lists. When what is
//! wanted changes, a new stream is opened and the old one closed. A server that offers none says
//! so and is left alone.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use evermoor_core::envelope::{Message, Request};
use evermoor_core::json::Raw;
use evermoor_core::protocol::{meta, method};

use super::super::connection::Incoming;
use super::events::Events;
use super::line::Line;
use crate::interests::Wanted;

const RETRY: Duration = Duration::from_secs(1);

/// How one stream ended.
enum End {
    /// The server closed it, or it broke.
    Closed,
    /// Something else is wanted now.
    Changed,
    /// The server offers no such stream.
    NotOffered,
}

/// Listens for as long as the server offers it.
pub(super) async fn subscribe(
    line: Arc<Line>,
    incoming: mpsc::Sender<Incoming>,
    mut wanted: watch::Receiver<Wanted>,
) {
    loop {
        match listen(&line, &incoming, &mut wanted).await {
            End::NotOffered => return,
            End::Changed => {}
            End::Closed => sleep(RETRY).await,
        }
    }
}

async fn listen(
    line: &Arc<Line>,
    incoming: &mpsc::Sender<Incoming>,
    wanted: &mut watch::Receiver<Wanted>,
) -> End {
    let request =
        Request::new(line.next_id(), method::LISTEN, Some(filter(&wanted.borrow_and_update())));
    let (sent, _) = line.outbound(&request, None);
    let answer = match line.post(&sent.into()).await {
        Ok(answer) if answer.status().is_success() => answer,
        Ok(answer) if answer.status().is_client_error() => return End::NotOffered,
        Ok(_) | Err(_) => return End::Closed,
    };
    let mut events = Events::new(answer, None);
    loop {
        let event = tokio::select! {
            event = events.next() => event,
            changed = wanted.changed() => match changed {
                Ok(()) => return End::Changed,
                Err(_) => std::future::pending().await,
            },
        };
        let Ok(event) = event else { return End::Closed };
        match Message::parse(&event.data) {
            Ok(Message::Notification(told)) if told.method.starts_with("notifications/sub") => {}
            Ok(Message::Notification(mut told)) => {
                told.params = told.params.map(without_subscription);
                let _ = incoming.send(Incoming::Notification(told)).await;
            }
            // The server ends the stream in good order, or never began it.
            Ok(Message::Response(response)) => match response.outcome {
                evermoor_core::envelope::Outcome::Result(_) => return End::Closed,
                evermoor_core::envelope::Outcome::Error(_) => return End::NotOffered,
            },
            Ok(Message::Request(_)) | Err(_) => {}
        }
    }
}

fn filter(wanted: &Wanted) -> Raw {
    let mut notifications = serde_json::json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
    });
    if !wanted.resources.is_empty() {
        notifications["resourceSubscriptions"] = serde_json::json!(wanted.resources);
    }
    Raw::of(&serde_json::json!({ "notifications": notifications }))
}

/// The number of our own stream means nothing to editors.
fn without_subscription(params: Raw) -> Raw {
    match params.member("_meta") {
        Some(said) => params.with("_meta", &said.without(&[meta::SUBSCRIPTION])),
        None => params,
    }
}
