//! The stdio shim: bridges an editor's stdin and stdout to a session with the gateway.
//!
//! # Theory of operation
//! Each line from the editor is one message and becomes one POST. Requests run concurrently;
//! `initialize`, notifications and responses are sent in order, because their order matters. One
//! writer prints all responses, one line each. A separate task relays the gateway's GET stream.
//!
//! Editors do not restart a stdio server that exits, so the shim runs until its input ends. If the
//! gateway goes away, the shim starts another one and sends every message that was not sent. A call
//! that may already have run is not sent again; the editor gets an error that says so.
//!
//! Parts: [`attachment`] finds or starts the gateway, [`lines`] reads and writes messages,
//! [`headers`] builds the headers of stateless requests, [`listen`] relays the GET stream.

mod attachment;
mod headers;
mod lines;
mod listen;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::outcome;
use evermoor_core::failure::outcome::{DeliveryStatus, NotSent, UndeliveredCall, Unknown};
use evermoor_core::policy::retry::{RetryClass, RetryPolicy};
use evermoor_core::protocol::envelope::{
    INVALID_REQUEST, Id, Message, Notification, Request, Response,
};
use evermoor_core::protocol::mcp::{header, method};
use evermoor_core::protocol::stateless;
use evermoor_core::protocol::translate::response::to_stateless;
use evermoor_platform::clock;

use crate::http::{HttpError, HttpResponse};
use crate::launch::Launcher;
use attachment::{Attachment, needs_user_action};
use headers::stateless_headers;
use lines::{Line, MAX_LINE, next_line, write_lines};

/// How long a message waits for a gateway. The same as the default of `hold` in `config.toml`, which
/// limits how long the gateway then holds a call for an upstream. The setting does not change this
/// limit: the two waits are separate, one after the other.
const HOLD_LIMIT: Duration = Duration::from_secs(25);
/// How long to wait for open calls once the editor has closed its input.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(4);
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// Tells the gateway that this editor connects over stdio.
const AGENT: &str = concat!("evermoor-connect/", env!("CARGO_PKG_VERSION"));
const SESSION: HeaderName = HeaderName::from_static(header::SESSION);

