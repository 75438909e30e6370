//! Too many connections, and clients that do not read.

use evermoor_tests::Scene;
use evermoor_tests::editor::socket::RawSocket;
use serde_json::json;

use super::{gateway, open_stream};

const CONNECTIONS: usize = 500;
const UNAUTHENTICATED: usize = 64;

#[tokio::test]
async fn of_five_hundred_silent_connections_only_a_few_stay_and_a_healthy_client_does_not_notice() {
    let scene = Scene::new();
    let (gateway, _) = gateway(&scene).await;
    let mut known = gateway.editor("/mcp").await;
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        connections.push(RawSocket::to(&gateway).await);
    }
    let mut newcomer = gateway.editor("/mcp").await;
    for editor in [&mut known, &mut newcomer] {
        let sum = editor.call("demo__add", &json!({ "a": 1, "b": 2 })).await;
        assert_eq!(sum["content"][0]["text"], "3");
    }
    for connection in &mut connections[..CONNECTIONS - UNAUTHENTICATED] {
        connection.closed().await;
    }
}

/// Limit for data between an upstream and a client that does not read, in MiB. Most of it is in the
/// system's socket buffers.
const ON_THE_WAY: usize = 64;

#[tokio::test]
async fn an_editor_that_does_not_read_delays_only_its_own_call() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let lazy = gateway.add_editor("lazy").await;
    let _unread = open_stream(&gateway, &lazy, "flood").await;
    let mut editor = gateway.editor("/mcp/notes").await;
    for number in 0..300 {
        let nonce = format!("call {number}");
        let result = editor.call("record", &json!({ "nonce": nonce })).await;
        assert_eq!(result["content"][0]["text"], nonce.as_str());
    }
    let flooded = upstream.ledger.executions(&lazy);
    assert!(flooded <= ON_THE_WAY, "{flooded} MiB were taken from the upstream");
}

/// Gateways with a limit on open files, and what the system reports about them.
#[cfg(target_os = "linux")]
mod files {
    use std::time::Duration;

    use evermoor_platform::process::descriptors;
    use evermoor_tests::Scene;
    use evermoor_tests::editor::socket::RawSocket;
    use evermoor_tests::gateway::Gateway;
    use evermoor_tests::oracle::measure;
    use evermoor_tests::scene::wait::until;
    use serde_json::json;
    use tokio::task::JoinSet;
    use tokio::time::{Instant, sleep};

    const FEW: usize = 64;

    /// An authorized request without a session: from then on its connection counts as
    /// authenticated.
    fn greeting(gateway: &Gateway) -> String {
        let (host, token) = (gateway.origin.trim_start_matches("http://"), gateway.token());
        format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: 40\r\n\r\n{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}"
        )
    }

    fn open_files(gateway: &Gateway) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", gateway.process.pid())).unwrap().count()
    }

    /// CPU time used by the gateway.
    fn busy(gateway: &Gateway) -> Duration {
        measure::busy(gateway.process.pid()).unwrap()
    }

    #[tokio::test]
    async fn without_free_file_descriptors_the_gateway_does_not_spin_and_recovers() {
        let scene = Scene::new();
        scene.configure("", &[]);
        let gateway = Gateway::start_with_files(&scene.home(), FEW).await;
        let mut editor = gateway.editor("/mcp").await;
        let mut sockets = Vec::new();
        for _ in 0..FEW {
            sockets.push(RawSocket::to(&gateway).await);
        }
        until("no free descriptor", || open_files(&gateway) >= FEW).await;

        let (began, before) = (Instant::now(), busy(&gateway));
        sleep(Duration::from_secs(1)).await;
        let (passed, used) = (began.elapsed(), busy(&gateway) - before);
        assert!(used < passed / 2, "{used:?} of {passed:?}");
        editor.ask("ping", &json!({})).await;

        drop(sockets);
        gateway.editor("/mcp").await.ask("ping", &json!({})).await;
    }

    #[tokio::test]
    async fn an_editor_gets_half_of_the_descriptors_and_leaves_the_rest_to_others() {
        let scene = Scene::new();
        scene.configure("", &[]);
        let gateway = Gateway::start_with_files(&scene.home(), 4 * FEW).await;
        let other = gateway.add_editor("other").await;
        let greeting = greeting(&gateway);
        let mut statuses = Vec::new();
        let mut sockets = Vec::new();
        for _ in 0..3 * FEW {
            let mut socket = RawSocket::to(&gateway).await;
            socket.send(greeting.as_bytes()).await;
            statuses.push(socket.answer().await.status);
            sockets.push(socket);
        }
        let (admitted, refused) = statuses.split_at(2 * FEW);
        assert!(admitted.iter().all(|status| *status == 400), "{admitted:?}");
        assert!(refused.iter().all(|status| *status == 429), "{refused:?}");
        let origin = &gateway.origin;
        let mut editor = evermoor_tests::editor::Editor::over_http(origin, "/mcp", &other).await;
        editor.ask("ping", &json!({})).await;
    }

    const MANY: usize = 1_000;
    const ROUNDS: usize = 3;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_thousand_idle_editors_can_all_call_at_once() {
        descriptors::raise_limit();
        let scene = Scene::new();
        let upstream = scene.upstream("notes").await;
        scene.configure("", &[&upstream]);
        let gateway = Gateway::start_with_files(&scene.home(), 2 * MANY + 500).await;
        gateway.until_connected("notes").await;
        let mut editors = JoinSet::new();
        for _ in 0..MANY {
            let (origin, token) = (gateway.origin.clone(), gateway.token());
            editors.spawn(async move {
                evermoor_tests::editor::Editor::over_http(&origin, "/mcp/notes", &token).await
            });
        }
        let mut editors = editors.join_all().await;
        for round in 0..ROUNDS {
            let mut calls = JoinSet::new();
            for (number, mut editor) in editors.into_iter().enumerate() {
                let nonce = format!("{round} {number}");
                calls.spawn(async move {
                    let result = editor.call("record", &json!({ "nonce": nonce })).await;
                    assert_eq!(result["content"][0]["text"], nonce.as_str());
                    editor
                });
            }
            editors = calls.join_all().await;
        }
        let executed = upstream.ledger.all();
        assert_eq!(executed.len(), MANY * ROUNDS);
        assert!(executed.values().all(|times| *times == 1));
        let mut socket = RawSocket::to(&gateway).await;
        socket.send(greeting(&gateway).as_bytes()).await;
        assert_eq!(socket.answer().await.status, 400, "there is room for more");
    }
}
