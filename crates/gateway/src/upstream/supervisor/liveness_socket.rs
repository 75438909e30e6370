//! Notices at once when an upstream on this machine dies, although nobody calls it.
//!
//! An open socket to the server is a wire: when the process ends, the system closes it, and that
//! is seen within a millisecond, without a single probe. A server that closes idle sockets trips
//! it too, so a tripped wire is first laid again; only if nobody listens any more is the upstream
//! dead.

use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use url::Url;

/// A server that closes every socket at once must not be asked in a tight circle.
const SHORTEST: Duration = Duration::from_secs(1);
const PATIENCE: u32 = 3;

/// How long a dying process may take to close its sockets.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// Returns when nobody listens at `url` any more.
pub(crate) async fn tripped(url: &Url) {
    let Some((host, port)) = url.host_str().zip(url.port_or_known_default()) else {
        return std::future::pending().await;
    };
    let host = host.trim_matches(['[', ']']);
    let mut tripped_at_once = 0;
    loop {
        let laid = Instant::now();
        let Ok(mut wire) = TcpStream::connect((host, port)).await else { return };
        // Nothing was asked, so whatever arrives is the end: an EOF, a reset, or a farewell.
        let _ = wire.read(&mut [0; 64]).await;
        drop(wire);
        tripped_at_once = if laid.elapsed() < SHORTEST { tripped_at_once + 1 } else { 0 };
        if tripped_at_once > PATIENCE {
            sleep(SHORTEST).await;
        }
    }
}

/// Whether the server at `url` has just died. A process that ends closes its sockets one after the
/// other, so a connection that is taken may still be one of its last.
pub(crate) async fn is_dead(url: &Url) -> bool {
    let Some((host, port)) = url.host_str().zip(url.port_or_known_default()) else { return false };
    let host = host.trim_matches(['[', ']']);
    let Ok(mut wire) = TcpStream::connect((host, port)).await else { return true };
    match timeout(LAST_WORDS, wire.read(&mut [0; 64])).await {
        Ok(_) => TcpStream::connect((host, port)).await.is_err(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn a_server_that_goes_away_is_noticed_and_one_that_hangs_up_is_not_dead() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/", server.local_addr().unwrap())).unwrap();
        let mut trip = Box::pin(tripped(&url));
        let hang_up_then_hold = async {
            drop(server.accept().await.unwrap());
            server.accept().await.unwrap()
        };
        let held = tokio::select! {
            biased;
            held = hang_up_then_hold => held,
            () = &mut trip => panic!("the server still listens"),
        };
        drop(held);
        drop(server);
        trip.await;
    }
}
