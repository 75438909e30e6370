//! Streamable HTTP: one POST per message, answered by JSON or by a stream of events.
//!
//! Two clients with the same settings but for how long a socket may rest in their pool: a call
//! that must not be repeated only reuses a socket that was active within the last second, because
//! a socket that the server is just closing makes it unknowable whether a call ran.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::{HeaderValue, StatusCode, header};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::call::Class;
use evermoor_core::envelope::{Id, Message, Notification, Outcome, Request, Response};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::json::Raw;
use evermoor_core::outcome::Unknown;
use evermoor_core::protocol::{self, Handshake, Revision, method};
use evermoor_core::sse;

use super::connection::{CallError, LARGEST_REPLY, Reply, ReplyStream, excerpt};

/// A session with an upstream over HTTP.
pub(crate) struct HttpConnection {
    clients: Clients,
    url: Url,
    session: Option<HeaderValue>,
    revision: Revision,
    ids: AtomicU64,
    tasks: TaskTracker,
}

/// The same client twice, for calls that may be repeated and calls that may not.
#[derive(Clone)]
pub(crate) struct Clients {
    repeatable: reqwest::Client,
    once: reqwest::Client,
}

const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// How long a quiet reply stream may buffer messages before its reader takes them.
const STREAM_BUFFER: usize = 32;

impl Clients {
    /// Clients for an upstream on this machine, or elsewhere.
    pub(crate) fn new(local: bool) -> Result<Self, reqwest::Error> {
        let build = |idle: Duration| {
            let connect = if local { Duration::from_secs(1) } else { Duration::from_secs(5) };
            let client = reqwest::Client::builder()
                .user_agent(concat!("evermoor/", env!("CARGO_PKG_VERSION")))
                .redirect(reqwest::redirect::Policy::none())
                .retry(reqwest::retry::never())
                .tcp_nodelay(true)
                .connect_timeout(connect)
                .pool_idle_timeout(idle);
            // On this machine nothing is proxied, and no certificates need to be in memory.
            let client = if local { client.no_proxy().tls_certs_only([]) } else { client };
            client.build()
        };
        Ok(Self {
            repeatable: build(Duration::from_secs(3))?,
            once: build(Duration::from_secs(1))?,
        })
    }
}

impl HttpConnection {
    /// Makes a session: the handshake of MCP.
    pub(crate) async fn open(
        clients: Clients,
        url: Url,
        tasks: TaskTracker,
    ) -> Result<(Self, Handshake), Failure> {
        let ids = AtomicU64::new(1);
        let mut connection =
            Self { clients, url, session: None, revision: Revision::LATEST, ids, tasks };
        let handshake = tokio::time::timeout(HANDSHAKE_LIMIT, connection.handshake()).await;
        let handshake = handshake.unwrap_or_else(|_| Err(connection.silent()))?;
        Ok((connection, handshake))
    }

    async fn handshake(&mut self) -> Result<Handshake, Failure> {
        let params = protocol::initialize_params(Revision::LATEST, crate::VERSION);
        let request = Request::new(self.next_id(), method::INITIALIZE, Some(params));
        let answer =
            self.post(Class::Repeatable, request.to_bytes()).await.map_err(|e| self.failure(&e))?;
        if !answer.status().is_success() {
            return Err(self.refused(answer).await);
        }
        self.session = answer.headers().get(protocol::header::SESSION).cloned();
        let response = match read_reply(answer, &request.id, &self.tasks).await {
            Ok(Reply::Whole(response)) => Some(response),
            Ok(Reply::Stream(messages)) => messages.answer().await,
            Err(_) => None,
        };
        let handshake = match response.map(|response| response.outcome) {
            Some(Outcome::Result(result)) => Handshake::read(&result),
            Some(Outcome::Error(_)) | None => None,
        };
        let handshake = handshake.ok_or_else(|| self.not_mcp())?;
        self.revision = handshake.revision;
        self.notify(&Notification::new(method::INITIALIZED, None)).await?;
        Ok(handshake)
    }

    /// Sends a request under an id of our own; the answer comes back under the caller's.
    pub(crate) async fn call(&self, request: &Request) -> Result<Reply, CallError> {
        let sent = Request { id: self.next_id(), ..request.clone() };
        let class = Class::of(&request.method);
        let answer = match self.post(class, sent.to_bytes()).await {
            Ok(answer) => answer,
            Err(error) if never_sent(&error) => {
                return Err(CallError::NotSent(self.failure(&error)));
            }
            Err(error) => return Err(lost(&error)),
        };
        match answer.status() {
            status if status.is_success() => read_reply(answer, &request.id, &self.tasks).await,
            StatusCode::NOT_FOUND if self.session.is_some() => {
                Err(CallError::NotSent(self.forgotten()))
            }
            StatusCode::UNAUTHORIZED => Err(CallError::AuthRequired(self.refused(answer).await)),
            StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => Err(CallError::Unknown {
                why: Unknown::BadGateway,
                detail: format!("{} answered {}", self.url, answer.status()),
                connection_broke: false,
            }),
            _ => Ok(Reply::Whole(relayed_refusal(answer, &request.id).await)),
        }
    }

