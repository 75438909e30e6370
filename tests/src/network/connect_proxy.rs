//! A CONNECT proxy, as companies run them.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A proxy that connects every client to the same server. Dropping it closes it.
pub struct Tunnel {
    pub url: String,
    seen: watch::Receiver<Vec<String>>,
    _tasks: JoinSet<()>,
}

impl Tunnel {
    /// A proxy that connects to `target`, whatever host is requested.
    pub async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}", listener.local_addr().expect("it listens"));
        let (see, seen) = watch::channel(Vec::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                connections.spawn(serve(client, target, see.clone()));
                while connections.try_join_next().is_some() {}
            }
        });
        Self { url, seen, _tasks: tasks }
    }

    /// The request lines so far, one per connection.
    pub fn seen(&self) -> Vec<String> {
        self.seen.borrow().clone()
    }
}

async fn serve(mut client: TcpStream, target: SocketAddr, see: watch::Sender<Vec<String>>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match client.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let asked = String::from_utf8_lossy(&head).lines().next().unwrap_or_default().to_owned();
    let connects = asked.starts_with("CONNECT ");
    see.send_modify(|seen| seen.push(asked));
    let Ok(mut upstream) = TcpStream::connect(target).await else { return };
    if connects && client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.is_ok() {
        let _ = copy_bidirectional(&mut client, &mut upstream).await;
    }
}
