//! The stream on which a server with sessions sends messages that belong to no call.
//!
//! A server may end the stream at any time, which says nothing about the connection: the stream is
//! opened again with the id of the last event, and nothing else happens. A server that ends it at once
//! each time is asked less and less often, and one that does not offer it is not asked again. If the
//! server refuses the stream as if the session were lost, a `ping` finds out whether it is, because
//! some servers refuse to resume a stream in this way. So a lost session is also detected while there
//! are no calls.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::TaskTracker;

use evermoor_core::failure::Failure;
use evermoor_core::protocol::envelope::{Message, Request};
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::sse;

use super::super::connection::{ConnectionEvent, LARGEST_REPLY};
use super::client::HttpAnswer;
use super::target::HttpTarget;
use super::{reply, status};
use crate::system::budget::Intake;
use crate::system::message_parser;

const SHORTEST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
const DEFAULT_RETRY: Duration = Duration::from_secs(1);

/// A stream that ends earlier and brings nothing is opened again later than the last time.
const SHORTEST_STREAM: Duration = Duration::from_secs(3);
/// How long a `ping` may take that finds out whether the session is lost.
const PING_LIMIT: Duration = Duration::from_secs(5);

/// Reads the stream until the server does not offer it or is gone.
pub(super) async fn listen(
    target: Arc<HttpTarget>,
    incoming: mpsc::Sender<ConnectionEvent>,
    tasks: TaskTracker,
) {
    let (mut last_event, mut early_ends) = (None, 0);
    loop {
        let opened = Instant::now();
        let before = last_event.clone();
        match target.get(last_event.as_deref()).await {
            Ok(answer) if answer.status().is_success() => {
                let retry = read(answer, &target, &incoming, &mut last_event, &tasks).await;
                let useful = opened.elapsed() >= SHORTEST_STREAM || last_event != before;
                early_ends = if useful { 0 } else { early_ends + 1 };
                sleep(retry.saturating_mul(1 << early_ends.min(6)).min(LONGEST_RETRY)).await;
                continue;
            }
            Ok(answer) => {
                let (status, challenge) = (answer.status(), status::is_challenge(&answer));
                let body = reply::body_or_nothing(answer).await;
                if !target.has_session() || !status::session_is_gone(status, challenge, &body) {
                    return;
                }
            }
            Err(error) if error.is_connect() => {}
            Err(_) => {
                sleep(DEFAULT_RETRY).await;
                continue;
            }
        }
        if let Some(failure) = lost(&target).await {
            let _ = incoming.send(ConnectionEvent::Closed(failure)).await;
            return;
        }
        // The session lives. If the server cannot resume the stream, it may offer a new one.
        if last_event.take().is_none() {
            return;
        }
        sleep(DEFAULT_RETRY).await;
    }
}

/// Why the session is lost or the server unreachable, if a `ping` shows that.
async fn lost(target: &HttpTarget) -> Option<Failure> {
    let ping = Request::new(target.next_id(), method::PING, None);
    let asking = async {
        match target.post(&ping.into()).await {
            // The body may be a stream that never ends.
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => {
                let (status, challenge) = (answer.status(), status::is_challenge(&answer));
                let body = reply::body_or_nothing(answer).await;
                let gone = status::session_is_gone(status, challenge, &body);
                gone.then(|| status::session_lost(&target.url))
            }
            Err(error) if error.is_connect() => Some(status::failure(&target.url, &error)),
            // The keepalive finds out more.
            Err(_) => None,
        }
    };
    timeout(PING_LIMIT, asking).await.unwrap_or(None)
}

