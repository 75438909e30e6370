//! Reads the answer to one request: a body of JSON, or a stream of events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::{Bytes, BytesMut};
use http::StatusCode;
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::outcome::Answer;
use evermoor_core::protocol::envelope::{Id, Message, Notification, Outcome, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::version::ProtocolVersion;

use super::super::connection::{
    CallError, CallReply, LARGEST_REPLY, ReplyPart, ReplyStream, excerpt,
};
use super::client::{HttpAnswer, HttpCallError};
use super::reply_events::{ReplyEvent, ReplyEvents};
use super::status;
use super::target::HttpTarget;
use crate::system::budget::{Budget, Intake, NoRoom, SharedCharge};
use crate::system::message_parser;
use crate::upstream::server_requests::Caller;

/// A request that waits for its answer: the caller's id and progress token, and the id it was sent
/// under.
#[derive(Clone)]
pub(super) struct PendingRequest {
    pub(super) id: Id,
    /// The id under which the request was sent, which its answer must have.
    pub(super) sent: Id,
    /// The protocol version in which it is answered.
    pub(super) version: ProtocolVersion,
    pub(super) token: Option<Raw>,
    pub(super) caller: Option<Caller>,
    /// Set when the answer has come.
    pub(super) answered: Arc<AtomicBool>,
}

impl PendingRequest {
    /// Whether an answer has the right id. An error may have none, because it comes on the POST.
    fn matches(&self, response: &Response) -> bool {
        response.id.as_ref().is_none_or(|id| *id == self.sent)
    }

    /// The answer has arrived. One to the gateway itself is a list, which has a limit of its own.
    fn arrived(&self, charge: Option<SharedCharge>) {
        match &self.caller {
            Some(caller) => caller.answer_charge.arrived(charge),
            None => charge.iter().for_each(SharedCharge::release),
        }
    }

    /// The upstream's answer under the caller's id.
    fn answer(&self, outcome: Outcome) -> Answer {
        Answer::from_upstream(Response { id: Some(self.id.clone()), outcome }, self.version)
    }
}

/// How many messages of a reply stream are buffered.
const STREAM_BUFFER: usize = 32;
/// The longest body of an answer that refuses a request.
const LONGEST_REFUSAL: usize = 1 << 20;

/// Reads the answer to one request, whole or as a stream. With a `target`, a broken stream is resumed.
pub(super) async fn read(
    answer: HttpAnswer,
    pending: PendingRequest,
    target: Option<&Arc<HttpTarget>>,
    buffers: &Arc<Budget>,
    tasks: &TaskTracker,
) -> Result<CallReply, CallError> {
    if answer.is_event_stream() {
        let events = ReplyEvents::new(answer, target.cloned(), buffers);
        return read_events(events, pending, tasks).await;
    }
    let mut intake = Intake::new(buffers);
    let body = match read_body(answer, LARGEST_REPLY, Some(&mut intake)).await {
        Ok(BoundedBody::Whole(body)) => body,
        Ok(BoundedBody::TooLarge) => return Err(status::too_large()),
        Ok(BoundedBody::NoRoom(no_room)) => return Err(status::no_room(&no_room)),
        Err(error) => return Err(status::lost(&error)),
    };
    let (body, charge) = intake.take(body);
    drop(intake);
    match message_parser::parse(&body).await {
        Ok(Message::Response(response)) if pending.matches(&response) => {
            pending.arrived(charge);
            Ok(CallReply::Whole(pending.answer(response.outcome)))
        }
        Ok(Message::Response(_) | Message::Request(_) | Message::Notification(_)) | Err(_) => {
            Err(status::malformed(&body))
        }
    }
}

/// Reads a stream of events. If the first message is the answer, the reply is whole.
async fn read_events(
    mut events: ReplyEvents,
    pending: PendingRequest,
    tasks: &TaskTracker,
) -> Result<CallReply, CallError> {
    let first = loop {
        let event = events.next().await?;
        match part_for_caller(event, &pending, events.target(), tasks).await {
            Some(ReplyPart::Answer(answer)) => return Ok(CallReply::Whole(answer)),
            Some(first) => break first,
            None => {}
        }
    };
    let (send, parts) = mpsc::channel(STREAM_BUFFER);
    let task_tracker = tasks.clone();
    tasks.spawn(async move {
        loop {
            let event = tokio::select! {
                biased;
                () = send.closed() => return,
                event = events.next() => event,
            };
            let Ok(event) = event else { return };
            let part = part_for_caller(event, &pending, events.target(), &task_tracker).await;
            let Some(part) = part else { continue };
            let last = matches!(part, ReplyPart::Answer(_));
            pending.answered.fetch_or(last, Ordering::Relaxed);
            // If the reader is gone, dropping the stream closes it at the server.
            if send.send(part).await.is_err() || last {
                return;
            }
        }
    });
    Ok(CallReply::Stream(ReplyStream::starting_with(first, parts)))
}

/// What an event has for the caller, with the caller's id and progress token. Requests of the server
/// are dispatched here.
async fn part_for_caller(
    event: ReplyEvent,
    pending: &PendingRequest,
    target: Option<&Arc<HttpTarget>>,
    tasks: &TaskTracker,
) -> Option<ReplyPart> {
    match message_parser::parse(&event.data).await.ok()? {
        Message::Response(response) if !pending.matches(&response) => {
            tracing::debug!("dropped an answer to another request");
            None
        }
        Message::Response(response) => {
            pending.arrived(event.charge);
            Some(ReplyPart::Answer(pending.answer(response.outcome)))
        }
        Message::Notification(notification)
            if notification.method == method::CANCELLED
                && target.is_some_and(|target| target.requests.cancel(&notification)) =>
        {
            None
        }
        Message::Notification(notification) => {
            let token = pending.token.as_ref().zip(notification.params.as_ref());
            let params = match token {
                Some((token, params)) if params.member("progressToken").is_some() => {
                    Some(params.with("progressToken", token))
                }
                Some(_) | None => notification.params.clone(),
            };
            Some(ReplyPart::Notification(Notification { params, ..notification }))
        }
        Message::Request(request) => {
            if let Some(target) = target {
                dispatch(target, request, pending.caller.clone(), tasks);
            }
            None
        }
    }
}

/// Passes a request of the server on; its answer is a separate POST.
pub(super) fn dispatch(
    target: &Arc<HttpTarget>,
    request: Request,
    caller: Option<Caller>,
    tasks: &TaskTracker,
) {
    let (answering, tasks) = (Arc::clone(target), tasks.clone());
    let send = move |response| {
        let answers = answering.answers.clone();
        answers.send(&tasks, async move {
            let _ = answering.post(&Message::Response(response)).await;
        });
    };
    target.requests.dispatch(request, caller, Box::new(send));
}

/// What an error status means: an answer, if the upstream read the call and refused it, or not sent,
/// if the session is gone and the call was rejected unread.
pub(super) async fn refusal(
    answer: HttpAnswer,
    pending: PendingRequest,
    target: &HttpTarget,
) -> Result<CallReply, CallError> {
    let (status, challenge) = (answer.status(), status::is_challenge(&answer));
    if let Some(failure) = target.clients.lacks_scope(&answer) {
        return Err(CallError::AuthRequired(failure));
    }
    let body = body_or_nothing(answer).await;
    if target.has_session() && status::session_is_gone(status, challenge, &body) {
        return Err(CallError::NotSent(status::session_lost(&target.url)));
    }
    if status == StatusCode::UNAUTHORIZED {
        let credential = target.clients.credential();
        let failure = status::refused_with(&target.url, credential, status, &body);
        return Err(CallError::AuthRequired(failure));
    }
    let outcome = match Message::parse(&body) {
        Ok(Message::Response(Response { outcome: outcome @ Outcome::Error(_), .. })) => outcome,
        Ok(_) | Err(_) => {
            let text = format!("The server answered {status}: {}", excerpt(&body));
            Response::error(None, -32603, text.trim_end_matches([':', ' '])).outcome
        }
    };
    Ok(CallReply::Whole(pending.answer(outcome)))
}

/// A body within the size limit, or one that exceeds it.
pub(super) enum BoundedBody {
    Whole(Bytes),
    TooLarge,
    NoRoom(NoRoom),
}

/// Reads a body of at most `limit` bytes, which `intake` charges if there is one.
async fn read_body(
    mut answer: HttpAnswer,
    limit: usize,
    mut intake: Option<&mut Intake>,
) -> Result<BoundedBody, HttpCallError> {
    let Some(first) = answer.chunk().await? else { return Ok(BoundedBody::Whole(Bytes::new())) };
    let mut next = answer.chunk().await?;
    if let Some(intake) = &mut intake
        && let Err(no_room) = intake.admit(first.len()).await
    {
        return Ok(BoundedBody::NoRoom(no_room));
    }
    if next.is_none() && first.len() <= limit {
        return Ok(BoundedBody::Whole(first));
    }
    let known = answer.content_length().unwrap_or_default().min(limit);
    let mut body = BytesMut::with_capacity(known.max(first.len()));
    body.extend_from_slice(&first);
    while let Some(chunk) = next {
        if body.len() + chunk.len() > limit {
            return Ok(BoundedBody::TooLarge);
        }
        if let Some(intake) = &mut intake
            && let Err(no_room) = intake.admit(chunk.len()).await
        {
            return Ok(BoundedBody::NoRoom(no_room));
        }
        body.extend_from_slice(&chunk);
        next = answer.chunk().await?;
    }
    Ok(BoundedBody::Whole(body.freeze()))
}

/// The body of an answer that says why there is no other. A long one says nothing useful.
pub(crate) async fn body_or_nothing(answer: HttpAnswer) -> Bytes {
    match read_body(answer, LONGEST_REFUSAL, None).await {
        Ok(BoundedBody::Whole(body)) => body,
        Ok(BoundedBody::TooLarge | BoundedBody::NoRoom(_)) | Err(_) => Bytes::new(),
    }
}
