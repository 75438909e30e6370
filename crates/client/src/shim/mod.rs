//! The stdio shim: bridges an editor's stdin and stdout to a session with the gateway.
//!
//! # Theory of operation
//! Each line from the editor is one message and becomes one request to the gateway, over its private
//! socket or over HTTP. Requests run concurrently; `initialize`, notifications and responses are sent in
//! order, because their order matters. Responses are printed as they arrive, one line each. A separate task relays the gateway's GET stream.
//!
//! Editors do not restart a stdio server that exits, so the shim runs until its input ends. If the
//! gateway goes away, the shim starts another one and sends every message that was not sent. A call
//! that may already have run is not sent again; the editor gets an error that says so.
//!
//! [`run`] can do all that. [`run_over_socket`] is for the small program `evermoor-shim`, which contains no HTTP
//! client; when it cannot begin, nothing has been read from the editor, and the large program continues.
//!
//! Parts: [`arguments`] reads the command line, [`attachment`] finds or starts the gateway,
//! [`http_fallback`] reaches it over HTTP, [`lines`] reads and writes messages, [`glance`] reads large
//! requests, [`headers`] builds the headers of stateless requests, [`listen`] relays the GET stream.

pub mod arguments;
mod attachment;
mod glance;
mod headers;
mod http_fallback;
mod lines;
mod listen;

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::Failure;
use evermoor_core::failure::outcome;
use evermoor_core::failure::outcome::{DeliveryStatus, NotSent, UndeliveredCall, Unknown};
use evermoor_core::policy::retry::{RetryClass, RetryPolicy};
use evermoor_core::protocol::envelope::{
    INVALID_REQUEST, Id, InvalidMessage, Message, Notification, Outcome, Request, Response,
};
use evermoor_core::protocol::mcp::{header, method};
use evermoor_core::protocol::request_size::MAX_REQUEST_BYTES;
use evermoor_core::protocol::translate::response::to_stateless;
use evermoor_platform::{clock, stdio};

use crate::http::{HttpError, HttpResponse};
use crate::launch::Launcher;
use attachment::{Attachment, needs_user_action};
use glance::glance;
use headers::stateless_headers;
use http_fallback::OverHttp;
use lines::{Line, LineReader, LineWriter};

/// How long a message waits for a gateway. The setting `hold` in `config.toml` does not change this: it
/// limits the wait for an upstream, which comes after this one.
const GATEWAY_WAIT: Duration = Duration::from_secs(25);
/// How long to wait for open calls once the editor has closed its input.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(4);
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// Smaller lines are always parsed.
const LARGE: usize = 16 << 10;
const SESSION: HeaderName = HeaderName::from_static(header::SESSION);

/// Bridges standard input and output to `path` of the gateway until the input ends.
pub async fn run(launcher: Launcher, path: String) -> io::Result<()> {
    bridge(Attachment::new(launcher, path, Some(Box::new(OverHttp)))).await
}

/// The same over the private socket only. Fails if no gateway can be reached there; then nothing has been
/// read.
pub async fn run_over_socket(launcher: Launcher, path: String) -> Result<io::Result<()>, Failure> {
    let attachment = Attachment::new(launcher, path, None);
    attachment.attach().await?;
    Ok(bridge(attachment).await)
}

async fn bridge(attachment: Attachment) -> io::Result<()> {
    let mut lines = LineReader::new(stdio::input(), MAX_REQUEST_BYTES);
    let (output, all_written) = LineWriter::start()?;
    let shim = Arc::new(Shim {
        attachment,
        session: watch::Sender::new(None),
        output,
        cancellable: Mutex::default(),
    });
    let (calls, listeners) = (TaskTracker::new(), TaskTracker::new());
    let input_ended = CancellationToken::new();

    while let Some(line) = lines.next().await? {
        let line = match line {
            Line::Text(line) => line,
            Line::TooLong(id) => {
                shim.answer(&Message::Response(message_too_large(id))).await;
                continue;
            }
        };
        match Incoming::read(line) {
            Ok(Incoming::Call(call)) if call.method != method::INITIALIZE => {
                calls.spawn(Arc::clone(&shim).call(call));
            }
            Ok(Incoming::Call(call)) => Arc::clone(&shim).call(call).await,
            Ok(Incoming::Other(Message::Notification(notification), _))
                if notification.method == method::CANCELLED && shim.cancel(&notification) => {}
            Ok(Incoming::Other(message, line)) => {
                shim.send_notification(line).await;
                if is_initialized(&message) {
                    let listening = listen::listen(Arc::clone(&shim));
                    listeners.spawn(input_ended.clone().run_until_cancelled_owned(listening));
                }
            }
            Err(rejected) => shim.answer(&Message::Response(rejected.into())).await,
        }
    }
    calls.close();
    let _ = timeout(DRAIN_TIMEOUT, calls.wait()).await;
    input_ended.cancel();
    listeners.close();
    listeners.wait().await;
    drop((shim, calls));
    let _ = timeout(RETRY_INTERVAL, all_written).await;
    Ok(())
}

