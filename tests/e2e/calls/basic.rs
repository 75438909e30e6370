//! The path of a call: editor, gateway, upstream, and back.

use bytes::Bytes;
use evermoor_core::protocol::envelope::Outcome;
use evermoor_core::protocol::json::Raw;
use evermoor_tests::Scene;
use serde_json::json;

#[tokio::test]
async fn a_call_goes_through_over_http() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let result = editor.call("record", &json!({ "nonce": "a" })).await;
    assert_eq!(result["content"][0]["text"], "a");
    assert_eq!(upstream.ledger.executions("a"), 1);
}

#[tokio::test]
async fn a_single_upstreams_path_keeps_its_names() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let listed = gateway.editor("/mcp/notes").await.ask("tools/list", &json!({})).await;
    assert_eq!(listed["tools"][0]["name"], "record");
}

#[tokio::test]
async fn the_combined_path_prefixes_names_and_routes_each_call_to_its_upstream() {
    let scene = Scene::new();
    let (notes, files) = (scene.upstream("notes").await, scene.upstream("files").await);
    let gateway = scene.gateway(&[&notes, &files]).await;
    let mut editor = gateway.editor("/mcp").await;
    let listed = editor.ask("tools/list", &json!({})).await;
    let names: Vec<&str> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert!(names.contains(&"notes__record") && names.contains(&"files__record"), "{names:?}");
    editor.call("files__record", &json!({ "nonce": "f" })).await;
    assert_eq!((notes.ledger.executions("f"), files.ledger.executions("f")), (0, 1));
}

#[tokio::test]
async fn arguments_and_results_pass_byte_for_byte() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let params = r#"{"name":"mirror","zeta":1,"alpha":{ "big" :123456789012345678901234567890},"exact":1.10,"text":"\u00e9\/é😀","unknown":[ ]}"#;
    let sent = Raw::parse(Bytes::from_static(params.as_bytes())).unwrap();
    let answer = editor.request("tools/call", Some(sent)).await;
    let Outcome::Result(result) = answer.outcome else { panic!("a result: {answer:?}") };
    assert_eq!(result.as_str(), format!(r#"{{"mirrored":{params}}}"#));
}

#[tokio::test]
async fn messages_about_a_call_arrive_in_order_before_its_answer() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let params = json!({ "name": "steps", "_meta": { "progressToken": "mine" } });
    editor.ask("tools/call", &params).await;
    let steps: Vec<Raw> =
        editor.notifications.iter().filter_map(|progress| progress.params.clone()).collect();
    let wanted: Vec<String> =
        (1..=3).map(|step| format!(r#"{{"progress":{step},"progressToken":"mine"}}"#)).collect();
    assert_eq!(steps.iter().map(Raw::as_str).collect::<Vec<_>>(), wanted);
}

#[tokio::test]
async fn calling_a_missing_tool_is_an_error_that_says_so() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp").await;
    let answer =
        editor.request("tools/call", Some(Raw::of(&json!({ "name": "notes__nothing" })))).await;
    let Outcome::Error(error) = answer.outcome else { panic!("an error: {answer:?}") };
    assert_eq!(
        error.text_member("message").unwrap(),
        "There is no tool `notes__nothing`. Request the list again."
    );
}
