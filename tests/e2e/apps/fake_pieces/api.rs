//! The API of PiecesOS, and its two MCP transports.

use evermoor_tests::Scene;
use evermoor_tests::fakes::pieces::{Fault, Pieces};
use evermoor_tests::gateway::http;
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{HEALTH, STREAMABLE, ask, create, get, get_json, handshake, post, request, said};

#[tokio::test]
async fn health_is_a_word_and_a_number_and_needs_no_credentials() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    assert!(get(&pieces, HEALTH).await.starts_with("ok:"));
    assert_eq!(ask(&pieces, Method::HEAD, HEALTH).await, (StatusCode::OK, String::new()));
    assert_eq!(get(&pieces, "/.well-known/version").await, "12.3.10");
    assert!(!get(&pieces, "/.well-known/installation/path").await.is_empty());
}

#[tokio::test]
async fn it_takes_the_first_free_port_of_its_range() {
    let scene = Scene::new();
    let mut pieces = Pieces::install(&scene).await;
    let taken = std::net::TcpListener::bind(("127.0.0.1", pieces.range.first)).unwrap();
    assert_eq!(pieces.launch().await.port, taken.local_addr().unwrap().port() + 1);
}

#[tokio::test]
async fn it_reports_whether_somebody_is_signed_in_and_whether_memory_is_on() {
    let (scene, vision) = (Scene::new(), "/workstream_pattern_engine/processors/vision");
    let pieces = Pieces::start(&scene).await;
    assert!(get_json(&pieces, "/user").await["user"]["id"].is_string());
    let status = format!("{vision}/status");
    assert!(!get_json(&pieces, &status).await["vision"]["activation"].is_null());
    pieces.alter(|settings| settings.signed_in = false);
    assert_eq!(get_json(&pieces, "/user").await, json!({}));
    ask(&pieces, Method::POST, &format!("{vision}/deactivate")).await;
    assert!(get_json(&pieces, &status).await["vision"]["activation"].is_null());
    ask(&pieces, Method::POST, &format!("{vision}/activate")).await;
    assert!(!get_json(&pieces, &status).await["vision"]["activation"].is_null());
    let applications = get_json(&pieces, "/applications").await;
    assert_eq!(applications["iterable"][0]["name"], "OS_SERVER");
}

#[tokio::test]
async fn its_list_of_mcp_versions_begins_with_the_older_one() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let listed = get_json(&pieces, "/model_context_protocol/schema_versions").await;
    let older = listed["iterable"][0]["entry_endpoint"].as_str().unwrap();
    assert!(older.ends_with("/model_context_protocol/2024-11-05/sse"), "{older}");
    assert!(older.contains(&format!(":{}/", pieces.port())), "{older}");
    let newer = listed["iterable"][1]["entry_endpoint"].as_str().unwrap();
    assert!(newer.ends_with(STREAMABLE), "{newer}");
}

#[tokio::test]
async fn over_streamable_http_a_call_is_executed_once_and_answered() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let session = handshake(&pieces).await;
    let tools = said(post(&pieces, Some(&session), &request("tools/list", json!({}))).await).await;
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|t| t["name"].as_str())
        .collect();
    assert_eq!(names, ["ask_pieces_ltm", "create_pieces_memory"]);
    let made = said(post(&pieces, Some(&session), &create("a")).await).await;
    assert_eq!(made["result"]["content"][0]["text"], "a");
    assert_eq!(pieces.ledger.executions("a"), 1);
    let lost = post(&pieces, Some("of another life"), &create("b")).await;
    assert_eq!((lost.status(), pieces.ledger.executions("b")), (StatusCode::NOT_FOUND, 0));
}

#[tokio::test]
async fn it_is_lenient_about_handshakes_unless_it_is_told_to_be_strict() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    assert_eq!(post(&pieces, None, &create("a")).await.status(), StatusCode::OK);
    pieces.alter(|settings| settings.strict = true);
    assert_eq!(post(&pieces, None, &create("b")).await.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn an_error_of_a_tool_and_structured_results_are_marked_as_such() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    pieces.alter(|settings| settings.tools.push("look_up".to_owned()));
    let empty = json!({ "name": "ask_pieces_ltm", "arguments": {} });
    let failed = said(post(&pieces, None, &request("tools/call", empty)).await).await;
    assert_eq!(failed["result"]["isError"], true);
    let asked = json!({ "name": "look_up", "arguments": { "nonce": "x" } });
    let found = said(post(&pieces, None, &request("tools/call", asked)).await).await;
    assert_eq!(found["result"]["structuredContent"], json!({ "nonce": "x" }));
}

#[tokio::test]
async fn the_gateway_and_its_editors_use_it_over_both_transports() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    for (name, url) in [("older", pieces.events_url()), ("newer", pieces.streamable_url())] {
        let gateway = scene.gateway_to("", name, &url, "").await;
        gateway.until_connected(name).await;
        let mut editor = gateway.editor(&format!("/mcp/{name}")).await;
        editor.call("create_pieces_memory", &json!({ "summary": name })).await;
        assert_eq!(pieces.ledger.executions(name), 1);
        pieces.alter(|settings| settings.tools = vec![format!("{name}_tool")]);
        pieces.tell(Fault::AnnounceTools).await;
        gateway.until(name, |upstream| upstream.tools == 3).await;
        pieces.alter(|settings| settings.tools.clear());
    }
}

#[tokio::test]
async fn no_process_outlives_its_test() {
    let scene = Scene::new();
    let pieces = Pieces::start(&scene).await;
    let health = pieces.url(HEALTH);
    assert_eq!(ask(&pieces, Method::GET, "/os/restart").await.0, StatusCode::NO_CONTENT);
    let next = pieces.instance(2).await;
    let line = std::net::TcpStream::connect(("127.0.0.1", next.port)).unwrap();
    drop(pieces);
    // The connection closes when it exits.
    line.set_read_timeout(Some(evermoor_tests::PATIENCE)).unwrap();
    assert!(matches!(std::io::Read::read(&mut &line, &mut [0; 1]), Ok(0) | Err(_)));
    assert!(http().get(health).send().await.is_err());
}