/// Bridges `input` and `output` to `path` of the gateway until the input ends.
pub async fn run(
    launcher: Launcher,
    path: String,
    mut input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> std::io::Result<()> {
    let (answers, lines) = mpsc::channel(64);
    let shim = Arc::new(Shim {
        attachment: Attachment::new(launcher),
        path,
        session: watch::Sender::new(None),
        answers,
        cancellable: Mutex::default(),
    });
    let (calls, writer) = (TaskTracker::new(), TaskTracker::new());
    let input_ended = CancellationToken::new();
    writer.spawn(write_lines(lines, output));

    while let Some(line) = next_line(&mut input, MAX_LINE).await? {
        let line = match line {
            Line::Text(line) => line,
            Line::TooLong(id) => {
                shim.answer(&Message::Response(message_too_large(id))).await;
                continue;
            }
        };
        match Message::parse(&line) {
            Ok(Message::Request(request)) if request.method != method::INITIALIZE => {
                calls.spawn(Arc::clone(&shim).call(request));
            }
            Ok(Message::Request(request)) => Arc::clone(&shim).call(request).await,
            Ok(Message::Notification(notification))
                if notification.method == method::CANCELLED && shim.cancel(&notification) => {}
            Ok(message) => {
                shim.send_notification(&message).await;
                if is_initialized(&message) {
                    let listening = listen::listen(Arc::clone(&shim));
                    writer.spawn(input_ended.clone().run_until_cancelled_owned(listening));
                }
            }
            Err(rejected) => shim.answer(&Message::Response(rejected.into())).await,
        }
    }
    calls.close();
    let _ = timeout(DRAIN_TIMEOUT, calls.wait()).await;
    input_ended.cancel();
    drop(shim);
    writer.close();
    let _ = timeout(RETRY_INTERVAL, writer.wait()).await;
    Ok(())
}

struct Shim {
    attachment: Attachment,
    path: String,
    session: watch::Sender<Option<HeaderValue>>,
    answers: mpsc::Sender<Bytes>,
    /// Open stateless requests. A stateless request is cancelled by closing its connection.
    cancellable: Mutex<HashMap<Id, CancellationToken>>,
}

impl Shim {
    /// Sends one request and relays its response.
    async fn call(self: Arc<Self>, request: Request) {
        if !stateless::is_stateless(request.params.as_ref()) {
            return self.send_request(request).await;
        }
        let (id, cancelled) = (request.id.clone(), CancellationToken::new());
        self.cancellable.lock().insert(id.clone(), cancelled.clone());
        cancelled.run_until_cancelled(self.send_request(request)).await;
        self.cancellable.lock().remove(&id);
    }

    /// Cancels a stateless request. Returns whether it was open.
    fn cancel(&self, cancelled: &Notification) -> bool {
        let named = cancelled.params.as_ref().and_then(|params| params.member("requestId"));
        let call = named.and_then(Id::from_raw).and_then(|id| self.cancellable.lock().remove(&id));
        call.inspect(CancellationToken::cancel).is_some()
    }

    async fn send_request(&self, request: Request) {
        let headers = stateless_headers(&request);
        let body = request.to_bytes();
        let began = Instant::now();
        let once = RetryPolicy::default().class(&request, None) == RetryClass::Once;
        for attempts in 1.. {
            let sent_at = clock::now();
            let failed = match self.post(body.clone(), &headers).await {
                Ok(answer) => match self.relay(&request, answer).await {
                    Ok(()) => return,
                    Err(error) => error,
                },
                Err(failed) => failed,
            };
            self.attachment.lost();
            let may_have_run = matches!(failed, HttpError::Broken(_));
            let in_time = request.method == method::LISTEN || began.elapsed() < HOLD_LIMIT;
            if !(may_have_run && once) && in_time && !needs_user_action(&failed) {
                sleep(RETRY_INTERVAL).await;
                continue;
            }
            let fate = match may_have_run {
                true => DeliveryStatus::Unknown(Unknown::GatewayRestarted, sent_at),
                false => DeliveryStatus::NotSent(NotSent::HoldExpired),
            };
            let (subject, is_tool) = outcome::subject(&request.method, request.params.as_ref());
            let undelivered = UndeliveredCall {
                subject: &subject,
                is_tool,
                upstream: "evermoor",
                title: "Evermoor",
                fate,
                detail: &failed.to_string(),
                attempts,
                held: began.elapsed(),
                retry_after: None,
            };
            let answer = undelivered.answer(request.id.clone());
            let answer = match headers.is_empty() {
                true => answer,
                false => to_stateless(&request.method, answer, None),
            };
            return self.answer(&Message::Response(answer)).await;
        }
    }

    /// Sends a message that expects no response. Waits for a gateway if there is none.
    async fn send_notification(&self, message: &Message) {
        let deadline = Instant::now() + HOLD_LIMIT;
        while let Err(error) = self.post(message.to_bytes(), &[]).await {
            self.attachment.lost();
            if Instant::now() >= deadline || needs_user_action(&error) {
                return tracing::warn!(%error, "a notification was not delivered");
            }
            sleep(RETRY_INTERVAL).await;
        }
    }

    /// Sends one message. If the token is rejected, reads it again and retries: it may have been
    /// rotated, and a request rejected for its token was not executed.
    async fn post(
        &self,
        body: Bytes,
        stateless_headers: &[(HeaderName, HeaderValue)],
    ) -> Result<HttpResponse, HttpError> {
        let answer = self.post_once(body.clone(), stateless_headers).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        self.attachment.lost();
        self.post_once(body, stateless_headers).await
    }

    async fn post_once(
        &self,
        body: Bytes,
        stateless_headers: &[(HeaderName, HeaderValue)],
    ) -> Result<HttpResponse, HttpError> {
        let gateway = self.attachment.gateway().await?;
        let mut headers = vec![
            (http::header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (http::header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
            (http::header::USER_AGENT, HeaderValue::from_static(AGENT)),
        ];
        headers.extend_from_slice(stateless_headers);
        let session = self.session.borrow().clone().filter(|_| stateless_headers.is_empty());
        headers.extend(session.map(|session| (SESSION, session)));
        gateway.send(Method::POST, &self.path, &headers, body).await
    }

    /// Relays the gateway's response. An error means that the editor still has no response.
    async fn relay(&self, request: &Request, answer: HttpResponse) -> Result<(), HttpError> {
        if let Some(session) = answer.headers.get(SESSION) {
            self.session.send_replace(Some(session.clone()));
        }
        if !answer.is_event_stream() {
            let status = answer.status;
            let body = answer.bytes().await?;
            let message = Message::parse(&body).unwrap_or_else(|_| {
                let what = format!("The gateway refused the request ({status}).");
                Message::Response(Response::error(None, -32603, &what))
            });
            self.answer(&with_request_id(message, request)).await;
            return Ok(());
        }
        let mut events = answer.events();
        while let Some(event) = events.next().await {
            let Ok(message) = Message::parse(&event.data) else {
                continue;
            };
            let last = matches!(message, Message::Response(_));
            self.answer(&message).await;
            if last {
                return Ok(());
            }
        }
        Err(HttpError::Broken("the reply stream ended".into()))
    }

    async fn answer(&self, message: &Message) {
        // This fails only if the editor has closed its end of the pipe.
        let _ = self.answers.send(message.to_bytes()).await;
    }
}

/// The response to a message that is too large to forward.
fn message_too_large(id: Option<Id>) -> Response {
    let what = format!("This message is larger than {} MiB. Nothing was sent.", MAX_LINE >> 20);
    Response::error(id, INVALID_REQUEST, &what)
}

/// Whether this is `notifications/initialized`.
fn is_initialized(message: &Message) -> bool {
    matches!(message, Message::Notification(sent) if sent.method == method::INITIALIZED)
}

/// Adds the request's id to an error response that has none.
fn with_request_id(message: Message, request: &Request) -> Message {
    match message {
        Message::Response(response) if response.id.is_none() => {
            Message::Response(Response { id: Some(request.id.clone()), ..response })
        }
        Message::Response(_) | Message::Request(_) | Message::Notification(_) => message,
    }
}
