//! Reads the answer to one request: a body of JSON, or a stream of events.

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::{HeaderValue, header};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use evermoor_core::envelope::{Id, Message, Outcome, Response};
use evermoor_core::outcome::Unknown;
use evermoor_core::sse;

use super::super::connection::{CallError, LARGEST_REPLY, Reply, ReplyStream, excerpt};
use super::errors::lost;

/// How many messages of a reply stream wait for their reader.
const STREAM_BUFFER: usize = 32;

/// Reads the answer to one request, whole or as a stream.
pub(super) async fn read_reply(
    answer: reqwest::Response,
    id: &Id,
    tasks: &TaskTracker,
) -> Result<Reply, CallError> {
    let kind = answer.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind.is_some_and(|kind| kind.starts_with(b"text/event-stream")) {
        return read_events(answer, id.clone(), tasks).await;
    }
    let body = match read_body(answer).await {
        Ok(body) => body,
        Err(error) => return Err(lost(&error)),
    };
    match Message::parse(&body) {
        Ok(Message::Response(response)) => {
            Ok(Reply::Whole(Response { id: Some(id.clone()), outcome: response.outcome }))
        }
        Ok(Message::Request(_) | Message::Notification(_)) | Err(_) => Err(CallError::Unknown {
            why: Unknown::MalformedReply,
            detail: format!("the reply is not JSON-RPC: {}", excerpt(&body)),
            connection_broke: false,
        }),
    }
}

/// Reads a stream of events. A stream whose first event is the answer is no stream at all.
async fn read_events(
    answer: reqwest::Response,
    id: Id,
    tasks: &TaskTracker,
) -> Result<Reply, CallError> {
    let mut chunks = answer.bytes_stream();
    let mut parser = sse::Parser::new(LARGEST_REPLY);
    let mut early = Vec::new();
    while early.is_empty() {
        let chunk = match chunks.next().await {
            Some(Ok(chunk)) => chunk,
            Some(Err(error)) => return Err(lost(&error)),
            None => return Err(cut_short()),
        };
        let events = parser.push(&chunk).map_err(|_| too_large())?;
        early.extend(events.iter().filter_map(|event| read_event(&event.data, &id)));
    }
    if let [Message::Response(_)] = early.as_slice()
        && let Some(Message::Response(response)) = early.pop()
    {
        return Ok(Reply::Whole(response));
    }
    let (send, messages) = mpsc::channel(STREAM_BUFFER);
    let rest = async move {
        for message in early {
            if send.send(message).await.is_err() {
                return;
            }
        }
        while let Some(Ok(chunk)) = chunks.next().await {
            let Ok(events) = parser.push(&chunk) else {
                return;
            };
            for message in events.iter().filter_map(|event| read_event(&event.data, &id)) {
                let last = matches!(message, Message::Response(_));
                if send.send(message).await.is_err() || last {
                    return;
                }
            }
        }
    };
    tasks.spawn(rest);
    Ok(Reply::Stream(ReplyStream::new(messages)))
}

fn read_event(data: &Bytes, id: &Id) -> Option<Message> {
    match Message::parse(data).ok()? {
        Message::Response(response) => {
            Some(Message::Response(Response { id: Some(id.clone()), outcome: response.outcome }))
        }
        message @ (Message::Request(_) | Message::Notification(_)) => Some(message),
    }
}

pub(super) async fn read_body(answer: reqwest::Response) -> Result<Bytes, reqwest::Error> {
    let mut chunks = answer.bytes_stream();
    let Some(first) = chunks.next().await else {
        return Ok(Bytes::new());
    };
    let first = first?;
    let Some(second) = chunks.next().await else {
        return Ok(first);
    };
    let mut body = BytesMut::from(first);
    body.extend_from_slice(&second?);
    while let Some(chunk) = chunks.next().await {
        body.extend_from_slice(&chunk?);
        if body.len() > LARGEST_REPLY {
            break;
        }
    }
    Ok(body.freeze())
}

/// A refusal that is an answer: the upstream read the call and said no.
pub(super) async fn relayed_refusal(answer: reqwest::Response, id: &Id) -> Response {
    let status = answer.status();
    let body = read_body(answer).await.unwrap_or_default();
    match Message::parse(&body) {
        Ok(Message::Response(Response { outcome: outcome @ Outcome::Error(_), .. })) => {
            Response { id: Some(id.clone()), outcome }
        }
        Ok(_) | Err(_) => {
            let said = format!("The upstream answered {status}: {}", excerpt(&body));
            Response::error(Some(id.clone()), -32603, said.trim_end_matches([':', ' ']))
        }
    }
}

fn cut_short() -> CallError {
    CallError::Unknown {
        why: Unknown::EofBeforeReply,
        detail: "the reply stream ended before the reply".into(),
        connection_broke: true,
    }
}

fn too_large() -> CallError {
    CallError::Unknown {
        why: Unknown::MalformedReply,
        detail: format!("the reply is larger than {LARGEST_REPLY} bytes"),
        connection_broke: false,
    }
}