/// A message from the editor.
enum Incoming {
    Call(Call),
    /// A notification or a response, and the line that it is.
    Other(Message, Bytes),
}

impl Incoming {
    fn read(line: Bytes) -> Result<Self, InvalidMessage> {
        if line.len() >= LARGE
            && let Some(seen) = glance(&line)
        {
            let once = RetryClass::of(&seen.method) == RetryClass::Once;
            let (id, method, headers) = (seen.id, seen.method, Vec::new());
            return Ok(Self::Call(Call { id, method, once, headers, line }));
        }
        Ok(match Message::parse(&line)? {
            Message::Request(request) => Self::Call(Call::of(&request, line)),
            message @ (Message::Notification(_) | Message::Response(_)) => {
                Self::Other(message, line)
            }
        })
    }
}

/// A request of the editor. The line is forwarded as it is.
struct Call {
    id: Id,
    method: String,
    /// It is sent at most once.
    once: bool,
    /// The headers of a stateless request; none for any other.
    headers: Vec<(HeaderName, HeaderValue)>,
    line: Bytes,
}

impl Call {
    fn of(request: &Request, line: Bytes) -> Self {
        Self {
            id: request.id.clone(),
            method: request.method.clone(),
            once: RetryPolicy::default().class(request, None) == RetryClass::Once,
            headers: stateless_headers(request),
            line,
        }
    }

    fn is_stateless(&self) -> bool {
        !self.headers.is_empty()
    }

    /// The answer to a call that the gateway did not answer.
    fn undelivered(
        &self,
        fate: DeliveryStatus,
        detail: &str,
        attempts: u32,
        held: Duration,
    ) -> Response {
        let params = match Message::parse(&self.line) {
            Ok(Message::Request(request)) => request.params,
            Ok(Message::Notification(_) | Message::Response(_)) | Err(_) => None,
        };
        let (subject, is_tool) = outcome::subject(&self.method, params.as_ref());
        let undelivered = UndeliveredCall {
            subject: &subject,
            is_tool,
            upstream: "evermoor",
            title: "Evermoor",
            fate,
            detail,
            attempts,
            held,
            retry_after: None,
        };
        let answer = undelivered.answer(self.id.clone());
        match self.is_stateless() {
            true => to_stateless(&self.method, answer, None),
            false => answer,
        }
    }
}

struct Shim {
    attachment: Attachment,
    session: watch::Sender<Option<HeaderValue>>,
    output: LineWriter,
    /// Open stateless requests. A stateless request is cancelled by giving up its response.
    cancellable: Mutex<HashMap<Id, CancellationToken>>,
}

impl Shim {
    /// Sends one request and relays its response.
    async fn call(self: Arc<Self>, call: Call) {
        if !call.is_stateless() {
            return self.send_request(call).await;
        }
        let (id, cancelled) = (call.id.clone(), CancellationToken::new());
        self.cancellable.lock().insert(id.clone(), cancelled.clone());
        cancelled.run_until_cancelled(self.send_request(call)).await;
        self.cancellable.lock().remove(&id);
    }

    /// Cancels a stateless request. Returns whether it was open.
    fn cancel(&self, cancelled: &Notification) -> bool {
        let named = cancelled.params.as_ref().and_then(|params| params.member("requestId"));
        let call = named.and_then(Id::from_raw).and_then(|id| self.cancellable.lock().remove(&id));
        call.inspect(CancellationToken::cancel).is_some()
    }

