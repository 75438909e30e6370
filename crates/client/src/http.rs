//! A small HTTP client for loopback connections: no TLS, no proxies, no redirects. It reuses
//! connections.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::time::timeout;

use evermoor_core::failure::Failure;
use evermoor_core::protocol::sse;
use evermoor_core::protocol::sse::SseEvent;

use crate::gateway_stream::FrameBody;

/// An HTTP client for one gateway. Sends its token with every request.
#[derive(Clone)]
pub struct HttpClient {
    client: Client<HttpConnector, Full<Bytes>>,
    origin: String,
    token: HeaderValue,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// No gateway is running, and none could be started.
    #[error("{0}")]
    NoGateway(Failure),
    /// Nothing was sent.
    #[error("the gateway is unreachable: {0}")]
    NotSent(String),
    /// The request was sent, but the connection broke before the response was complete.
    #[error("the connection to the gateway broke: {0}")]
    Broken(String),
}

/// A response whose body is read as it arrives.
pub struct HttpResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    body: ResponseBody,
}

/// Where the body of a response comes from.
pub(crate) enum ResponseBody {
    /// A trait object, so that a program which never uses HTTP does not contain an HTTP client.
    Http(UnsyncBoxBody<Bytes, HttpError>),
    Whole(Bytes),
    Frames(FrameBody),
}

impl ResponseBody {
    /// The next part; `None` at the end.
    async fn next(&mut self) -> Option<Result<Bytes, HttpError>> {
        match self {
            Self::Http(body) => loop {
                match body.frame().await? {
                    Ok(frame) => match frame.into_data() {
                        Ok(data) => return Some(Ok(data)),
                        Err(_trailers) => {}
                    },
                    Err(error) => return Some(Err(error)),
                }
            },
            Self::Whole(body) if body.is_empty() => None,
            Self::Whole(body) => Some(Ok(std::mem::take(body))),
            Self::Frames(frames) => frames.next().await,
        }
    }
}

/// A larger event ends the stream.
const MAX_EVENT_SIZE: usize = 64 << 20;
/// A running gateway sends something on every stream at least every ten seconds.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

impl HttpClient {
    /// A client for the gateway at `origin`. A token that does not fit into a header is not sent.
    pub fn new(origin: &str, token: &str) -> Self {
        let bearer = HeaderValue::from_str(&format!("Bearer {token}"));
        let mut token = bearer.unwrap_or_else(|_| HeaderValue::from_static("Bearer"));
        token.set_sensitive(true);
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self { client, origin: origin.to_owned(), token }
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(HeaderName, HeaderValue)],
        body: Bytes,
    ) -> Result<HttpResponse, HttpError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.origin))
            .header(http::header::AUTHORIZATION, self.token.clone())
            .body(Full::new(body))
            .map_err(|error| HttpError::NotSent(error.to_string()))?;
        for (name, value) in headers {
            request.headers_mut().insert(name, value.clone());
        }
        match self.client.request(request).await {
            Ok(response) => {
                let (head, body) = response.into_parts();
                let body = body.map_err(|error| HttpError::Broken(cause(&error))).boxed_unsync();
                Ok(HttpResponse::new(head.status, head.headers, ResponseBody::Http(body)))
            }
            Err(error) if error.is_connect() => Err(HttpError::NotSent(cause(&error))),
            Err(error) => Err(HttpError::Broken(cause(&error))),
        }
    }
}

impl HttpResponse {
    pub(crate) fn new(status: StatusCode, headers: HeaderMap, body: ResponseBody) -> Self {
        Self { status, headers, body }
    }

    pub fn is_event_stream(&self) -> bool {
        let kind = self.headers.get(http::header::CONTENT_TYPE);
        kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
    }

    /// Reads the whole body. A body that arrives in one part is not copied.
    pub async fn bytes(mut self) -> Result<Bytes, HttpError> {
        let mut whole = match self.body.next().await {
            Some(first) => first?,
            None => return Ok(Bytes::new()),
        };
        while let Some(part) = self.body.next().await {
            let mut longer = BytesMut::from(whole);
            longer.extend_from_slice(&part?);
            whole = longer.freeze();
        }
        Ok(whole)
    }

    /// Reads the body as a stream of events.
    pub fn events(self) -> EventStream {
        EventStream {
            body: self.body,
            parser: sse::SseParser::new(MAX_EVENT_SIZE),
            ready: Vec::new().into_iter(),
        }
    }
}

/// A stream of server-sent events.
pub struct EventStream {
    body: ResponseBody,
    parser: sse::SseParser,
    ready: std::vec::IntoIter<SseEvent>,
}

impl EventStream {
    /// The next event, or `None` when the stream ended or nothing arrived in time. Comments count
    /// as activity and are skipped.
    pub async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(event) = self.ready.next() {
                return Some(event);
            }
            let chunk = timeout(READ_TIMEOUT, self.body.next()).await.ok()??.ok()?;
            self.ready = self.parser.push(&chunk).ok()?.into_iter();
        }
    }
}

/// The innermost error, the only one that means something to the user.
fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
