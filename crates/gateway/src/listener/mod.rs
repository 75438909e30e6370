//! Takes connections and keeps each of them within limits.
//!
//! # Theory of operation
//! One loop accepts. Each connection is a task of its own: hyper reads requests from a [`Socket`]
//! that watches the bytes, and passes them to the routes. A connection is a [`Guest`] until it has
//! shown a good token; the guard says so by [`Guest::welcome`]. Guests are few and must speak; a
//! connection that is known may rest for as long as it likes, because a client that finds it closed
//! would lose its next call. When no file descriptor is left, the loop waits a moment instead of
//! spinning, and those who are connected do not notice.
//!
//! # Layout
//! - [`lobby`]: connections that have not shown a token yet
//! - `socket`: a connection's bytes
//! - `body`: the bodies of requests and answers

mod body;
pub mod lobby;
mod socket;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, Request, StatusCode, header};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service as _;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::view::Refusal;

use body::{Coming, Going};
use lobby::{Guest, Lobby};
use socket::Socket;

/// How much of everything there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections that have shown no token: those that have just come, and those that stay.
    pub newcomers: usize,
    pub guests: usize,
    /// How long a connection is a newcomer.
    pub grace: Duration,
    /// How long the head of a request may take.
    pub head: Duration,
    /// How many bytes per second of a body must come, measured over a while.
    pub slowest: usize,
    pub window: Duration,
    /// How long a client may read nothing while there is something for it.
    pub stall: Duration,
    /// How long, and how many bytes, the rest of a request that was answered already is read.
    pub linger: Duration,
    pub linger_bytes: usize,
    /// The largest body, head and address of a request, and the number of its headers.
    pub body: usize,
    pub head_bytes: usize,
    pub headers: usize,
    pub address: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            newcomers: 1024,
            guests: 64,
            // Long enough for a healthy client on a machine that has no time for it.
            grace: Duration::from_secs(10),
            head: Duration::from_secs(10),
            slowest: 100,
            window: Duration::from_secs(30),
            stall: Duration::from_secs(30),
            linger: Duration::from_secs(1),
            linger_bytes: 16 << 20,
            body: 4 << 20,
            head_bytes: 32 << 10,
            headers: 100,
            address: 8 << 10,
        }
    }
}

impl Limits {
    fn least_per_window(&self) -> usize {
        self.slowest * usize::try_from(self.window.as_secs()).unwrap_or(usize::MAX)
    }
}

/// How long the loop rests when the system gives it no connection.
const BREATH: Duration = Duration::from_millis(100);

/// Serves until told to stop, then until the last request is answered.
pub async fn serve(listener: TcpListener, app: Router, limits: Limits, stop: CancellationToken) {
    let (lobby, connections) = (Lobby::new(limits), TaskTracker::new());
    let take = async {
        loop {
            let stream = accept(&listener, &lobby).await;
            let guest = lobby.enter().await;
            // Answers are small; none of them waits for the next.
            let _ = stream.set_nodelay(true);
            connections.spawn(connection(stream, app.clone(), guest, limits, stop.clone()));
        }
    };
    stop.run_until_cancelled(take).await;
    drop(listener);
    connections.close();
    connections.wait().await;
}

async fn accept(listener: &TcpListener, lobby: &Lobby) -> TcpStream {
    let mut in_need = false;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                if !in_need {
                    tracing::warn!(%error, "no connection can be accepted for the moment");
                }
                in_need = true;
                lobby.make_room();
                sleep(BREATH).await;
            }
        }
    }
}

/// Whether the client went away, as opposed to something that ails the gateway.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    app: Router,
    guest: Arc<Guest>,
    limits: Limits,
    stop: CancellationToken,
) {
    let socket = Socket::new(stream, Arc::clone(&guest), limits);
    let service = service_fn(|request| answer(request, app.clone(), Arc::clone(&guest), limits));
    let serving = http1::Builder::new()
        // hyper's own limit on the head would also end connections that rest.
        .header_read_timeout(None)
        .max_header_size(limits.head_bytes)
        .max_headers(limits.headers)
        .serve_connection(TokioIo::new(socket), service);
    let mut serving = std::pin::pin!(serving);
    let ended = tokio::select! {
        ended = &mut serving => ended,
        () = guest.sent_away() => Ok(()),
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke");
    }
    guest.leave();
}

async fn answer(
    request: Request<Incoming>,
    mut app: Router,
    guest: Arc<Guest>,
    limits: Limits,
) -> Result<Response<Going>, Infallible> {
    guest.begin_request();
    let response = match refusal(&request, limits) {
        Some(refusal) => {
            guest.left_unread();
            refusal
        }
        None => {
            let (mut head, body) = request.into_parts();
            head.extensions.insert(Arc::clone(&guest));
            let body = Body::new(Coming::new(body, Arc::clone(&guest), limits));
            let Ok(response) = app.call(Request::from_parts(head, body)).await;
            if guest.is_too_slow() { too_slow() } else { response }
        }
    };
    Ok(response.map(|body| Going::new(body, guest)))
}

/// What is refused for its size, before anybody looks at it.
fn refusal(request: &Request<Incoming>, limits: Limits) -> Option<Response> {
    let address = request.uri().path_and_query().map_or(0, |path| path.as_str().len());
    if address > limits.address {
        let what = "The address of the request is too long.";
        return Some(refuse(StatusCode::URI_TOO_LONG, what, "Send data in the body."));
    }
    if request.body().size_hint().lower() > limits.body as u64 {
        let what = format!("The request is larger than {} MiB.", limits.body >> 20);
        let remedy = "Send less at once.";
        return Some(refuse(StatusCode::PAYLOAD_TOO_LARGE, &what, remedy));
    }
    None
}

fn too_slow() -> Response {
    let what = "The request came too slowly.";
    refuse(StatusCode::REQUEST_TIMEOUT, what, "Send it again.")
}

/// A refusal after which the connection is of no more use.
fn refuse(status: StatusCode, what: &str, remedy: &str) -> Response {
    let body = Refusal { error: Failure::new(Code::Forbidden, what, remedy) };
    let mut response = (status, axum::Json(body)).into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

#[cfg(test)]
mod tests;
