//! An idle TCP connection to a local server that shows at once when the server dies.
//!
//! When the server's process exits, the system closes the socket, and Evermoor sees it within a
//! millisecond without sending a probe. A server that closes idle sockets closes this one too, so it
//! is opened again first. Only if nothing accepts the new connection is the server dead.

use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use url::Url;

/// A socket that lives shorter than this counts as closed early.
const SHORTEST: Duration = Duration::from_secs(1);
/// After this many early closes in a row, the next connection waits, to avoid a busy loop.
const MAX_EARLY_CLOSES: u32 = 3;

/// How long an exiting process may take to close its sockets.
const CLOSE_LIMIT: Duration = Duration::from_millis(50);

/// Returns when nothing listens at `url` any more.
pub(crate) async fn until_closed(url: &Url) {
    let Some((host, port)) = url.host_str().zip(url.port_or_known_default()) else {
        return std::future::pending().await;
    };
    let host = host.trim_matches(['[', ']']);
    let mut early_closes = 0;
    loop {
        let opened = Instant::now();
        let Ok(mut socket) = TcpStream::connect((host, port)).await else { return };
        // Nothing was sent, so whatever arrives means the end: an EOF, a reset, or an HTTP 408.
        let _ = socket.read(&mut [0; 64]).await;
        drop(socket);
        early_closes = if opened.elapsed() < SHORTEST { early_closes + 1 } else { 0 };
        if early_closes > MAX_EARLY_CLOSES {
            sleep(SHORTEST).await;
        }
    }
}

/// Whether the server at `url` has just died. An exiting process closes its sockets one by one, so
/// one accepted connection does not prove that it lives.
pub(crate) async fn is_dead(url: &Url) -> bool {
    let Some((host, port)) = url.host_str().zip(url.port_or_known_default()) else { return false };
    let host = host.trim_matches(['[', ']']);
    let Ok(mut socket) = TcpStream::connect((host, port)).await else { return true };
    match timeout(CLOSE_LIMIT, socket.read(&mut [0; 64])).await {
        Ok(_) => TcpStream::connect((host, port)).await.is_err(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_server_that_exits_is_noticed_and_one_that_closes_idle_sockets_is_not_dead() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/", server.local_addr().unwrap())).unwrap();
        let mut closed = Box::pin(until_closed(&url));
        let close_then_hold = async {
            drop(server.accept().await.unwrap());
            server.accept().await.unwrap()
        };
        let held = tokio::select! {
            biased;
            held = close_then_hold => held,
            () = &mut closed => panic!("the server still listens"),
        };
        drop(held);
        drop(server);
        closed.await;
    }
}
