//! The connections to the fake PiecesOS, which can all be closed at any moment.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

/// All open connections.
#[derive(Clone, Default)]
pub(super) struct AppConnections(Arc<Mutex<Vec<(u64, std::net::TcpStream)>>>);

/// Accepts connections and registers them.
pub(super) struct ConnectionListener {
    pub(super) listener: TcpListener,
    pub(super) connections: AppConnections,
}

/// One connection.
pub(super) struct AppConnection {
    stream: TcpStream,
    number: u64,
    connections: AppConnections,
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

impl AppConnections {
    /// Closes every connection. The peer sees an orderly shutdown.
    pub(super) fn cut(&self) {
        for (_, stream) in self.0.lock().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn keep(&self, stream: TcpStream) -> io::Result<AppConnection> {
        let stream = stream.into_std()?;
        let (copy, number) = (stream.try_clone()?, NUMBER.fetch_add(1, Ordering::Relaxed));
        self.0.lock().push((number, copy));
        Ok(AppConnection {
            stream: TcpStream::from_std(stream)?,
            number,
            connections: self.clone(),
        })
    }
}

impl axum::serve::Listener for ConnectionListener {
    type Io = AppConnection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (AppConnection, SocketAddr) {
        loop {
            // Ignore a client that disconnected before it was accepted.
            if let Ok((stream, address)) = self.listener.accept().await
                && let Ok(connection) = self.connections.keep(stream)
            {
                return (connection, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Drop for AppConnection {
    fn drop(&mut self) {
        self.connections.0.lock().retain(|(number, _)| *number != self.number);
    }
}

impl AsyncRead for AppConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for AppConnection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
