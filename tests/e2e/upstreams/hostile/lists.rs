//! Servers that attack with their lists.

use evermoor_core::api::UpstreamState;
use evermoor_tests::Scene;
use evermoor_tests::oracle::measure;
use evermoor_tests::scene::entry;
use evermoor_tests::scene::programs::built;
use serde_json::{Value, json};
use std::time::Duration;

use super::{hostile, output, until_output};

/// Quadratic time would take minutes. This is several times what linear time takes without optimization.
const LINEAR: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_list_with_too_many_members_is_read_in_linear_time() {
    let scene = Scene::new();
    let gateway = scene.gateway_of("", &hostile(&["list-members"])).await;
    let upstream = gateway.until_connected("hostile").await;
    assert_eq!(upstream.tools, 0, "an object that cannot be read has no list");
    let busy = measure::busy(gateway.process.pid()).unwrap_or_default();
    assert!(busy < LINEAR, "the gateway worked for {busy:?}");
}

#[tokio::test]
async fn a_name_of_any_length_is_compared_with_patterns_in_linear_time() {
    let scene = Scene::new();
    let patterns = "tools.deny = [\"*x*x*x*x*y\", \"x*x*x*z\", \"*xx*xx*!\"]\n";
    let gateway = scene.gateway_of("", &(hostile(&["longest-name"]) + patterns)).await;
    let upstream = gateway.until_connected("hostile").await;
    assert_eq!((upstream.tools, upstream.hidden), (1, 0), "without the name that is too long");
    // A call is compared with the patterns too.
    let mut editor = gateway.editor("/mcp/hostile").await;
    let params = json!({ "name": "x".repeat(3 << 20), "arguments": {} });
    let params = evermoor_core::protocol::json::Raw::of(&params);
    editor.request("tools/call", Some(params)).await;
    let busy = measure::busy(gateway.process.pid()).unwrap_or_default();
    assert!(busy < LINEAR, "the gateway worked for {busy:?}");
}

#[tokio::test]
async fn a_server_cannot_answer_for_the_resources_of_another() {
    let scene = Scene::new();
    let program = |name: &str, trick: &str| {
        entry::program(name, &built("hostile-server"), &[trick.to_owned()])
    };
    let entries = program("owner", "resources") + &program("taker", "more-resources");
    let gateway = scene.gateway_of("", &entries).await;
    for name in ["owner", "taker"] {
        gateway.until_connected(name).await;
    }
    let mut editor = gateway.editor("/mcp").await;
    for uri in ["notes://secret", "notes://secret7", "notes://a/b"] {
        let read = editor.ask("resources/read", &json!({ "uri": uri })).await;
        assert_eq!(read["contents"][0]["text"], "kept", "{uri}");
    }
    let listed = editor.ask("resources/list", &json!({})).await;
    assert_eq!(listed["resources"].as_array().map(Vec::len), Some(1), "{listed}");
    let shown = output(&scene, &["status"]).await;
    assert!(shown.contains("notes://secret"), "the collision is told: {shown}");
    let mut own = gateway.editor("/mcp/taker").await;
    let read = own.ask("resources/read", &json!({ "uri": "notes://secret" })).await;
    assert_eq!(read["contents"][0]["text"], "stolen", "its own endpoint leads to it");
}

#[tokio::test]
async fn a_large_list_that_keeps_changing_is_served() {
    let scene = Scene::new();
    let gateway = scene.gateway_of("", &hostile(&["large-list"])).await;
    assert_eq!(gateway.until_connected("hostile").await.tools, 19_000);
    let number = |listed: &Value| {
        let tools = listed["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 19_000);
        let text = tools[0]["description"].as_str().unwrap();
        text.split(' ').next().unwrap().parse::<u64>().unwrap()
    };
    let mut editor = gateway.editor("/mcp").await;
    let first = number(&editor.ask("tools/list", &json!({})).await);
    let changed = async { while number(&editor.ask("tools/list", &json!({})).await) == first {} };
    tokio::time::timeout(evermoor_tests::PATIENCE, changed).await.expect("the list is read again");
    let status = gateway.status().await;
    assert!(matches!(status.upstreams[0].link, UpstreamState::Connected { .. }), "{status:?}");
    until_output(&scene, &["status"], "Connected").await;
}
