//! Takes connections and keeps each of them within limits.
//!
//! # Theory of operation
//! One loop accepts. Each connection is a task of its own: hyper reads requests from a [`Socket`]
//! that watches the bytes, and passes them to the routes. A connection is a [`ConnectionState`] until it has
//! shown a good token; the guard says so by [`ConnectionState::welcome`]. Guests are few and must speak; a
//! connection that is known may rest for as long as it likes, because a client that finds it closed
//! would lose its next call. When no file descriptor is left, the loop waits a moment instead of
//! spinning, and those who are connected do not notice.
//!
//! When another gateway takes over, every connection is put into the outbox as soon as it is at
//! rest, and goes on there. To close it would do harm: its client may have started to speak.
//!
//! # Layout
//! - [`unauthenticated`]: connections that have not shown a token yet
//! - `connection`: one connection, from its first request to its end
//! - `socket`: a connection's bytes
//! - `body`: the bodies of requests and answers

mod body;
mod connection;
#[cfg(test)]
mod handoff_tests;
mod socket;
#[cfg(test)]
mod tests;
pub mod unauthenticated;

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use bytes::Bytes;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use connection::{DetachedConnection, connection};
use unauthenticated::{ConnectionState, UnauthenticatedConnections};

use crate::system::handoff_queue::Parcel;

/// How much of everything there may be.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections that have shown no token: those that have just come, and those that stay.
    pub max_new: usize,
    pub max_unauthenticated: usize,
    /// How long a connection is a newcomer.
    pub grace: Duration,
    /// How long the head of a request may take.
    pub head: Duration,
    /// How many bytes per second of a body must come, measured over a while.
    pub min_body_rate: usize,
    pub body_rate_window: Duration,
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
            max_new: 1024,
            max_unauthenticated: 64,
            // Long enough for a healthy client on a machine that has no time for it.
            grace: Duration::from_secs(10),
            head: Duration::from_secs(10),
            min_body_rate: 100,
            body_rate_window: Duration::from_secs(30),
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
    fn min_bytes_per_window(&self) -> usize {
        self.min_body_rate * usize::try_from(self.body_rate_window.as_secs()).unwrap_or(usize::MAX)
    }
}

/// How long the loop became_idle when the system gives it no connection.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Everybody who has come in.
pub struct Reception {
    app: Router,
    limits: Limits,
    unauthenticated: Arc<UnauthenticatedConnections>,
    connections: TaskTracker,
    ending: Ending,
}

/// When connections end, and where they go.
#[derive(Clone)]
pub struct Ending {
    /// The gateway stops: a connection ends with the request that is under way.
    pub stop: CancellationToken,
    /// Another gateway serves now: a connection goes there when it is at rest.
    pub moved: CancellationToken,
    pub outbox: mpsc::Sender<Parcel>,
}

impl Reception {
    pub fn new(app: Router, limits: Limits, ending: Ending) -> Self {
        Self {
            app,
            limits,
            unauthenticated: UnauthenticatedConnections::new(limits),
            connections: TaskTracker::new(),
            ending,
        }
    }

    /// Accepts for ever. No connection is lost if the future is dropped: it waits in the socket.
    pub async fn accept_from(&self, listener: &TcpListener) -> Infallible {
        loop {
            self.unauthenticated.wait_for_capacity().await;
            let stream = accept(listener, &self.unauthenticated).await;
            self.serve(stream, self.unauthenticated.admit(), Bytes::new());
        }
    }

    /// Goes on with a connection that another gateway had, of which so much was `read` already.
    pub fn adopt(&self, stream: TcpStream, known: bool, read: Bytes) {
        let state = self.unauthenticated.admit();
        if known {
            state.set_authenticated();
        }
        self.serve(stream, state, read);
    }

    /// What ends all connections.
    pub fn stop(&self) -> CancellationToken {
        self.ending.stop.clone()
    }

    /// Waits until the last connection has ended.
    pub async fn emptied(&self) {
        self.connections.close();
        self.connections.wait().await;
    }

    pub fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    fn serve(&self, stream: TcpStream, state: Arc<ConnectionState>, read: Bytes) {
        // Answers are small; none of them waits for the next.
        let _ = stream.set_nodelay(true);
        let (app, limits, ending) = (self.app.clone(), self.limits, self.ending.clone());
        self.connections.spawn(async move {
            let outbox = ending.outbox.clone();
            if let Some(DetachedConnection { stream, known, read }) =
                connection(stream, read, app, state, limits, ending).await
            {
                // If nobody takes it, it is closed.
                let _ = outbox.send(Parcel::Connection { stream, known, read }).await;
            }
        });
    }
}

async fn accept(listener: &TcpListener, unauthenticated: &UnauthenticatedConnections) -> TcpStream {
    let mut failing = false;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_connection_error(&error) => {}
            Err(error) => {
                if !failing {
                    tracing::warn!(%error, "no connection can be accepted for the moment");
                }
                failing = true;
                unauthenticated.make_room();
                sleep(ACCEPT_RETRY_INTERVAL).await;
            }
        }
    }
}

/// Whether the client went away, as opposed to something that ails the gateway.
fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
