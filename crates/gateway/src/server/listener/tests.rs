//! Tests of the connection limits, on a paused clock.

use super::*;

use axum::Router;
use axum::body::Body;
use axum::extract::Extension;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::time::Instant;

fn ending() -> ConnectionShutdown {
    let (handover_items, _) = mpsc::channel(1);
    ConnectionShutdown {
        stop: CancellationToken::new(),
        moved: CancellationToken::new(),
        handover_items,
    }
}

/// A client, and the task that serves its connection.
struct Client {
    stream: DuplexStream,
    serving: TaskTracker,
}

impl Client {
    async fn connect() -> Self {
        let app = Router::new()
            .route("/known", get(known))
            .route("/unknown", get(|| async { "who are you?" }))
            .route(
                "/swallow",
                post(|body: axum::body::Bytes| async move { body.len().to_string() }),
            )
            .route("/flood", get(flood));
        let limits = ConnectionLimits::default();
        let slot = Arc::new(Semaphore::new(1)).acquire_owned().await.ok();
        let state = Arc::new(ConnectionState::new(slot));
        let (stream, other) = tokio::io::duplex(64 << 10);
        let serving = TaskTracker::new();
        serving.spawn(connection(other, Bytes::new(), app.into(), state, limits, ending()));
        serving.close();
        Self { stream, serving }
    }

    async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    async fn get(&mut self, path: &str) -> String {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")).await;
        let mut answer = vec![0; 4096];
        let length = self.stream.read(&mut answer).await.unwrap();
        String::from_utf8(answer[..length].to_vec()).unwrap()
    }

    /// Everything that arrives until the connection closes.
    async fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        self.stream.read_to_end(&mut rest).await.unwrap();
        String::from_utf8(rest).unwrap()
    }
}

async fn known(Extension(state): Extension<Arc<ConnectionState>>) -> &'static str {
    state.set_authenticated();
    "welcome"
}

async fn flood() -> Body {
    let page = axum::body::Bytes::from_static(&[b'x'; 4096]);
    Body::from_stream(futures_util::stream::repeat(Ok::<_, Infallible>(page)))
}

#[tokio::test(start_paused = true)]
async fn a_head_that_never_completes_times_out() {
    let began = Instant::now();
    let mut client = Client::connect().await;
    client.send("GET /known HTTP/1.1\r\n").await;
    for _ in 0..9 {
        sleep(Duration::from_secs(1)).await;
        client.send("X").await;
    }
    assert_eq!(client.rest().await, "");
    assert_eq!(began.elapsed().as_secs(), ConnectionLimits::default().head.as_secs());
}

#[tokio::test(start_paused = true)]
async fn an_unauthenticated_client_times_out_before_and_after_its_request() {
    let mut silent = Client::connect().await;
    assert_eq!(silent.rest().await, "");
    let mut stranger = Client::connect().await;
    assert!(stranger.get("/unknown").await.ends_with("who are you?"));
    let began = Instant::now();
    assert_eq!(stranger.rest().await, "");
    let twice = 2 * ConnectionLimits::default().head + Duration::from_secs(1);
    assert!(began.elapsed() < twice, "the clock may have started with the request");
}

#[tokio::test(start_paused = true)]
async fn an_authenticated_client_may_idle_for_days_but_must_finish_a_request_it_starts() {
    let mut client = Client::connect().await;
    for _ in 0..3 {
        assert!(client.get("/known").await.ends_with("welcome"));
        sleep(Duration::from_secs(86_400)).await;
    }
    client.send("GET /known").await;
    assert_eq!(client.rest().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_trickles_is_refused_and_one_that_is_only_long_is_not() {
    let head = "POST /swallow HTTP/1.1\r\nHost: a\r\nContent-Length: 12000\r\n\r\n";
    let mut trickling = Client::connect().await;
    trickling.send(head).await;
    let began = Instant::now();
    let trickle = async {
        for _ in 0..29 {
            sleep(Duration::from_secs(1)).await;
            trickling.send("x").await;
        }
        trickling.rest().await
    };
    assert!(trickle.await.starts_with("HTTP/1.1 408"));
    // The server still reads for a moment what may arrive.
    let limits = ConnectionLimits::default();
    assert!(began.elapsed() <= limits.body_rate_window + limits.linger + Duration::from_secs(1));

    let mut steady = Client::connect().await;
    steady.send(head).await;
    for _ in 0..120 {
        sleep(Duration::from_secs(1)).await;
        steady.send(&"x".repeat(100)).await;
    }
    let mut answer = [0; 12];
    steady.stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_disconnected() {
    let began = Instant::now();
    let mut client = Client::connect().await;
    client.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n").await;
    client.serving.wait().await;
    assert_eq!(began.elapsed().as_secs(), ConnectionLimits::default().stall.as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_is_not_disconnected() {
    let mut client = Client::connect().await;
    client.send("GET /flood HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let mut some = vec![0; 16 << 10];
    for _ in 0..20 {
        sleep(ConnectionLimits::default().stall / 2).await;
        client.stream.read_exact(&mut some).await.unwrap();
    }
    assert!(!client.serving.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_still_sending_receives_the_error() {
    let mut client = Client::connect().await;
    let head = "POST /swallow HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n";
    client.send(head).await;
    let Client { stream, .. } = client;
    let (mut reader, mut writer) = tokio::io::split(stream);
    let send = async {
        let page = vec![b'x'; 10_000];
        for _ in 0..500 {
            writer.write_all(&page).await.unwrap();
        }
    };
    let mut answer = [0; 12];
    let (read, ()) = tokio::join!(reader.read_exact(&mut answer), send);
    read.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test(start_paused = true)]
async fn an_ambiguous_request_is_refused_behind_others_too() {
    let valid = [
        "GET /known HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /swallow HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
        "POST /swallow HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    ];
    let ambiguous = [
        "GET /known HTTP/1.1\nHost: a\r\n\r\n",
        "POST /swallow HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ];
    for first in valid {
        for second in ambiguous {
            let mut client = Client::connect().await;
            client.send(&[first, second, first].concat()).await;
            let answers = client.rest().await;
            assert_eq!(answers.matches("HTTP/1.1 200").count(), 1, "{second:?}: {answers}");
            assert_eq!(answers.matches("HTTP/1.1 400").count(), 1, "{second:?}: {answers}");
        }
        let last = "GET /unknown HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let mut client = Client::connect().await;
        client.send(&[first, first, last].concat()).await;
        let answers = client.rest().await;
        assert_eq!(answers.matches("HTTP/1.1 200").count(), 3, "{first:?}: {answers}");
    }
}
