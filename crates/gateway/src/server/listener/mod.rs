//! Accepts connections and enforces their limits.
//!
//! # Theory of operation
//! One loop accepts. Each connection is a task: hyper reads requests from a
//! [`Socket`](socket::Socket) that watches the bytes, and passes them to the routes. A connection
//! is unauthenticated until it has presented a valid token; then `auth` calls
//! [`ConnectionState::set_authenticated`]. A semaphore limits the unauthenticated connections, and the
//! time for a head limits how long each may wait. An authenticated connection may be idle for any
//! time, because a client that finds it closed could lose its next call. When the process has no file
//! descriptors left, the loop pauses instead of spinning, and existing connections are not affected.
//!
//! When another gateway takes over, every connection is handed to it as soon as it is idle. Closing
//! it instead could lose a request that the client has already started to send.
//!
//! # Layout
//! - `state`: the state of a connection
//! - `connection`: one connection, from its first request to its end
//! - `socket`: its bytes; `body_rate`: the bodies of requests and responses

mod body_rate;
mod connection;
#[cfg(test)]
mod handover_tests;
mod socket;
mod state;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use connection::{DetachedConnection, connection};
pub use state::ConnectionState;

use evermoor_core::protocol::request_size::MAX_REQUEST_BYTES;
use evermoor_platform::process::descriptors::keep_connection_from_children;

use crate::mcp::handover_queue::HandoverItem;
use crate::server::routes::Routes;

/// The limits of connections and requests.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// How many connections may be unauthenticated at a time.
    pub max_unauthenticated: usize,
    /// How long the head of a request may take, and how long a connection may stay without a token.
    pub head: Duration,
    /// How many bytes of a body must arrive per second, on average over the window.
    pub min_body_rate: usize,
    pub body_rate_window: Duration,
    /// How long a client may read nothing of a response that is ready.
    pub stall: Duration,
    /// For how long, and for how many bytes, the rest of an answered request is still read.
    pub linger: Duration,
    pub linger_bytes: usize,
    /// The largest body, head and URL of a request, and how many headers it may have.
    pub body: usize,
    pub head_bytes: usize,
    pub headers: usize,
    pub address: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max_unauthenticated: 1024,
            // Long enough for a client on a busy machine.
            head: Duration::from_secs(10),
            min_body_rate: 100,
            body_rate_window: Duration::from_secs(30),
            stall: Duration::from_secs(30),
            linger: Duration::from_secs(1),
            linger_bytes: 16 << 20,
            body: MAX_REQUEST_BYTES,
            head_bytes: 32 << 10,
            headers: 100,
            address: 8 << 10,
        }
    }
}

impl ConnectionLimits {
    fn min_bytes_per_window(&self) -> usize {
        self.min_body_rate * usize::try_from(self.body_rate_window.as_secs()).unwrap_or(usize::MAX)
    }
}

/// How long the loop pauses when a connection cannot be accepted.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// All open connections.
pub struct Connections {
    routes: Routes,
    limits: ConnectionLimits,
    /// The slots for unauthenticated connections.
    unauthenticated: Arc<Semaphore>,
    connections: TaskTracker,
    ending: ConnectionShutdown,
}

/// What ends connections, and where they are handed over.
#[derive(Clone)]
pub struct ConnectionShutdown {
    /// The gateway stops: each connection closes after its current request.
    pub stop: CancellationToken,
    /// Another gateway serves now: each connection moves there when it is idle.
    pub moved: CancellationToken,
    pub handover_items: mpsc::Sender<HandoverItem>,
}

impl Connections {
    pub fn new(routes: Routes, limits: ConnectionLimits, ending: ConnectionShutdown) -> Self {
        Self {
            routes,
            limits,
            unauthenticated: Arc::new(Semaphore::new(limits.max_unauthenticated)),
            connections: TaskTracker::new(),
            ending,
        }
    }

    /// Accepts connections forever. Cancel safe: a connection that is not accepted stays in the
    /// backlog.
    pub async fn accept_from(&self, listener: &TcpListener) -> Infallible {
        loop {
            let slot = Arc::clone(&self.unauthenticated).acquire_owned().await;
            let stream = accept(listener).await;
            self.serve(stream, slot.ok(), Bytes::new());
        }
    }

    /// Continues a connection of another gateway. `read` is what that gateway already read from it. An
    /// unauthenticated one is closed if there is no slot for it.
    pub fn adopt(&self, stream: TcpStream, known: bool, read: Bytes) {
        match Arc::clone(&self.unauthenticated).try_acquire_owned() {
            _ if known => self.serve(stream, None, read),
            Ok(slot) => self.serve(stream, Some(slot), read),
            Err(_) => {}
        }
    }

    /// The token that ends all connections.
    pub fn stop(&self) -> CancellationToken {
        self.ending.stop.clone()
    }

    /// Waits until every connection has closed.
    pub async fn all_closed(&self) {
        self.connections.close();
        self.connections.wait().await;
    }

    pub fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    fn serve(&self, stream: TcpStream, slot: Option<OwnedSemaphorePermit>, read: Bytes) {
        let state = Arc::new(ConnectionState::new(slot));
        // Responses are small and should not wait for more data.
        let _ = stream.set_nodelay(true);
        let (routes, limits, ending) = (self.routes.clone(), self.limits, self.ending.clone());
        self.connections.spawn(async move {
            let handover_items = ending.handover_items.clone();
            if let Some(DetachedConnection { stream, known, read }) =
                connection(stream, read, routes, state, limits, ending).await
            {
                // If no gateway takes it, the connection closes.
                let _ = handover_items.send(HandoverItem::Connection { stream, known, read }).await;
            }
        });
    }
}

async fn accept(listener: &TcpListener) -> TcpStream {
    let mut failing = false;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                // An upstream's program would keep it open after this process was killed.
                keep_connection_from_children(&stream);
                return stream;
            }
            Err(error) if is_connection_error(&error) => {}
            Err(error) => {
                if !failing {
                    tracing::warn!(%error, "cannot accept connections");
                }
                failing = true;
                sleep(ACCEPT_RETRY_INTERVAL).await;
            }
        }
    }
}

/// Whether only this connection failed, as opposed to accepting itself.
fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
