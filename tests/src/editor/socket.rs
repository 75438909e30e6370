//! A raw client that sends exactly the given bytes.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::PATIENCE;
use crate::gateway::Gateway;

/// A TCP connection to a gateway.
pub struct RawSocket {
    stream: TcpStream,
}

/// The response up to the end of its head, or until the connection closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawResponse {
    pub status: u16,
    pub head: String,
}

impl RawSocket {
    pub async fn to(gateway: &Gateway) -> Self {
        let address = gateway.origin.trim_start_matches("http://");
        Self { stream: TcpStream::connect(address).await.expect("the gateway listens") }
    }

    /// Sends as much as the gateway accepts; the gateway may close the connection early.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// The head of the next response. Status 0 means that the connection was closed without one.
    pub async fn answer(&mut self) -> RawResponse {
        let mut head = Vec::new();
        let read = async {
            while !head.ends_with(b"\r\n\r\n") {
                match self.stream.read_u8().await {
                    Ok(byte) => head.push(byte),
                    Err(_) => return,
                }
            }
        };
        timeout(PATIENCE, read).await.expect("the gateway answers or closes");
        let head = String::from_utf8(head).expect("a head is text");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        RawResponse { status: status.unwrap_or(0), head }
    }

    /// Waits until the gateway has closed the connection.
    pub async fn closed(&mut self) {
        let mut rest = Vec::new();
        let read = timeout(PATIENCE, self.stream.read_to_end(&mut rest)).await;
        let _ = read.expect("the gateway closes the connection");
    }
}

/// Sends one request unchanged and returns the response.
pub async fn ask(gateway: &Gateway, request: &str) -> RawResponse {
    let mut socket = RawSocket::to(gateway).await;
    socket.send(request.as_bytes()).await;
    socket.answer().await
}
