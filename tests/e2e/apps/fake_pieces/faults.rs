//! Faults of a running PiecesOS.

use std::time::Duration;

use evermoor_tests::fakes::pieces::{Area, Fault, Pieces};
use evermoor_tests::gateway::http;
use evermoor_tests::scene::wait::until;
use evermoor_tests::{PATIENCE, Scene};
use reqwest::{Method, StatusCode};
use serde_json::json;
use tokio::time::{Instant, timeout};

use super::{HEALTH, ask, create, get, handshake, post, request};

/// Waits until a stream ends, which it does not do by itself.
async fn ended(mut stream: reqwest::Response) {
    let reading = async { while let Ok(Some(_)) = stream.chunk().await {} };
    timeout(PATIENCE, reading).await.expect("the stream ends");
}

#[tokio::test]
async fn it_drops_its_streams_and_accepts_new_ones() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let stream = http().get(pieces.events_url()).send().await.unwrap();
    pieces.tell(Fault::Drop).await;
    ended(stream).await;
    let again = http().get(pieces.events_url()).send().await.unwrap();
    assert_eq!(again.status(), StatusCode::OK);
}

#[tokio::test]
async fn mcp_is_unavailable_while_it_is_half_up() {
    let scene = Scene::new();
    let mut pieces = Pieces::install(&scene).await;
    pieces.alter(|settings| settings.half_up = true);
    pieces.launch().await;
    assert!(get(&pieces, HEALTH).await.starts_with("ok"));
    let versions = ask(&pieces, Method::GET, "/model_context_protocol/schema_versions").await.0;
    assert_eq!(versions, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(post(&pieces, None, &create("a")).await.status(), StatusCode::INTERNAL_SERVER_ERROR);
    pieces.alter(|settings| settings.half_up = false);
    assert_eq!(post(&pieces, None, &create("a")).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn mcp_hangs_while_health_is_good_until_it_behaves() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.tell(Fault::Hang(Area::Calls)).await;
    let call = create("a");
    let mut calling = Box::pin(post(&pieces, None, &call));
    tokio::select! {
        _ = &mut calling => panic!("it hangs"),
        () = until("the call is executed", || pieces.ledger.executions("a") > 0) => {}
    }
    get(&pieces, HEALTH).await;
    pieces.tell(Fault::Behave).await;
    assert_eq!(calling.await.status(), StatusCode::OK);
}

#[tokio::test]
async fn it_is_slow_where_it_is_told_to_be() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.tell(Fault::Slow { area: Area::Lists, millis: 200 }).await;
    let began = Instant::now();
    post(&pieces, None, &request("tools/list", json!({}))).await;
    assert!(began.elapsed() >= Duration::from_millis(200));
}

#[tokio::test]
async fn it_refuses_the_configured_number_of_times() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.tell(Fault::Refuse { area: Area::Mcp, status: 503, times: Some(2) }).await;
    for wanted in [StatusCode::SERVICE_UNAVAILABLE, StatusCode::SERVICE_UNAVAILABLE, StatusCode::OK]
    {
        assert_eq!(post(&pieces, None, &create("a")).await.status(), wanted);
    }
    assert_eq!(pieces.ledger.executions("a"), 1);
}

#[tokio::test]
async fn a_call_runs_and_its_reply_is_lost() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.tell(Fault::LoseReplies { times: 1 }).await;
    let lost = http()
        .post(pieces.streamable_url())
        .header("content-type", "application/json")
        .body(create("a").to_string());
    assert!(lost.send().await.is_err());
    assert_eq!(pieces.ledger.executions("a"), 1);
    assert_eq!(post(&pieces, None, &create("b")).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn it_forgets_its_sessions_and_leaves_its_streams_open() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let session = handshake(&pieces).await;
    let mut stream = http().get(pieces.events_url()).send().await.unwrap();
    let opened = String::from_utf8(stream.chunk().await.unwrap().unwrap().to_vec()).unwrap();
    let messages = opened.lines().find_map(|line| line.strip_prefix("data: ")).unwrap().to_owned();
    pieces.tell(Fault::Forget).await;
    assert_eq!(post(&pieces, Some(&session), &create("a")).await.status(), StatusCode::NOT_FOUND);
    let reply = http().post(pieces.url(&messages)).body(create("b").to_string()).send().await;
    assert_eq!(reply.unwrap().status(), StatusCode::NOT_FOUND);
    let silence = timeout(Duration::from_millis(100), stream.chunk()).await;
    assert!(silence.is_err(), "the stream is open and says nothing: {silence:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn it_allocates_memory_and_frees_what_is_not_for_good() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let memory = || {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", pieces.pid())).unwrap();
        text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    const MIB: usize = 1 << 20;
    let before = memory();
    pieces.tell(Fault::Grow { bytes: 64 * MIB, for_good: false }).await;
    let grown = memory();
    assert!(grown >= before + 63 * MIB, "{before} {grown}");
    ask(&pieces, Method::POST, "/os/memory/optimize").await;
    assert!(memory() < before + 16 * MIB);
    pieces.tell(Fault::Grow { bytes: 64 * MIB, for_good: true }).await;
    ask(&pieces, Method::POST, "/os/memory/optimize").await;
    assert!(memory() >= before + 63 * MIB);
    assert_eq!(pieces.ledger.executions("POST /os/memory/optimize"), 2);
}

#[tokio::test]
async fn it_writes_invalid_data_on_its_streams() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let mut stream = http().get(pieces.events_url()).send().await.unwrap();
    stream.chunk().await.unwrap();
    pieces.tell(Fault::Babble).await;
    let received = stream.chunk().await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&received).contains("oops"));
}

#[tokio::test]
async fn it_freezes_and_resumes() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.freeze();
    let asking = http().get(pieces.url(HEALTH)).timeout(Duration::from_millis(200)).send().await;
    assert!(asking.unwrap_err().is_timeout());
    pieces.thaw();
    get(&pieces, HEALTH).await;
}
