//! The private socket between `evermoor connect` and the gateway: what happens to a call when it
//! breaks, who may use it, and what works without it.

#[cfg(target_os = "linux")]
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use evermoor_core::protocol::envelope::{Id, Message, Request};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::shim_frames::{FrameKind, MessageHead, prefix};
use evermoor_tests::Scene;
use evermoor_tests::editor::shim::ShimProcess;
use evermoor_tests::fakes::shim_gateway::{FrameStream, ShimGateway};
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::wait::until;
use http::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn call(id: u64, nonce: &str) -> String {
    let params = json!({ "name": "record", "arguments": { "nonce": nonce } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

fn outcome(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["dev.evermoor/outcome"]["outcome"]
}

/// A gateway, and a shim that is connected to a test instead of to it.
async fn intercepted(scene: &Scene) -> (Gateway, ShimGateway, ShimProcess, FrameStream) {
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let socket = ShimGateway::replace(&scene.home());
    let shim = ShimProcess::start(&scene.home(), Some("notes"));
    let (shim, stream) = tokio::join!(shim.initialized(), socket.session());
    (gateway, socket, shim, stream)
}

#[tokio::test]
async fn a_call_that_was_taken_and_lost_is_unknown_and_not_sent_again() {
    let scene = Scene::new();
    let (_gateway, socket, mut shim, mut stream) = intercepted(&scene).await;
    shim.send(&call(1, "lost")).await;
    stream.request().await;
    drop(stream);
    assert_eq!(outcome(&shim.answer().await), "unknown");
    shim.send(&call(2, "next")).await;
    let mut again = socket.welcome().await;
    let (number, request) = again.request().await;
    assert_eq!(request.id, Id::number(2), "the lost call is not sent again");
    again.answer(number, request.id, "next").await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "next");
}

#[tokio::test]
async fn a_call_that_breaks_off_halfway_through_its_answer_is_unknown() {
    let scene = Scene::new();
    let (_gateway, _socket, mut shim, mut stream) = intercepted(&scene).await;
    shim.send(&call(1, "cut")).await;
    let (number, _) = stream.request().await;
    let head = MessageHead { status: 200, headers: Vec::new() };
    stream.send(FrameKind::Head, number, &head.to_bytes().unwrap()).await;
    stream.send(FrameKind::Data, number, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"res").await;
    stream.send(FrameKind::Broken, number, b"").await;
    assert_eq!(outcome(&shim.answer().await), "unknown");
}

#[tokio::test]
async fn a_call_that_the_gateway_did_not_take_is_sent_to_the_next_one() {
    let scene = Scene::new();
    let (_gateway, socket, mut shim, mut stream) = intercepted(&scene).await;
    shim.send(&call(1, "taken")).await;
    let (taken, request) = stream.request().await;
    shim.send(&call(2, "refused")).await;
    stream.request().await;
    stream.send(FrameKind::GoAway, taken, b"").await;
    let mut next = socket.welcome().await;
    let (number, refused) = next.request().await;
    assert_eq!(refused.id, Id::number(2));
    next.answer(number, refused.id, "refused").await;
    assert_eq!(shim.answer().await["id"], 2);
    stream.answer(taken, request.id, "taken").await;
    assert_eq!(shim.answer().await["id"], 1, "what was taken is answered where it was taken");
}

#[tokio::test]
async fn a_call_of_which_only_a_part_was_sent_is_sent_again() {
    let scene = Scene::new();
    let (_gateway, socket, mut shim, mut stream) = intercepted(&scene).await;
    let text = "x".repeat(3 << 20);
    shim.send(&call(1, &text)).await;
    stream.read_at_least(100_000).await;
    drop(stream);
    let mut next = socket.welcome().await;
    let (number, request) = next.request().await;
    assert_eq!(request.params.unwrap().text_member("name").as_deref(), Some("record"));
    next.answer(number, request.id, "whole").await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "whole");
}

#[tokio::test]
async fn without_a_private_socket_a_shim_uses_http() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    // As with a gateway of 0.1.0.
    std::fs::remove_file(scene.home().join("run/shim.sock")).unwrap();
    let mut shim = ShimProcess::start(&scene.home(), Some("notes")).initialized().await;
    shim.send(&call(1, "over HTTP")).await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "over HTTP");
    // A gateway that closes the connection at once.
    let socket = ShimGateway::replace(&scene.home());
    let connecting = async { ShimProcess::start(&scene.home(), Some("notes")).initialized().await };
    let (mut shim, _) = tokio::join!(connecting, async { drop(socket.accept().await) });
    shim.send(&call(2, "over HTTP too")).await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "over HTTP too");
}

#[tokio::test]
async fn a_shim_follows_a_takeover_and_the_old_gateway_ends() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    old.until_connected("notes").await;
    let mut shim = ShimProcess::start(&scene.home(), Some("notes")).initialized().await;
    shim.send(&call(1, "before")).await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "before");
    let mut new = Gateway::take_over(&scene.home()).await;
    assert!(old.process.ended().await.success());
    shim.send(&call(2, "after")).await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "after");
    assert!(scene.home().join("run/shim.sock").exists(), "the socket is the new gateway's");
    new.process.kill().await;
    shim.send(&call(3, "after a crash")).await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "after a crash");
}

