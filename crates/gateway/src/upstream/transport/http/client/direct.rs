//! HTTP to a server on this machine: no proxy, no TLS, no name to look up.
//!
//! # Theory of operation
//! A call takes an idle socket or opens one, and the task of the call itself writes the request and
//! reads the answer, so that nothing is handed to another task. Once the answer has been read, the
//! socket goes back to the idle ones. Nobody reads an idle socket: whether the server closed it is
//! found out when it is used again, and a request that could not be written is sent on a new socket.
//! A socket that was idle for too long is closed.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use hyper::body::{Body as _, Incoming};
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::TaskTracker;

use super::HttpCallError;
use crate::system::message_body::MessageBody;

/// A client for one server on this machine.
pub(crate) struct DirectClient {
    host: String,
    port: u16,
    /// The sockets that no call uses, the most recently used last.
    idle: Mutex<Vec<IdleSocket>>,
    tasks: TaskTracker,
}

struct IdleSocket {
    socket: Box<Socket>,
    since: Instant,
}

/// One connection, which makes progress while it is polled.
struct Socket {
    requests: SendRequest<MessageBody>,
    connection: Connection<TokioIo<TcpStream>, MessageBody>,
    closed: bool,
}

/// An answer whose body has yet to be read.
pub(crate) struct DirectAnswer {
    response: Response<Incoming>,
    /// `None` once the whole body has been read.
    socket: Option<Box<Socket>>,
    client: Arc<DirectClient>,
}

const CONNECT_LIMIT: Duration = Duration::from_secs(1);
/// How long a socket is kept. A server may close an idle one at any time.
const IDLE_LIMIT: Duration = Duration::from_secs(3);
const MAX_IDLE: usize = 64;

impl DirectClient {
    pub(super) fn new(host: String, port: u16, tasks: TaskTracker) -> Arc<Self> {
        Arc::new(Self { host, port, idle: Mutex::default(), tasks })
    }

    /// Sends a request and returns its answer as soon as its head has arrived. A socket is reused
    /// only if it was active within `fresh`.
    pub(super) async fn send(
        self: &Arc<Self>,
        mut request: Request<MessageBody>,
        fresh: Duration,
    ) -> Result<DirectAnswer, HttpCallError> {
        loop {
            let (mut socket, reused) = match self.idle_socket(fresh).await {
                Some(socket) => (socket, true),
                None => (self.open().await?, false),
            };
            request = match socket.send(request).await {
                Ok(response) => {
                    return Ok(DirectAnswer {
                        response,
                        socket: Some(socket),
                        client: self.clone(),
                    });
                }
                Err((_, Some(unsent))) if reused => unsent,
                Err((error, Some(_))) => return Err(HttpCallError::Unsent(error)),
                Err((error, None)) => return Err(HttpCallError::Broken(error)),
            };
        }
    }

    /// An idle socket that the server has not closed.
    async fn idle_socket(&self, fresh: Duration) -> Option<Box<Socket>> {
        loop {
            let mut socket = {
                let mut idle = self.idle.lock();
                let newest = idle.pop_if(|newest| newest.since.elapsed() < fresh)?;
                newest.socket
            };
            if socket.ready().await {
                return Some(socket);
            }
        }
    }

    async fn open(&self) -> Result<Box<Socket>, HttpCallError> {
        let connecting = TcpStream::connect((self.host.as_str(), self.port));
        let stream = match timeout(CONNECT_LIMIT, connecting).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(HttpCallError::Connect(error)),
            Err(_) => return Err(HttpCallError::Connect(io::ErrorKind::TimedOut.into())),
        };
        let _ = stream.set_nodelay(true);
        let (requests, connection) =
            handshake(TokioIo::new(stream)).await.map_err(HttpCallError::Unsent)?;
        Ok(Box::new(Socket { requests, connection, closed: false }))
    }

    /// Keeps a socket whose answer has been read.
    fn keep(self: &Arc<Self>, socket: Box<Socket>) {
        let mut idle = self.idle.lock();
        if socket.closed || idle.len() >= MAX_IDLE {
            return;
        }
        let first = idle.is_empty();
        idle.push(IdleSocket { socket, since: Instant::now() });
        drop(idle);
        if first {
            self.tasks.spawn(close_idle(Arc::downgrade(self)));
        }
    }
}

/// Closes sockets that were idle for too long, until there are none.
async fn close_idle(client: Weak<DirectClient>) {
    loop {
        sleep(IDLE_LIMIT).await;
        let Some(client) = client.upgrade() else { return };
        let mut idle = client.idle.lock();
        let old: Vec<IdleSocket> =
            idle.extract_if(.., |one| one.since.elapsed() >= IDLE_LIMIT).collect();
        let done = idle.is_empty();
        drop(idle);
        drop(old);
        if done {
            return;
        }
    }
}

impl Socket {
    /// Makes progress. Returns whether the connection is closed.
    fn advance(&mut self, cx: &mut Context<'_>) -> bool {
        // The error is also reported to the request or the body that it concerns.
        self.closed = self.closed || Pin::new(&mut self.connection).poll(cx).is_ready();
        self.closed
    }

    /// Whether a request can be sent.
    async fn ready(&mut self) -> bool {
        poll_fn(|cx| match self.advance(cx) {
            true => Poll::Ready(false),
            false => self.requests.poll_ready(cx).map(|ready| ready.is_ok()),
        })
        .await
    }

