//! Clients that call and connect continuously through several takeovers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::ipc::handover::HandoverConnection;
use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::gateway::{Gateway, runtime};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// What a client saw.
struct Seen {
    name: String,
    rounds: usize,
    longest: Duration,
}

/// Calls a tool repeatedly. Every call must succeed.
async fn call(mut editor: Editor, name: String, over: Arc<AtomicBool>) -> Seen {
    let (mut rounds, mut longest) = (0, Duration::ZERO);
    while !over.load(Ordering::Relaxed) {
        let (nonce, began) = (format!("{name} {rounds}"), Instant::now());
        let result = editor.call("record", &json!({ "nonce": nonce })).await;
        assert_eq!(result["content"][0]["text"], nonce);
        longest = longest.max(began.elapsed());
        rounds += 1;
    }
    Seen { name, rounds, longest }
}

/// Connects repeatedly. Every connection must be accepted and answered.
async fn connect(address: String, over: Arc<AtomicBool>) -> Seen {
    let (mut rounds, mut longest) = (0, Duration::ZERO);
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    while !over.load(Ordering::Relaxed) {
        let began = Instant::now();
        let mut stream = TcpStream::connect(&address).await.expect("nobody is refused");
        stream.write_all(request.as_bytes()).await.expect("nobody is cut off");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("nobody is cut off");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        longest = longest.max(began.elapsed());
        rounds += 1;
    }
    Seen { name: "knocking".into(), rounds, longest }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn six_takeovers_in_a_row_refuse_nobody_and_fail_no_call() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let (origin, over) = (gateway.origin.clone(), Arc::new(AtomicBool::new(false)));
    let mut clients = JoinSet::new();
    for number in 0..2 {
        let (kept, fresh, shim) = (
            gateway.editor("/mcp/notes").await,
            gateway.editor("/mcp/notes").await.without_keepalive(),
            gateway.editor_over_shim(Some("notes")).await,
        );
        for (name, editor) in [("kept", kept), ("fresh", fresh), ("shim", shim)] {
            clients.spawn(call(editor, format!("{name}-{number}"), Arc::clone(&over)));
        }
        let address = origin.trim_start_matches("http://").to_owned();
        clients.spawn(connect(address, Arc::clone(&over)));
    }
    for _ in 0..6 {
        let next = Gateway::take_over(&scene.home()).await;
        assert_eq!((&next.origin, &next.control_token), (&origin, &gateway.control_token));
        assert_eq!(runtime(&scene.home()).pid, next.process.pid());
        assert!(gateway.process.ended().await.success(), "it ends by itself, and well");
        gateway = next;
    }
    over.store(true, Ordering::Relaxed);
    let mut calls = 0;
    while let Some(seen) = clients.join_next().await {
        let Seen { name, rounds, longest } = seen.expect("every call went through");
        println!("{name:<10} {rounds:>6} rounds, the longest took {longest:?}");
        assert!(rounds > 6, "{name} was busy all the time");
        calls += if name == "knocking" { 0 } else { rounds };
    }
    let ledger = upstream.ledger.all();
    assert_eq!(ledger.len(), calls);
    assert!(ledger.values().all(|executions| *executions == 1), "{ledger:?}");
}

#[tokio::test]
async fn the_lock_belongs_to_the_gateway_that_took_over() {
    let scene = Scene::new();
    let mut old = scene.gateway(&[]).await;
    let mut new = Gateway::take_over(&scene.home()).await;
    assert!(old.process.ended().await.success());
    let run = scene.home().join("run");
    let lock = || InstanceLock::take(&run.join("gateway.lock")).unwrap();
    assert!(lock().is_none(), "the lock is held");
    assert_eq!(runtime(&scene.home()).pid, new.process.pid(), "its file is still there");
    let stand = run.join("handover.sock");
    let stand = HandoverConnection::connect(&stand, new.process.pid()).await;
    assert!(stand.is_ok(), "and it can be taken over in turn");
    new.process.kill().await;
    assert!(lock().is_some(), "nobody else holds it");
}

#[tokio::test]
async fn without_a_running_gateway_a_takeover_is_a_normal_start() {
    let scene = Scene::new();
    scene.configure("", &[]);
    let gateway = Gateway::take_over(&scene.home()).await;
    let mut editor = gateway.editor("/mcp").await;
    let result = editor.call("demo__echo", &json!({ "text": "hello" })).await;
    assert_eq!(result["content"][0]["text"], "hello");
}