#[tokio::test]
async fn shims_that_connect_during_takeovers_reach_a_gateway_on_the_private_socket() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    let (home, token) = (scene.home(), gateway.token());
    let (taken_over, over) = (CancellationToken::new(), AtomicUsize::new(0));
    let connecting = async {
        while !taken_over.is_cancelled() {
            let mut stream = FrameStream::connect(&home).await;
            stream.hello(&token, "/mcp").await;
            let first = stream.next().await.expect("the connection is not reset");
            assert_eq!(first.kind, FrameKind::Welcome);
            over.fetch_add(1, Ordering::Relaxed);
        }
    };
    let takeovers = async {
        for _ in 0..3 {
            let new = Gateway::take_over(&home).await;
            assert!(gateway.process.ended().await.success());
            gateway = new;
            let before = over.load(Ordering::Relaxed);
            until("shims connect to the new gateway", || over.load(Ordering::Relaxed) > before + 2)
                .await;
        }
        taken_over.cancel();
    };
    tokio::join!(takeovers, connecting);
    assert!(home.join("run/shim.sock").exists(), "no old gateway removed the socket");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_shim_that_uses_http_returns_to_the_private_socket_after_a_takeover() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    old.until_connected("notes").await;
    let socket = scene.home().join("run/shim.sock");
    std::fs::remove_file(&socket).unwrap();
    let mut shim = ShimProcess::start(&scene.home(), Some("notes")).initialized().await;
    upstream.kill().await;
    old.until_down("notes").await;
    upstream.start_again_with(&["extra"]).await;
    let notified = shim.next().await;
    assert_eq!(notified["method"], "notifications/tools/list_changed", "its stream is open");
    assert_eq!(connected_to(&socket), 0);
    let _new = Gateway::take_over(&scene.home()).await;
    assert!(old.process.ended().await.success());
    until("the shim uses the private socket", || connected_to(&socket) > 0).await;
    shim.send(&call(1, "after")).await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "after");
}

/// How many connections of shims were accepted at this socket.
#[cfg(target_os = "linux")]
fn connected_to(socket: &Path) -> usize {
    const CONNECTED: &str = "03";
    // The system lists sockets by the name that they had first.
    let name = socket.with_extension("");
    let sockets = std::fs::read_to_string("/proc/net/unix").unwrap();
    let of_shims = |line: &&str| {
        line.contains(name.to_str().unwrap()) && line.split_whitespace().nth(5) == Some(CONNECTED)
    };
    sockets.lines().filter(of_shims).count()
}

fn ping() -> Message {
    Request::new(Id::number(1), "ping", None).into()
}

#[tokio::test]
async fn the_private_socket_wants_a_token_and_counts_guesses() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut statuses = Vec::new();
    for guess in 0..22 {
        let mut stream = FrameStream::connect(&scene.home()).await;
        stream.hello(&format!("guess {guess}"), "/mcp").await;
        let refused = stream.next().await.expect("the gateway says why");
        assert_eq!(refused.kind, FrameKind::Refused);
        statuses.push(u16::from_le_bytes([refused.payload[0], refused.payload[1]]));
        assert!(stream.next().await.is_none(), "the connection is closed");
    }
    assert_eq!((statuses[0], statuses[21]), (401, 429));
    let mut stream = FrameStream::connect(&scene.home()).await;
    stream.hello(&gateway.token(), "/mcp").await;
    assert_eq!(stream.next().await.expect("a valid token passes").kind, FrameKind::Welcome);
}

#[tokio::test]
async fn the_private_socket_leads_to_the_endpoint_only_and_survives_nonsense() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    for path in ["/api/status", "/", "/healthz", "/mcp/../api/status"] {
        let mut stream = FrameStream::connect(&scene.home()).await;
        stream.hello(&gateway.token(), path).await;
        assert_eq!(stream.next().await.expect("the token is valid").kind, FrameKind::Welcome);
        stream.post(1, &[("authorization", "Bearer x")], &ping()).await;
        assert_eq!(stream.response().await.0.status, 404, "{path}");
    }
    let too_large = prefix(FrameKind::Post, 1, 64 << 20).to_vec();
    let headless = [&prefix(FrameKind::Post, 1, 2)[..], b"ab"].concat();
    for (first, bytes) in [(false, vec![0xff; 100]), (false, headless), (true, too_large)] {
        let mut stream = FrameStream::connect(&scene.home()).await;
        if first {
            stream.hello(&gateway.token(), "/mcp").await;
            stream.next().await.expect("the token is valid");
        }
        stream.write(&bytes).await;
        assert!(stream.next().await.is_none(), "the connection is closed");
    }
    let mut shim = ShimProcess::start(&scene.home(), Some("notes")).initialized().await;
    shim.send(&call(1, "fine")).await;
    assert_eq!(shim.answer().await["result"]["content"][0]["text"], "fine");
}

#[tokio::test]
async fn a_session_belongs_to_its_editor_and_a_revoked_token_ends_the_connection() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let token = gateway.add_editor("cursor").await;
    let mut stream = FrameStream::connect(&scene.home()).await;
    stream.hello(&token, "/mcp").await;
    stream.next().await.expect("the token is valid");
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let initialize = Request::new(Id::number(0), "initialize", Some(Raw::of(&params)));
    stream.post(1, &[], &initialize.into()).await;
    let (head, _) = stream.response().await;
    let session = head.header("mcp-session-id").expect("a session").to_owned();
    stream.post(2, &[("mcp-session-id", &session)], &ping()).await;
    assert_eq!(stream.response().await.0.status, 200);
    let mut other = FrameStream::connect(&scene.home()).await;
    other.hello(&gateway.token(), "/mcp").await;
    other.next().await.expect("the token is valid");
    other.post(1, &[("mcp-session-id", &session)], &ping()).await;
    assert_eq!(other.response().await.0.status, 404);
    gateway.control(Method::DELETE, "/api/editors/cursor").await;
    let gone = stream.next().await.expect("the gateway says that it takes no more");
    assert_eq!((gone.kind, gone.number), (FrameKind::GoAway, 2));
    assert!(stream.next().await.is_none(), "the connection is closed");
}