/// Reads one stream to its end, and returns how long to wait before the next.
async fn read(
    mut answer: HttpAnswer,
    target: &Arc<HttpTarget>,
    incoming: &mpsc::Sender<ConnectionEvent>,
    last_event: &mut Option<Arc<str>>,
    tasks: &TaskTracker,
) -> Duration {
    let mut parser = sse::SseParser::new(LARGEST_REPLY);
    let mut intake = Intake::new(&target.clients.buffers);
    while let Ok(Some(chunk)) = answer.chunk().await {
        if intake.admit(chunk.len()).await.is_err() {
            break;
        }
        let Ok(events) = parser.push(&chunk) else { break };
        let events: Vec<_> =
            events.into_iter().map(|event| (event.id, intake.take(event.data).0)).collect();
        intake.keep_only(parser.buffered());
        for (id, data) in events {
            *last_event = id.or(last_event.take());
            match message_parser::parse(&data).await {
                Ok(Message::Notification(notification))
                    if notification.method == method::CANCELLED
                        && target.requests.cancel(&notification) => {}
                Ok(Message::Notification(notification)) => {
                    target.requests.forward_log(&notification);
                    let _ = incoming.send(ConnectionEvent::Notification(notification)).await;
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

#[cfg(test)]
mod tests {
    use super::super::{HttpClients, HttpConnection};
    use super::*;
    use crate::config::secrets::FoundSecrets;
    use crate::upstream::transport::connection::Connected;
    use axum::Router;
    use axum::extract::State;
    use axum::response::{IntoResponse as _, Response};
    use axum::routing::post;
    use bytes::Bytes;
    use evermoor_core::config::HttpOptions;
    use evermoor_core::protocol::envelope;
    use evermoor_core::protocol::json::Raw;
    use evermoor_core::protocol::mcp::{SessionVersion, initialize_result};
    use http::{HeaderMap, StatusCode, header};
    use parking_lot::Mutex;
    use url::Url;

    /// A server that ends its stream after one event, and refuses to resume the second.
    #[derive(Default)]
    struct Server {
        /// The methods it was asked for.
        asked: Mutex<Vec<String>>,
        /// The `Last-Event-ID` of each stream that was asked for.
        resumed: Mutex<Vec<Option<String>>>,
        forgot_session: Mutex<bool>,
    }

    async fn answer(State(server): State<Arc<Server>>, body: Bytes) -> Response {
        let Ok(Message::Request(request)) = Message::parse(&body) else {
            return StatusCode::ACCEPTED.into_response();
        };
        server.asked.lock().push(request.method.clone());
        if *server.forgot_session.lock() {
            return StatusCode::NOT_FOUND.into_response();
        }
        let nothing = Raw::of(&serde_json::json!({}));
        let info = Raw::of(&serde_json::json!({ "name": "s", "version": "1" }));
        let result = match request.method == method::INITIALIZE {
            true => initialize_result(SessionVersion::LATEST, &nothing, &info, None),
            false => nothing,
        };
        let answer = envelope::Response::result(request.id, result).to_bytes();
        let kind = [(header::CONTENT_TYPE.as_str(), "application/json"), ("mcp-session-id", "a")];
        (kind, answer).into_response()
    }

    async fn stream(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
        let last = headers.get("last-event-id").map(|id| id.to_str().unwrap().to_owned());
        let number = {
            let mut resumed = server.resumed.lock();
            resumed.push(last.clone());
            resumed.len()
        };
        if last.as_deref() == Some("event-2") {
            return (StatusCode::NOT_FOUND, "no such event").into_response();
        }
        let event = format!(
            "retry: 1\nid: event-{number}\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"n/{number}\"}}\n\n"
        );
        ([(header::CONTENT_TYPE, "text/event-stream")], event).into_response()
    }

    async fn connect(server: &Arc<Server>, tasks: &TaskTracker) -> Connected {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let app =
            Router::new().route("/mcp", post(answer).get(stream)).with_state(Arc::clone(server));
        tasks.spawn(async move { axum::serve(listener, app).await });
        let url = Url::parse(&url).unwrap();
        let (options, found) = (HttpOptions::default(), FoundSecrets::default());
        let clients =
            HttpClients::new(&url, true, &options, &found, &Arc::default(), tasks).await.unwrap();
        HttpConnection::initialize(clients, url, tasks).await.unwrap()
    }

    #[tokio::test]
    async fn a_stream_that_ends_is_opened_again_and_nothing_else_happens() {
        let (server, tasks) = (Arc::new(Server::default()), TaskTracker::new());
        let mut connected = connect(&server, &tasks).await;
        for number in [1, 2, 4, 5] {
            match connected.incoming.recv().await {
                Some(ConnectionEvent::Notification(notification)) => {
                    assert_eq!(notification.method, format!("n/{number}"));
                }
                other => panic!("{other:?}"),
            }
        }
        let resumed = server.resumed.lock()[..5].to_vec();
        let ids = resumed.iter().map(Option::as_deref);
        let expected = [None, Some("event-1"), Some("event-2"), None, Some("event-4")];
        assert_eq!(ids.collect::<Vec<_>>(), expected);
        let asked = server.asked.lock().clone();
        assert_eq!(asked, [method::INITIALIZE, method::PING], "one ping after the refusal");
    }

    #[tokio::test]
    async fn a_session_that_is_lost_while_there_are_no_calls_is_noticed() {
        let (server, tasks) = (Arc::new(Server::default()), TaskTracker::new());
        let mut connected = connect(&server, &tasks).await;
        *server.forgot_session.lock() = true;
        loop {
            match connected.incoming.recv().await {
                Some(ConnectionEvent::Notification(_)) => {}
                Some(ConnectionEvent::Closed(failure)) => {
                    assert_eq!(failure.code, evermoor_core::failure::Code::SessionLost);
                    return;
                }
                None => panic!("the connection is still used"),
            }
        }
    }
}
