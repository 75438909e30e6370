//! The log: on disk, in the control API and in the terminal, without secrets.

use evermoor_core::api::LogLine;
use evermoor_tests::Scene;
use evermoor_tests::scene::programs::Process;
use evermoor_tests::scene::wait::until;
use http::Method;
use serde_json::Value;

use super::{evermoor, json, text};

fn file(scene: &Scene) -> std::path::PathBuf {
    scene.home().join("logs/gateway.log")
}

async fn until_logged(scene: &Scene, part: &str) {
    let file = file(scene);
    until(part, || std::fs::read_to_string(&file).is_ok_and(|log| log.contains(part))).await;
}

#[tokio::test]
async fn changes_of_an_upstream_are_in_the_log() {
    let scene = Scene::new();
    let (gateway, _upstream) = scene.gateway_in_outage("notes").await;
    until_logged(&scene, "upstream down").await;

    let log = std::fs::read_to_string(file(&scene)).unwrap();
    let lines: Vec<LogLine> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line.upstream.as_deref() == Some("notes")));

    let of_notes = text(&evermoor(&scene.home(), &["logs", "notes"]).await.stdout);
    assert!(of_notes.contains("warn  notes: upstream down"), "{of_notes}");
    let data = evermoor(&scene.home(), &["logs", "notes", "-n", "1", "--json"]).await;
    assert_eq!(json(&data)["upstream"], "notes");
    let newest = evermoor(&scene.home(), &["logs", "--since", "1h", "-n", "2"]).await;
    assert_eq!(text(&newest.stdout).lines().count(), 2, "a number limits a period, too");
    let none = evermoor(&scene.home(), &["logs", "nobody"]).await;
    assert!(text(&none.stderr).contains("has no lines about `nobody`"));

    let lines = gateway.control(Method::GET, "/api/logs?upstream=notes&lines=500").await;
    let lines: Vec<LogLine> = serde_json::from_value(lines["lines"].clone()).unwrap();
    assert!(lines.iter().any(|line| line.text.starts_with("upstream down")));
    assert!(lines.iter().all(|line| line.upstream.as_deref() == Some("notes")));
}

#[tokio::test]
async fn the_log_is_followed_and_can_be_read_when_no_gateway_runs() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let mut following = Process::evermoor(&scene.home(), |command| {
        command.args(["logs", "-f", "--json", "-n", "1000"]);
    });
    following.line().await;
    gateway.control(Method::POST, "/api/upstreams/notes/restart").await;
    let line = following.line_with("\"notes\"").await;
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["schema"], 1);
    following.kill().await;
    gateway.process.kill().await;
    let read = evermoor(&scene.home(), &["logs"]).await;
    assert_eq!(read.status.code(), Some(0));
    assert!(!read.stdout.is_empty());
}

/// A secret that a program prints, and one in a URL.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_secret_gets_into_the_log() {
    const CANARY: &str = "canary-Zk3vQ9yT1mLx8RwPb5NcJ7hGfD2sAe4uVi6oKq";
    let scene = Scene::new();
    let script = format!("echo api_key={CANARY} >&2; echo {CANARY} >&2; sleep 0.1; exit 1");
    let program = format!("\n[upstreams.talks]\ncommand = \"sh\"\nargs = [\"-c\", \"{script}\"]\n");
    let away =
        evermoor_tests::scene::entry::at("away", &format!("http://127.0.0.1:9/mcp?token={CANARY}"));
    let gateway = scene.gateway_of("", &(program + &away)).await;
    gateway.until_down("talks").await;
    gateway.until_down("away").await;
    until_logged(&scene, "api_key=[removed]").await;
    let log = std::fs::read_to_string(file(&scene)).unwrap();
    assert!(!log.contains(CANARY), "{log}");
    let lines = gateway.control(Method::GET, "/api/logs").await.to_string();
    assert!(!lines.contains(CANARY), "{lines}");
}