    async fn send_request(&self, call: Call) {
        let began = Instant::now();
        for attempts in 1.. {
            let sent_at = clock::now();
            let failed = match self.post(call.line.clone(), &call.headers).await {
                Ok(answer) => match self.relay(&call, answer).await {
                    Ok(()) => return,
                    Err(error) => error,
                },
                Err(failed) => failed,
            };
            self.attachment.lost();
            let may_have_run = matches!(failed, HttpError::Broken(_));
            let in_time = call.method == method::LISTEN || began.elapsed() < GATEWAY_WAIT;
            if !(may_have_run && call.once) && in_time && !needs_user_action(&failed) {
                sleep(RETRY_INTERVAL).await;
                continue;
            }
            let fate = match may_have_run {
                true => DeliveryStatus::Unknown(Unknown::GatewayRestarted, sent_at),
                false => DeliveryStatus::NotSent(NotSent::HoldExpired),
            };
            let answer = call.undelivered(fate, &failed.to_string(), attempts, began.elapsed());
            return self.answer(&Message::Response(answer)).await;
        }
    }

    /// Sends a message that expects no response. Waits for a gateway if there is none.
    async fn send_notification(&self, line: Bytes) {
        let deadline = Instant::now() + GATEWAY_WAIT;
        while let Err(error) = self.post(line.clone(), &[]).await {
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
        let mut headers = stateless_headers.to_vec();
        let session = self.session.borrow().clone().filter(|_| stateless_headers.is_empty());
        headers.extend(session.map(|session| (SESSION, session)));
        self.attachment.send(Method::POST, &headers, body).await
    }

    /// Relays the gateway's response. An error means that the editor still has no response.
    async fn relay(&self, call: &Call, answer: HttpResponse) -> Result<(), HttpError> {
        if let Some(session) = answer.headers.get(SESSION) {
            self.session.send_replace(Some(session.clone()));
        }
        if !answer.is_event_stream() {
            let status = answer.status;
            let body = answer.bytes().await?;
            // A response to the request, which is already what the editor is to get.
            if status == StatusCode::OK && body.starts_with(b"{") {
                self.output.write(body).await;
                return Ok(());
            }
            let message = Message::parse(&body).unwrap_or_else(|_| {
                let what = format!("The gateway refused the request ({status}).");
                Message::Response(Response::error(None, -32603, &what))
            });
            self.answer(&with_id(message, &call.id)).await;
            return Ok(());
        }
        let mut events = answer.events();
        while let Some(event) = events.next().await {
            let Ok(message) = Message::parse(&event.data) else {
                continue;
            };
            match &message {
                // The gateway stops serving. The subscription moves to the next one.
                Message::Response(Response { outcome: Outcome::Result(_), .. })
                    if call.method == method::LISTEN =>
                {
                    return Err(HttpError::Broken("the subscription ended".into()));
                }
                Message::Response(_) => {
                    self.answer(&message).await;
                    return Ok(());
                }
                Message::Notification(_) | Message::Request(_) => self.answer(&message).await,
            }
        }
        Err(HttpError::Broken("the reply stream ended".into()))
    }

    async fn answer(&self, message: &Message) {
        self.output.write(message.to_bytes()).await;
    }
}

/// The response to a message that is too large to forward.
fn message_too_large(id: Option<Id>) -> Response {
    let limit = MAX_REQUEST_BYTES >> 20;
    let what = format!("This message is larger than {limit} MiB. Nothing was sent.");
    Response::error(id, INVALID_REQUEST, &what)
}

/// Whether this is `notifications/initialized`.
fn is_initialized(message: &Message) -> bool {
    matches!(message, Message::Notification(sent) if sent.method == method::INITIALIZED)
}

/// Adds the request's id to an error response that has none.
fn with_id(message: Message, id: &Id) -> Message {
    match message {
        Message::Response(response) if response.id.is_none() => {
            Message::Response(Response { id: Some(id.clone()), ..response })
        }
        Message::Response(_) | Message::Request(_) | Message::Notification(_) => message,
    }
}
