//! Serves one connection, from its first request to its end.

use std::convert::Infallible;
use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, StatusCode, Version, header};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use evermoor_core::api::ErrorBody;
use evermoor_core::failure::{Code, Failure};

use super::body_rate::{TimedRequestBody, TimedResponseBody};
use super::socket::ClientSocket;
use super::state::{ConnectionState, RequestProgress};
use super::{ConnectionLimits, ConnectionShutdown};
use crate::server::routes::Routes;

/// An idle connection that is handed to another gateway.
pub(super) struct DetachedConnection<S> {
    pub(super) stream: S,
    /// Whether it has presented a valid token.
    pub(super) known: bool,
    /// The part of the next request that was already read.
    pub(super) read: Bytes,
}

/// Serves a connection until it ends, or until it is idle after another gateway took over. `read`
/// is what another gateway already read from it.
pub(super) async fn connection<S>(
    stream: S,
    read: Bytes,
    routes: Routes,
    state: Arc<ConnectionState>,
    limits: ConnectionLimits,
    ending: ConnectionShutdown,
) -> Option<DetachedConnection<S>>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let socket = ClientSocket::new(stream, read, Arc::clone(&state), limits);
    let service = service_fn(|request| answer(request, &routes, &state, limits));
    let mut serving = http1::Builder::new()
        // hyper's own limit would also close idle connections.
        .header_read_timeout(None)
        .max_header_size(limits.head_bytes)
        .max_headers(limits.headers)
        .serve_connection(TokioIo::new(socket), service);
    let ended = tokio::select! {
        biased;
        () = ending.stop.cancelled() => {
            std::pin::Pin::new(&mut serving).graceful_shutdown();
            (&mut serving).await
        }
        ended = &mut serving => ended,
        () = idle(&ending, &state) => {
            state.begin_handoff();
            std::pin::Pin::new(&mut serving).graceful_shutdown();
            (&mut serving).await
        }
    };
    if let Err(error) = &ended {
        tracing::debug!(%error, "a connection failed");
    }
    // A request that started in this very moment was answered with `Connection: close`.
    if !state.is_handing_off() {
        return None;
    }
    let parts = serving.into_parts();
    let mut socket = parts.io.into_inner();
    if ended.is_ok() && !socket.is_over() {
        let (stream, rest) = socket.into_parts();
        let read = [&parts.read_buf[..], &rest[..]].concat().into();
        return Some(DetachedConnection { stream, known: state.is_authenticated(), read });
    }
    state.cancel_handoff();
    let _ = socket.shutdown().await;
    None
}

/// Waits until another gateway has taken over and no request is in progress.
async fn idle(ending: &ConnectionShutdown, state: &ConnectionState) {
    ending.moved.cancelled().await;
    state.idle().await;
}

async fn answer(
    request: Request<Incoming>,
    routes: &Routes,
    state: &Arc<ConnectionState>,
    limits: ConnectionLimits,
) -> Result<Response<TimedResponseBody>, Infallible> {
    state.begin_request();
    let mut last = is_last(request.version(), request.headers());
    let response = match refusal(&request, limits) {
        Some(refusal) => {
            state.set_progress(RequestProgress::Unread);
            refusal
        }
        None => {
            let request =
                request.map(|body| TimedRequestBody::new(body, Arc::clone(state), limits));
            let response = routes.answer(request, state).await;
            if state.is_too_slow() { too_slow() } else { response }
        }
    };
    last |= is_last(response.version(), response.headers());
    if last {
        state.set_last();
    }
    Ok(response.map(|body| TimedResponseBody::new(body, Arc::clone(state))))
}

/// Whether a head announces that the connection closes after it.
fn is_last(version: Version, headers: &HeaderMap) -> bool {
    let closes = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"close");
    version < Version::HTTP_11 || headers.get_all(header::CONNECTION).iter().any(closes)
}

/// Rejects a request that is too large before any of it is handled.
fn refusal(request: &Request<Incoming>, limits: ConnectionLimits) -> Option<Response> {
    let address = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    if address > limits.address {
        let what = "The request's URL is too long.";
        return Some(refuse(StatusCode::URI_TOO_LONG, what, "Send data in the body."));
    }
    if request.body().size_hint().lower() > limits.body as u64 {
        let what = format!("The request is larger than {} MiB.", limits.body >> 20);
        let remedy = "Send less in one request.";
        return Some(refuse(StatusCode::PAYLOAD_TOO_LARGE, &what, remedy));
    }
    None
}

fn too_slow() -> Response {
    let what = "The request arrived too slowly.";
    refuse(StatusCode::REQUEST_TIMEOUT, what, "Send it again.")
}

/// An error response that closes the connection.
fn refuse(status: StatusCode, what: &str, remedy: &str) -> Response {
    let body = ErrorBody { error: Failure::new(Code::Forbidden, what, remedy) };
    let mut response = (status, axum::Json(body)).into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}
