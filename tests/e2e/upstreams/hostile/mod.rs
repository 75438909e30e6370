//! Servers, editors and files that attack their readers.
//!
//! - [`lists`]: servers that attack with their lists
//! - [`calls`]: servers that attack when a tool is called
//! - [`editors`]: editors that attack the gateway
//! - [`all_at_once`]: all of them, beside a server and an editor that do not
//! - [`protection`]: files that hang, and what other programs of the user can read, on Linux
//! - [`fuzz_seeds`]: the seeds of the fuzz targets, and what fuzzing found

mod all_at_once;
mod calls;
mod editors;
mod fuzz_seeds;
mod lists;
#[cfg(target_os = "linux")]
mod protection;

use evermoor_core::api::UpstreamState;
use evermoor_tests::gateway::{Gateway, http};
use evermoor_tests::scene::entry;
use evermoor_tests::scene::programs::{self, built};
use evermoor_tests::scene::wait::until;
use evermoor_tests::{PATIENCE, Scene};
use serde_json::{Value, json};

fn hostile(tricks: &[&str]) -> String {
    let tricks: Vec<String> = tricks.iter().map(|trick| (*trick).to_owned()).collect();
    entry::program("hostile", &built("hostile-server"), &tricks)
}

async fn gateway(scene: &Scene, tricks: &[&str]) -> Gateway {
    scene.gateway_of("", &hostile(tricks)).await
}

async fn output(scene: &Scene, arguments: &[&str]) -> String {
    let done = programs::evermoor(&scene.home()).args(arguments).output().await.unwrap();
    let (out, error) = (done.stdout, done.stderr);
    format!("{}{}", String::from_utf8_lossy(&out), String::from_utf8_lossy(&error))
}

#[tokio::test]
async fn what_a_server_says_reaches_the_terminal_and_the_log_as_text() {
    let scene = Scene::new();
    let gateway = gateway(&scene, &["escapes"]).await;
    gateway.until_connected("hostile").await;
    let log = scene.home().join("logs/gateway.log");
    until("its standard error is logged", || {
        std::fs::read_to_string(&log).is_ok_and(|log| log.contains("stderr says"))
    })
    .await;
    for arguments in [&["status"][..], &["status", "hostile"], &["tools"], &["logs"]] {
        let shown = output(&scene, arguments).await;
        for forbidden in ["\u{1b}", "\u{7}", "\u{202e}", "\nWARN forged"] {
            assert!(!shown.contains(forbidden), "{arguments:?}: {shown:?}");
        }
    }
    let tools = output(&scene, &["tools"]).await;
    assert!(tools.contains("hostile__tool1   A tool. \u{fffd}]0;owned"), "{tools:?}");
}

#[tokio::test]
async fn a_list_whose_cursor_repeats_ends() {
    let scene = Scene::new();
    let gateway = gateway(&scene, &["same-cursor", "long-name"]).await;
    let upstream = gateway.until_connected("hostile").await;
    assert_eq!(upstream.tools, 2, "two pages, without the names that are too long");
}

#[tokio::test]
async fn a_list_without_end_is_refused_with_the_limit_that_can_be_raised() {
    let scene = Scene::new();
    let gateway = gateway(&scene, &["huge-list"]).await;
    let upstream = gateway.until_down("hostile").await;
    let UpstreamState::Down { failure, .. } = upstream.link else { panic!("it is down") };
    assert_eq!(failure.what, "Its lists are larger than 16 MB.");
    assert!(failure.remedy.contains("`catalog_limit`"), "{failure}");
}

#[tokio::test]
async fn instructions_are_cut_and_cannot_forge_the_heading_of_another_server() {
    let scene = Scene::new();
    let gateway = gateway(&scene, &["instructions"]).await;
    gateway.until_connected("hostile").await;
    let client = json!({ "name": "editor", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    let request = http().post(format!("{}/mcp", gateway.origin)).bearer_auth(gateway.token());
    let request = request.header("content-type", "application/json");
    let request = request.header("accept", "application/json, text/event-stream");
    let introduced = request.body(hello.to_string()).send().await.unwrap().text().await.unwrap();
    let introduced: Value = serde_json::from_str(&introduced).unwrap();
    let text = introduced["result"]["instructions"].as_str().unwrap();
    assert!(text.len() < 32 << 10, "{} bytes", text.len());
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings, ["# hostile"]);
}

#[tokio::test]
async fn a_program_that_somebody_else_adds_is_told_and_can_need_approval() {
    let scene = Scene::new();
    let gateway = scene.gateway_of("approve_programs = true", "").await;
    scene.write("approve_programs = true", &hostile(&[]));
    let status = gateway.until_status(|status| !status.warnings.is_empty()).await;
    assert!(status.warnings[0].remedy.contains("evermoor approve hostile"), "{status:?}");
    assert!(
        status.upstreams.iter().all(|upstream| upstream.name != "hostile" || upstream.is_off())
    );
    let done = output(&scene, &["approve", "hostile", "--yes"]).await;
    assert!(done.contains("has taken over"), "{done}");
    let shown = until_output(&scene, &["status"], "Connected").await;
    assert!(!shown.contains("approve"), "{shown}");
}

/// Runs a command until it prints `part`.
async fn until_output(scene: &Scene, arguments: &[&str], part: &str) -> String {
    let shown = async {
        loop {
            let shown = output(scene, arguments).await;
            if shown.contains(part) {
                return shown;
            }
        }
    };
    tokio::time::timeout(PATIENCE, shown).await.expect("it is printed in time")
}

/// The most memory that the gateway has used so far, in bytes; 0 where the system does not tell.
fn peak_memory(gateway: &Gateway) -> usize {
    let status = format!("/proc/{}/status", gateway.process.pid());
    let status = std::fs::read_to_string(status).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    peak.trim().trim_end_matches(" kB").parse().unwrap_or(0) * 1024
}
