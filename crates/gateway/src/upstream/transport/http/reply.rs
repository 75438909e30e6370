//! Reads the answer to one request: a body of JSON, or a stream of events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::{HeaderValue, StatusCode, header};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::{Id, Message, Notification, Outcome, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;

use super::super::connection::{CallError, LARGEST_REPLY, Reply, ReplyStream, excerpt};
use super::errors;
use super::reply_events::Events;
use super::target::Line;
use crate::upstream::server_requests::Caller;

/// Whom an answer is for: the caller's own id and progress token, and how it is recognised.
#[derive(Clone)]
pub(super) struct Addressee {
    pub(super) id: Id,
    /// The id under which the request was sent, which its answer must bear.
    pub(super) sent: Id,
    pub(super) token: Option<Raw>,
    pub(super) caller: Option<Caller>,
    /// Set when the answer has come.
    pub(super) answered: Arc<AtomicBool>,
}

impl Addressee {
    /// An answer is recognised by its id. An error may come without one: the POST says whose it is.
    fn recognises(&self, response: &Response) -> bool {
        response.id.as_ref().is_none_or(|id| *id == self.sent)
    }
}

/// How many messages of a reply stream wait for their reader.
const STREAM_BUFFER: usize = 32;

/// Reads the answer to one request, whole or as a stream. With a `line` a broken stream is taken
/// up again.
pub(super) async fn read(
    answer: reqwest::Response,
    addressee: Addressee,
    line: Option<&Arc<Line>>,
    tasks: &TaskTracker,
) -> Result<Reply, CallError> {
    let kind = answer.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        let events = Events::new(answer, line.cloned());
        return read_events(events, addressee, tasks).await;
    }
    let body = match read_body(answer).await {
        Ok(Body::Whole(body)) => body,
        Ok(Body::TooLarge) => return Err(errors::too_large()),
        Err(error) => return Err(errors::lost(&error)),
    };
    match Message::parse(&body) {
        Ok(Message::Response(response)) if addressee.recognises(&response) => {
            Ok(Reply::Whole(Response { id: Some(addressee.id), outcome: response.outcome }))
        }
        Ok(Message::Response(_) | Message::Request(_) | Message::Notification(_)) | Err(_) => {
            Err(errors::malformed(&body))
        }
    }
}

/// Reads a stream of events. A stream whose first message is the answer is no stream at all.
async fn read_events(
    mut events: Events,
    addressee: Addressee,
    tasks: &TaskTracker,
) -> Result<Reply, CallError> {
    let first = loop {
        let event = events.next().await?;
        match understand(&event.data, &addressee, events.line(), tasks) {
            Some(Message::Response(response)) => return Ok(Reply::Whole(response)),
            Some(first) => break first,
            None => {}
        }
    };
    let (send, messages) = mpsc::channel(STREAM_BUFFER);
    let posting = tasks.clone();
    tasks.spawn(async move {
        loop {
            let event = tokio::select! {
                biased;
                () = send.closed() => return,
                event = events.next() => event,
            };
            let Ok(event) = event else { return };
            let Some(message) = understand(&event.data, &addressee, events.line(), &posting) else {
                continue;
            };
            let last = matches!(message, Message::Response(_));
            addressee.answered.fetch_or(last, Ordering::Relaxed);
            // A reader that has gone wants no more, and dropping the stream tells the server.
            if send.send(message).await.is_err() || last {
                return;
            }
        }
    });
    Ok(Reply::Stream(ReplyStream::starting_with(first, messages)))
}

/// What an event says to the caller, in the caller's own terms. Questions take their own way.
fn understand(
    data: &Bytes,
    addressee: &Addressee,
    line: Option<&Arc<Line>>,
    tasks: &TaskTracker,
) -> Option<Message> {
    match Message::parse(data).ok()? {
        Message::Response(response) if !addressee.recognises(&response) => {
            tracing::debug!("an answer to another request was dropped");
            None
        }
        Message::Response(response) => {
            let id = Some(addressee.id.clone());
            Some(Message::Response(Response { id, outcome: response.outcome }))
        }
        Message::Notification(told)
            if told.method == method::CANCELLED
                && line.is_some_and(|line| line.questions.withdraw(&told)) =>
        {
            None
        }
        Message::Notification(notification) => {
            let token = addressee.token.as_ref().zip(notification.params.as_ref());
            let params = match token {
                Some((token, params)) if params.member("progressToken").is_some() => {
                    Some(params.with("progressToken", token))
                }
                Some(_) | None => notification.params.clone(),
            };
            Some(Message::Notification(Notification { params, ..notification }))
        }
        Message::Request(request) => {
            if let Some(line) = line {
                ask(line, request, addressee.caller.clone(), tasks);
            }
            None
        }
    }
}

/// Hands on a question of the server; its answer is a POST of its own.
pub(super) fn ask(line: &Arc<Line>, request: Request, caller: Option<Caller>, tasks: &TaskTracker) {
    let (answering, tasks) = (Arc::clone(line), tasks.clone());
    let send = move |response| {
        tasks.spawn(async move {
            let _ = answering.post(&Message::Response(response)).await;
        });
    };
    line.questions.ask(request, caller, Box::new(send));
}

/// A refusal that is an answer: the upstream read the call and said no. Or one that is none,
/// because the server has forgotten us and turned the call away unread.
pub(super) async fn refusal(
    answer: reqwest::Response,
    addressee: Addressee,
    line: &Line,
) -> Result<Reply, CallError> {
    let status = answer.status();
    let body = body_or_nothing(answer).await;
    if line.has_session() && session_is_gone(status, &body) {
        return Err(CallError::NotSent(errors::forgotten(&line.url)));
    }
    let response = match Message::parse(&body) {
        Ok(Message::Response(Response { outcome: outcome @ Outcome::Error(_), .. })) => {
            Response { id: Some(addressee.id), outcome }
        }
        Ok(_) | Err(_) => {
            let said = format!("The upstream answered {status}: {}", excerpt(&body));
            Response::error(Some(addressee.id), -32603, said.trim_end_matches([':', ' ']))
        }
    };
    Ok(Reply::Whole(response))
}

/// What servers say when they have forgotten a session: the 404 of the specification, a 410, or
/// a 400 that speaks of sessions.
pub(super) fn session_is_gone(status: StatusCode, body: &Bytes) -> bool {
    match status {
        StatusCode::NOT_FOUND | StatusCode::GONE => true,
        StatusCode::BAD_REQUEST => {
            let said = excerpt(body).to_lowercase();
            said.contains("session") || said.contains("not initialized")
        }
        _ => false,
    }
}

/// A body that was read, or was too large to be.
pub(super) enum Body {
    Whole(Bytes),
    TooLarge,
}

pub(super) async fn read_body(answer: reqwest::Response) -> Result<Body, reqwest::Error> {
    let mut chunks = answer.bytes_stream();
    let Some(first) = chunks.next().await.transpose()? else {
        return Ok(Body::Whole(Bytes::new()));
    };
    let mut body = BytesMut::from(first);
    while let Some(chunk) = chunks.next().await.transpose()? {
        body.extend_from_slice(&chunk);
        if body.len() > LARGEST_REPLY {
            return Ok(Body::TooLarge);
        }
    }
    Ok(Body::Whole(body.freeze()))
}

pub(crate) async fn body_or_nothing(answer: reqwest::Response) -> Bytes {
    match read_body(answer).await {
        Ok(Body::Whole(body)) => body,
        Ok(Body::TooLarge) | Err(_) => Bytes::new(),
    }
}
