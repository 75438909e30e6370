//! The stream on which a server with sessions sends messages that belong to no call.
//!
//! When the stream ends, it is opened again with the id of the last event, as long as the connection
//! lives. A server that does not offer it is not asked again. This also detects a lost session while
//! there are no calls.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::Message;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::sse;

use super::super::connection::{Incoming, LARGEST_REPLY};
use super::client::HttpAnswer;
use super::target::HttpTarget;
use super::{reply, status};

const SHORTEST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
const DEFAULT_RETRY: Duration = Duration::from_secs(1);

/// Reads the stream until the server does not offer it or is gone.
pub(super) async fn listen(
    target: Arc<HttpTarget>,
    incoming: mpsc::Sender<Incoming>,
    tasks: TaskTracker,
) {
    let mut last_event = None;
    loop {
        let failure = match target.get(last_event.as_deref()).await {
            Ok(answer) if answer.status().is_success() => {
                let retry = read(answer, &target, &incoming, &mut last_event, &tasks).await;
                sleep(retry).await;
                continue;
            }
            Ok(answer) => {
                let status = answer.status();
                let body = reply::body_or_nothing(answer).await;
                if !target.has_session() || !status::session_is_gone(status, &body) {
                    return;
                }
                status::session_lost(&target.url)
            }
            Err(error) if error.is_connect() => status::failure(&target.url, &error),
            Err(_) => {
                sleep(DEFAULT_RETRY).await;
                continue;
            }
        };
        let _ = incoming.send(Incoming::Closed(failure)).await;
        return;
    }
}

/// Reads one stream to its end, and returns how long to wait before the next.
async fn read(
    mut answer: HttpAnswer,
    target: &Arc<HttpTarget>,
    incoming: &mpsc::Sender<Incoming>,
    last_event: &mut Option<String>,
    tasks: &TaskTracker,
) -> Duration {
    let mut parser = sse::SseParser::new(LARGEST_REPLY);
    while let Ok(Some(chunk)) = answer.chunk().await {
        let Ok(events) = parser.push(&chunk) else { break };
        for event in events {
            *last_event = event.id.or(last_event.take());
            match Message::parse(&event.data) {
                Ok(Message::Notification(notification))
                    if notification.method == method::CANCELLED
                        && target.requests.cancel(&notification) => {}
                Ok(Message::Notification(notification)) => {
                    target.requests.forward_log(&notification);
                    let _ = incoming.send(Incoming::Notification(notification)).await;
                }
                Ok(Message::Request(request)) => reply::dispatch(target, request, None, tasks),
                // Answers come on the stream of their POST; one that comes here has no call.
                Ok(Message::Response(_)) | Err(_) => {}
            }
        }
    }
    parser.retry().map_or(DEFAULT_RETRY, |millis| {
        Duration::from_millis(millis).clamp(SHORTEST_RETRY, LONGEST_RETRY)
    })
}
