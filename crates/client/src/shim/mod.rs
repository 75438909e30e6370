//! An editor's standard input and output as a session with the gateway.
//!
//! # Theory of operation
//! Each line from the editor is one message and becomes one POST. Requests are sent side by side;
//! `initialize`, notifications and answers one after the other, because their order matters. Every
//! answer goes through one writer, one line each. Beside them the stream on which the gateway
//! speaks of its own accord is passed on.
//!
//! Editors do not start a stdio server again that ended, so the shim ends only with its input.
//! While the gateway is away it starts one and sends what was never sent; a call that may have run
//! gets an honest answer instead of a second chance.

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

use crate::http::{Answer, HttpError};
use crate::launch::Launcher;
use attachment::{Attached, needs_a_person};
use headers::own_words;
use lines::{LONGEST, Line, next_line, write_lines};

/// How long a message waits for a gateway that does not come.
const PATIENCE: Duration = Duration::from_secs(25);
/// How long answers under way are waited for once the editor has closed its end.
const FAREWELL: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_millis(100);
/// By this the gateway knows that an editor speaks over standard input and output.
const AGENT: &str = concat!("evermoor-connect/", env!("CARGO_PKG_VERSION"));
const SESSION: HeaderName = HeaderName::from_static(header::SESSION);

/// Bridges `input` and `output` to `path` of the gateway, until the input ends.
pub async fn run(
    launcher: Launcher,
    path: String,
    mut input: impl AsyncBufRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> std::io::Result<()> {
    let (answers, lines) = mpsc::channel(64);
    let shim = Arc::new(Shim {
        attached: Attached::new(launcher),
        path,
        session: watch::Sender::new(None),
        answers,
        newer: Mutex::default(),
    });
    let (calls, writer) = (TaskTracker::new(), TaskTracker::new());
    let over = CancellationToken::new();
    writer.spawn(write_lines(lines, output));

    while let Some(line) = next_line(&mut input, LONGEST).await? {
        let line = match line {
            Line::Text(line) => line,
            Line::TooLong(id) => {
                shim.answer(&Message::Response(too_long(id))).await;
                continue;
            }
        };
        match Message::parse(&line) {
            Ok(Message::Request(request)) if request.method != method::INITIALIZE => {
                calls.spawn(Arc::clone(&shim).call(request));
            }
            Ok(Message::Request(request)) => Arc::clone(&shim).call(request).await,
            Ok(Message::Notification(told))
                if told.method == method::CANCELLED && shim.cancel(&told) => {}
            Ok(message) => {
                shim.tell(&message).await;
                if is_introduction(&message) {
                    let listening = listen::listen(Arc::clone(&shim));
                    writer.spawn(over.clone().run_until_cancelled_owned(listening));
                }
            }
            Err(rejected) => shim.answer(&Message::Response(rejected.into())).await,
        }
    }
    calls.close();
    let _ = timeout(FAREWELL, calls.wait()).await;
    over.cancel();
    drop(shim);
    writer.close();
    let _ = timeout(PAUSE, writer.wait()).await;
    Ok(())
}

struct Shim {
    attached: Attached,
    path: String,
    session: watch::Sender<Option<HeaderValue>>,
    answers: mpsc::Sender<Bytes>,
    /// Requests under way that speak for themselves, and what cancels each.
    newer: Mutex<HashMap<Id, CancellationToken>>,
}

impl Shim {
    /// One request and its one answer. One that speaks for itself is cancelled by hanging up.
    async fn call(self: Arc<Self>, request: Request) {
        if !stateless::is_stateless(request.params.as_ref()) {
            return self.deliver(request).await;
        }
        let (id, cancelled) = (request.id.clone(), CancellationToken::new());
        self.newer.lock().insert(id.clone(), cancelled.clone());
        cancelled.run_until_cancelled(self.deliver(request)).await;
        self.newer.lock().remove(&id);
    }

    /// Cancels a request that speaks for itself. Says whether there was one.
    fn cancel(&self, cancelled: &Notification) -> bool {
        let named = cancelled.params.as_ref().and_then(|params| params.member("requestId"));
        let call = named.and_then(Id::from_raw).and_then(|id| self.newer.lock().remove(&id));
        call.inspect(CancellationToken::cancel).is_some()
    }

    async fn deliver(&self, request: Request) {
        let headers = own_words(&request);
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
            self.attached.lost();
            let may_have_run = matches!(failed, HttpError::Broken(_));
            let patient = request.method == method::LISTEN || began.elapsed() < PATIENCE;
            if !(may_have_run && once) && patient && !needs_a_person(&failed) {
                sleep(PAUSE).await;
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

    /// A message that wants no answer. Without a gateway it is kept back until there is one.
    async fn tell(&self, message: &Message) {
        let deadline = Instant::now() + PATIENCE;
        while let Err(error) = self.post(message.to_bytes(), &[]).await {
            self.attached.lost();
            if Instant::now() >= deadline || needs_a_person(&error) {
                return tracing::warn!(%error, "a notification was not delivered");
            }
            sleep(PAUSE).await;
        }
    }

    /// Sends one message. A token that was rotated meanwhile is read anew: what is refused for its
    /// token was not executed.
    async fn post(
        &self,
        body: Bytes,
        own_words: &[(HeaderName, HeaderValue)],
    ) -> Result<Answer, HttpError> {
        let answer = self.post_once(body.clone(), own_words).await?;
        if answer.status != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        self.attached.lost();
        self.post_once(body, own_words).await
    }

    async fn post_once(
        &self,
        body: Bytes,
        own_words: &[(HeaderName, HeaderValue)],
    ) -> Result<Answer, HttpError> {
        let gateway = self.attached.gateway().await?;
        let mut headers = vec![
            (http::header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (http::header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
            (http::header::USER_AGENT, HeaderValue::from_static(AGENT)),
        ];
        headers.extend_from_slice(own_words);
        let session = self.session.borrow().clone().filter(|_| own_words.is_empty());
        headers.extend(session.map(|session| (SESSION, session)));
        gateway.send(Method::POST, &self.path, &headers, body).await
    }

    /// Passes on what the gateway answered. An error means that the one answer is still owed.
    async fn relay(&self, request: &Request, answer: Answer) -> Result<(), HttpError> {
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
            self.answer(&addressed(message, request)).await;
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
        // The writer ends only with the editor's own end of the pipe.
        let _ = self.answers.send(message.to_bytes()).await;
    }
}

/// The answer to a message that nobody reads.
fn too_long(id: Option<Id>) -> Response {
    let what = format!("This message is larger than {} MiB. Nothing was sent.", LONGEST >> 20);
    Response::error(id, INVALID_REQUEST, &what)
}

/// Whether the editor says that it has introduced itself.
fn is_introduction(message: &Message) -> bool {
    matches!(message, Message::Notification(told) if told.method == method::INITIALIZED)
}

/// A refusal that names no request belongs to the request that was sent.
fn addressed(message: Message, request: &Request) -> Message {
    match message {
        Message::Response(response) if response.id.is_none() => {
            Message::Response(Response { id: Some(request.id.clone()), ..response })
        }
        Message::Response(_) | Message::Request(_) | Message::Notification(_) => message,
    }
}
