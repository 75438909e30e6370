//! Tests of connections that move to another gateway, on a paused clock.

use super::*;

use axum::Router;
use axum::extract::Extension;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::sync::{Notify, oneshot};

/// One gateway's side of a connection.
struct Side {
    moved: CancellationToken,
    parted: oneshot::Receiver<Option<DetachedConnection<DuplexStream>>>,
    release: Arc<Notify>,
    asked: Arc<Notify>,
    _serving: TaskTracker,
}

impl Side {
    /// Serves a connection as the gateway `name`. `read` is what was already read from it.
    fn serve(name: &'static str, stream: DuplexStream, known: bool, read: Bytes) -> Self {
        let (release, asked) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (slow, started) = (Arc::clone(&release), Arc::clone(&asked));
        let app = Router::new()
            .route(
                "/who",
                get(move |Extension(state): Extension<Arc<ConnectionState>>| async move {
                    state.set_authenticated();
                    name
                }),
            )
            .route(
                "/slow",
                get(move || async move {
                    started.notify_one();
                    slow.notified().await;
                    name
                }),
            );
        let (stop, moved) = (CancellationToken::new(), CancellationToken::new());
        let ending =
            ConnectionShutdown { stop, moved: moved.clone(), handover_items: mpsc::channel(1).0 };
        let slot = Arc::new(Semaphore::new(1)).try_acquire_owned().ok();
        let state = Arc::new(ConnectionState::new(slot));
        if known {
            state.set_authenticated();
        }
        let (done, parted) = oneshot::channel();
        let _serving = TaskTracker::new();
        let limits = ConnectionLimits::default();
        let serving = connection(stream, read, app.into(), state, limits, ending);
        _serving.spawn(async move {
            let _ = done.send(serving.await);
        });
        Self { moved, parted, release, asked, _serving }
    }

    /// Another gateway takes over. Returns what becomes of the connection.
    async fn moves(self) -> Option<DetachedConnection<DuplexStream>> {
        self.moved.cancel();
        self.parted.await.unwrap()
    }

    /// The gateway `name` takes over.
    async fn moves_to(self, name: &'static str) -> Side {
        let DetachedConnection { stream, known, read } = self.moves().await.expect("it goes on");
        Self::serve(name, stream, known, read)
    }
}

fn connect() -> (DuplexStream, Side) {
    let (client, other) = tokio::io::duplex(64 << 10);
    (client, Side::serve("old", other, false, Bytes::new()))
}

async fn ask(client: &mut DuplexStream, path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
}

/// A response whose body has three letters.
async fn answer(client: &mut DuplexStream) -> (String, String) {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\n") {
        read.push(client.read_u8().await.unwrap());
    }
    let mut body = [0; 3];
    client.read_exact(&mut body).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&read), text(&body))
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_requests_is_handed_over() {
    let (mut client, old) = connect();
    let _new = old.moves_to("new").await;
    ask(&mut client, "/who").await;
    assert_eq!(answer(&mut client).await.1, "new");
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_handed_over_and_stays_authenticated() {
    let (mut client, old) = connect();
    ask(&mut client, "/who").await;
    assert_eq!(answer(&mut client).await.1, "old");
    let _new = old.moves_to("new").await;
    sleep(Duration::from_secs(86_400)).await;
    ask(&mut client, "/who").await;
    assert_eq!(answer(&mut client).await.1, "new");
}

#[tokio::test(start_paused = true)]
async fn a_partly_read_request_is_answered_by_the_next_gateway() {
    let (mut client, old) = connect();
    ask(&mut client, "/who").await;
    answer(&mut client).await;
    client.write_all(b"GET /who HTTP/1.1\r\nHo").await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let _new = old.moves_to("new").await;
    client.write_all(b"st: a\r\n\r\n").await.unwrap();
    assert_eq!(answer(&mut client).await.1, "new");
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_is_answered_by_the_old_gateway_and_the_next_one_by_the_new() {
    let (mut client, old) = connect();
    ask(&mut client, "/slow").await;
    old.asked.notified().await;
    let release = Arc::clone(&old.release);
    let first = async {
        sleep(Duration::from_secs(60)).await;
        release.notify_one();
        let (head, body) = answer(&mut client).await;
        assert_eq!(body, "old");
        assert!(!head.to_lowercase().contains("connection: close"), "{head}");
        client
    };
    let (mut client, _new) = tokio::join!(first, old.moves_to("new"));
    ask(&mut client, "/who").await;
    assert_eq!(answer(&mut client).await.1, "new");
}

#[tokio::test(start_paused = true)]
async fn a_first_request_that_is_half_read_is_answered_and_is_the_last() {
    let (mut client, old) = connect();
    client.write_all(b"GET /who HTTP/1.1\r\nHo").await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let rest = async {
        sleep(Duration::from_secs(1)).await;
        client.write_all(b"st: a\r\n\r\n").await.unwrap();
        let answer = answer(&mut client).await;
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).await.unwrap();
        (answer, rest)
    };
    let (((head, body), rest), parted) = tokio::join!(rest, old.moves());
    assert!(parted.is_none());
    assert_eq!((body.as_str(), rest.len()), ("old", 0));
    assert!(head.to_lowercase().contains("connection: close"), "{head}");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_the_client_asked_to_close_is_closed() {
    let (mut client, old) = connect();
    let request = b"GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    client.write_all(request).await.unwrap();
    old.asked.notified().await;
    old.release.notify_one();
    let parted = old.moves().await;
    assert!(parted.is_none());
    answer(&mut client).await;
    assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_the_client_closed_is_not_handed_over() {
    let (client, old) = connect();
    drop(client);
    sleep(Duration::from_secs(1)).await;
    assert!(old.moves().await.is_none());
}