    /// Sends a request. After an error, the request is returned if nothing of it was sent.
    async fn send(
        &mut self,
        request: Request<MessageBody>,
    ) -> Result<Response<Incoming>, (hyper::Error, Option<Request<MessageBody>>)> {
        let Self { requests, connection, closed } = self;
        let mut answering = std::pin::pin!(requests.try_send_request(request));
        let answer = poll_fn(|cx| {
            if let Poll::Ready(answer) = answering.as_mut().poll(cx) {
                return Poll::Ready(answer);
            }
            *closed = *closed || Pin::new(&mut *connection).poll(cx).is_ready();
            // A closed connection has reported to its request why it closed.
            answering.as_mut().poll(cx)
        })
        .await;
        answer.map_err(|mut error| {
            let unsent = error.take_message();
            (error.into_error(), unsent)
        })
    }
}

impl DirectAnswer {
    pub(super) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The next part of the body; `None` at its end. Cancel safe.
    pub(super) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpCallError> {
        let Some(socket) = &mut self.socket else { return Ok(None) };
        let body = self.response.body_mut();
        let chunk = poll_fn(|cx| {
            if let chunk @ Poll::Ready(_) = poll_data(body, cx) {
                return chunk;
            }
            let closed = socket.advance(cx);
            match poll_data(body, cx) {
                Poll::Pending if closed => Poll::Ready(Err(HttpCallError::CutShort)),
                polled @ (Poll::Ready(_) | Poll::Pending) => polled,
            }
        })
        .await?;
        if chunk.is_none() {
            self.give_back();
        }
        Ok(chunk)
    }

    /// Returns the socket, whose answer has been read.
    fn give_back(&mut self) {
        if let Some(socket) = self.socket.take() {
            self.client.keep(socket);
        }
    }
}

impl Drop for DirectAnswer {
    fn drop(&mut self) {
        // Nobody reads the empty body of an acknowledgement.
        if self.response.body().is_end_stream() {
            self.give_back();
        }
    }
}

/// The next part of a body that has arrived; `None` at its end. Trailers are skipped.
fn poll_data(
    body: &mut Incoming,
    cx: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>, HttpCallError>> {
    loop {
        match ready!(Pin::new(&mut *body).poll_frame(cx)) {
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Poll::Ready(Ok(Some(data)));
                }
            }
            Some(Err(error)) => return Poll::Ready(Err(HttpCallError::Broken(error))),
            None => return Poll::Ready(Ok(None)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

    async fn server() -> (TcpListener, Arc<DirectClient>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, DirectClient::new("127.0.0.1".into(), port, TaskTracker::new()))
    }

    fn request() -> Request<MessageBody> {
        Request::post("/mcp").body(Bytes::from_static(b"{}").into()).unwrap()
    }

    /// Sends a request and reads the whole answer.
    async fn ask(client: &Arc<DirectClient>) -> Result<Vec<u8>, HttpCallError> {
        let mut answer = client.send(request(), IDLE_LIMIT).await?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Reads one request and answers it.
    async fn answer(socket: &mut TcpStream, text: &str) {
        let mut read = Vec::new();
        while !read.ends_with(b"{}") {
            assert_ne!(socket.read_buf(&mut read).await.unwrap(), 0, "a request");
        }
        socket.write_all(text.as_bytes()).await.unwrap();
    }

    #[tokio::test]
    async fn a_socket_is_used_again() {
        let (listener, client) = server().await;
        let serve = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            for _ in 0..3 {
                answer(&mut socket, OK).await;
            }
            socket
        };
        let asked = async {
            for _ in 0..3 {
                assert_eq!(ask(&client).await.unwrap(), b"ok");
            }
        };
        tokio::join!(serve, asked);
        assert_eq!(client.idle.lock().len(), 1);
    }

    #[tokio::test]
    async fn the_socket_of_an_answer_without_a_body_is_used_again() {
        let (listener, client) = server().await;
        let serve = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            answer(&mut socket, "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await;
            socket
        };
        let (_socket, answered) = tokio::join!(serve, client.send(request(), IDLE_LIMIT));
        drop(answered.unwrap());
        assert_eq!(client.idle.lock().len(), 1);
    }

    #[tokio::test]
    async fn a_request_is_sent_on_a_new_socket_if_the_server_closed_the_idle_one() {
        let (listener, client) = server().await;
        let serve = async {
            for _ in 0..2 {
                let (mut socket, _) = listener.accept().await.unwrap();
                answer(&mut socket, OK).await;
            }
        };
        let asked = async {
            assert_eq!(ask(&client).await.unwrap(), b"ok");
            assert_eq!(ask(&client).await.unwrap(), b"ok");
        };
        tokio::join!(serve, asked);
    }

    #[tokio::test]
    async fn an_answer_that_is_cut_short_is_an_error_of_a_request_that_was_sent() {
        for cut in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx"] {
            let (listener, client) = server().await;
            let serve = async {
                let (mut socket, _) = listener.accept().await.unwrap();
                answer(&mut socket, cut).await;
            };
            let ((), asked) = tokio::join!(serve, ask(&client));
            let error = asked.unwrap_err();
            assert!(error.is_cut_short() && !error.is_unsent(), "{cut:?}: {error:?}");
        }
    }

    #[tokio::test]
    async fn a_server_that_does_not_listen_got_nothing() {
        let (listener, client) = server().await;
        drop(listener);
        let error = ask(&client).await.unwrap_err();
        assert!(error.is_connect() && error.is_unsent() && !error.is_timeout(), "{error:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_socket_that_was_idle_for_too_long_is_not_used() {
        let (listener, client) = server().await;
        let serve = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            answer(&mut socket, OK).await;
            let (mut other, _) = listener.accept().await.unwrap();
            answer(&mut other, OK).await;
            (socket, other)
        };
        let asked = async {
            ask(&client).await.unwrap();
            tokio::time::advance(IDLE_LIMIT).await;
            ask(&client).await.unwrap();
        };
        tokio::join!(serve, asked);
    }
}