    /// A request of the gateway's own, with its result.
    pub(crate) async fn ask(&self, called: &str, params: Option<Raw>) -> Result<Raw, Failure> {
        let request = Request::new(Id::number(0), called, params);
        let response = match self.call(&request).await {
            Ok(Reply::Whole(response)) => Some(response),
            Ok(Reply::Stream(messages)) => messages.answer().await,
            Err(CallError::NotSent(failure) | CallError::AuthRequired(failure)) => {
                return Err(failure);
            }
            Err(CallError::Unknown { .. }) => None,
        };
        match response.map(|response| response.outcome) {
            Some(Outcome::Result(result)) => Ok(result),
            Some(Outcome::Error(error)) => {
                let said = error.text_member("message").unwrap_or_default();
                let what = format!("It answered `{called}` with an error: {said}.");
                Err(Failure::new(Code::Refused, what, "Look at the server's own log."))
            }
            None => Err(self.silent()),
        }
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    pub(crate) async fn notify(&self, notification: &Notification) -> Result<(), Failure> {
        let sent = self.post(Class::Repeatable, notification.to_bytes()).await;
        sent.map(drop).map_err(|error| self.failure(&error))
    }

    async fn post(&self, class: Class, body: Bytes) -> Result<reqwest::Response, reqwest::Error> {
        let client = match class {
            Class::Repeatable => &self.clients.repeatable,
            Class::Once => &self.clients.once,
        };
        let mut request = client
            .post(self.url.clone())
            .header(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .header(
                header::ACCEPT,
                HeaderValue::from_static("application/json, text/event-stream"),
            );
        if let Some(session) = &self.session {
            request = request.header(protocol::header::SESSION, session);
        }
        if self.revision >= Revision::V2025_06_18 {
            request = request.header(protocol::header::REVISION, self.revision.as_str());
        }
        request.body(body).send().await
    }

    fn next_id(&self) -> Id {
        Id::number(self.ids.fetch_add(1, Ordering::Relaxed))
    }

    fn failure(&self, error: &reqwest::Error) -> Failure {
        let (code, what) = explain(error);
        let what = format!("{what} at {}.", place(&self.url));
        Failure::new(code, what, remedy(code))
    }

    async fn refused(&self, answer: reqwest::Response) -> Failure {
        let status = answer.status();
        let body = read_body(answer).await.unwrap_or_default();
        let what = format!("{} answered {status}: {}", place(&self.url), excerpt(&body));
        let code = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Code::AuthRequired,
            _ => Code::Refused,
        };
        Failure::new(code, what, remedy(code))
    }

    fn not_mcp(&self) -> Failure {
        let what = format!("What answers at {} does not speak MCP over HTTP.", self.url);
        Failure::new(Code::NotMcp, what, remedy(Code::NotMcp))
    }

    fn forgotten(&self) -> Failure {
        let what = format!("{} has forgotten the session.", place(&self.url));
        Failure::new(Code::ConnectionLost, what, "Evermoor makes a new one.")
    }

    fn silent(&self) -> Failure {
        let what = format!("{} accepts connections but does not answer.", place(&self.url));
        Failure::new(Code::Timeout, what, remedy(Code::Timeout))
    }
}

/// Reads the answer to one request, whole or as a stream.
async fn read_reply(
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

async fn read_body(answer: reqwest::Response) -> Result<Bytes, reqwest::Error> {
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
async fn relayed_refusal(answer: reqwest::Response, id: &Id) -> Response {
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

/// Whether not one byte of the request can have reached the upstream.
fn never_sent(error: &reqwest::Error) -> bool {
    error.is_connect()
        || error.is_builder()
        || hyper_cause(error).is_some_and(hyper::Error::is_canceled)
}

fn hyper_cause(error: &reqwest::Error) -> Option<&hyper::Error> {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if let Some(found) = error.downcast_ref::<hyper::Error>() {
            return Some(found);
        }
        source = error.source();
    }
    None
}

fn lost(error: &reqwest::Error) -> CallError {
    let why = if error.is_timeout() { Unknown::Timeout } else { Unknown::ConnectionReset };
    CallError::Unknown { why, detail: innermost(error), connection_broke: true }
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

fn explain(error: &reqwest::Error) -> (Code, String) {
    let why = innermost(error);
    let lower = why.to_lowercase();
    let code = if error.is_timeout() {
        if error.is_connect() { Code::ConnectTimeout } else { Code::Timeout }
    } else if !error.is_connect() {
        Code::ConnectionLost
    } else if lower.contains("certificate") || lower.contains("tls") {
        Code::Tls
    } else if lower.contains("lookup")
        || lower.contains("resolve")
        || lower.contains("name or service")
    {
        Code::DnsFailure
    } else {
        Code::ConnectionRefused
    };
    let what = match code {
        Code::ConnectionRefused => "Nothing listens".to_owned(),
        Code::ConnectTimeout => "Nobody answers".to_owned(),
        Code::DnsFailure => "The name is not known".to_owned(),
        _ => format!("The connection failed ({why})"),
    };
    (code, what)
}

fn remedy(code: Code) -> &'static str {
    match code {
        Code::ConnectionRefused | Code::Timeout | Code::ConnectionLost => {
            "Start the server; Evermoor reconnects by itself."
        }
        Code::DnsFailure | Code::ConnectTimeout => {
            "Check the address and the network; Evermoor reconnects by itself."
        }
        Code::Tls => "Check the server's certificate.",
        Code::AuthRequired => "Give Evermoor valid credentials for it.",
        _ => "Check its address in the configuration.",
    }
}

fn place(url: &Url) -> String {
    let port = url.port_or_known_default().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default())
}

fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
