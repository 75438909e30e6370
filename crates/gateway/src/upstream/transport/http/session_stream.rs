//! The stream on which a server with sessions speaks of its own accord.
//!
//! It is opened once and, when it ends, opened again with the id of the last event, for as long as
//! the connection lives. A server that offers none says so and is left alone. One that has
//! forgotten the session is found out here, while nobody calls.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::Message;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::sse;

use super::super::connection::{Incoming, LARGEST_REPLY};
use super::target::Line;
use super::{errors, reply};

const SHORTEST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
const DEFAULT_RETRY: Duration = Duration::from_secs(1);

/// Listens until the server offers nothing to listen to, or is gone.
pub(super) async fn listen(line: Arc<Line>, incoming: mpsc::Sender<Incoming>, tasks: TaskTracker) {
    let mut last_event = None;
    loop {
        let failure = match line.get(last_event.as_deref()).await {
            Ok(answer) if answer.status().is_success() => {
                let retry = read(answer, &line, &incoming, &mut last_event, &tasks).await;
                sleep(retry).await;
                continue;
            }
            Ok(answer) => {
                let status = answer.status();
                let body = reply::body_or_nothing(answer).await;
                if !line.has_session() || !reply::session_is_gone(status, &body) {
                    return;
                }
                errors::forgotten(&line.url)
            }
            Err(error) if error.is_connect() => errors::failure(&line.url, &error),
            Err(_) => {
                sleep(DEFAULT_RETRY).await;
                continue;
            }
        };
        let _ = incoming.send(Incoming::Closed(failure)).await;
        return;
    }
}

/// Reads one stream to its end, and says how long to wait before the next.
async fn read(
    answer: reqwest::Response,
    line: &Arc<Line>,
    incoming: &mpsc::Sender<Incoming>,
    last_event: &mut Option<String>,
    tasks: &TaskTracker,
) -> Duration {
    let mut parser = sse::Parser::new(LARGEST_REPLY);
    let mut chunks = answer.bytes_stream();
    while let Some(Ok(chunk)) = chunks.next().await {
        let Ok(events) = parser.push(&chunk) else { break };
        for event in events {
            *last_event = event.id.or(last_event.take());
            match Message::parse(&event.data) {
                Ok(Message::Notification(told))
                    if told.method == method::CANCELLED && line.questions.withdraw(&told) => {}
                Ok(Message::Notification(notification)) => {
                    line.questions.overhear(&notification);
                    let _ = incoming.send(Incoming::Notification(notification)).await;
                }
                Ok(Message::Request(request)) => reply::ask(line, request, None, tasks),
                // Answers come on their own streams; one that comes here belongs to nobody.
                Ok(Message::Response(_)) | Err(_) => {}
            }
        }
    }
    parser.retry().map_or(DEFAULT_RETRY, |millis| {
        Duration::from_millis(millis).clamp(SHORTEST_RETRY, LONGEST_RETRY)
    })
}
