//! Which access is asked for, and what happens if it is too little.

use evermoor_tests::editor::Editor;
use evermoor_tests::peers::authorization::sign_in;
use serde_json::json;

use super::Signed;

/// What the editor is told about a call that the server refused.
async fn refused(editor: &mut Editor, nonce: &str) -> String {
    let answer = editor.call("write", &json!({ "nonce": nonce })).await;
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

/// The scopes of an authorization request, in order.
fn words(scopes: &str) -> Vec<&str> {
    let mut words: Vec<&str> = scopes.split_whitespace().collect();
    words.sort_unstable();
    words
}

#[tokio::test]
async fn the_scopes_are_those_that_the_server_names() {
    let signed = Signed::in_(&json!({})).await;
    let asked = signed.server.happened().await.asked;
    assert!(words(&asked[0]).contains(&"mcp:use"), "{asked:?}");
    assert!(!words(&asked[0]).contains(&"mcp:write"), "{asked:?}");
}

#[tokio::test]
async fn configured_scopes_are_asked_for_instead() {
    let signed = Signed::with(&json!({}), "oauth.scopes = [\"mcp:write\"]").await;
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    signed.gateway.until_connected("linear").await;
    let asked = signed.server.happened().await.asked;
    assert!(words(&asked[0]).contains(&"mcp:write"), "{asked:?}");
    assert!(!words(&asked[0]).contains(&"mcp:use"), "{asked:?}");
    let mut editor = signed.gateway.editor("/mcp/linear").await;
    let result = editor.call("write", &json!({ "nonce": "permitted" })).await;
    assert_eq!(result["content"][0]["text"], "permitted");
}

#[tokio::test]
async fn a_call_that_lacks_a_scope_is_refused_at_once_and_the_next_sign_in_asks_for_all() {
    let signed = Signed::in_(&json!({})).await;
    let mut editor = signed.gateway.editor("/mcp/linear").await;
    let text = refused(&mut editor, "early").await;
    assert!(text.contains("Nothing was executed") && text.contains("mcp:write"), "{text}");
    // What is permitted still works, with the same token.
    let result = editor.call("record", &json!({ "nonce": "permitted" })).await;
    assert_eq!(result["content"][0]["text"], "permitted");
    let happened = signed.server.happened().await;
    assert_eq!((happened.asked.len(), happened.issued.get("refresh_token")), (1, None));
    let granted = words(&happened.asked[0]).into_iter().map(str::to_owned);

    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    signed.gateway.until_connected("linear").await;
    let asked = signed.server.happened().await.asked;
    let mut union: Vec<String> = granted.chain(["mcp:write".to_owned()]).collect();
    union.sort_unstable();
    assert_eq!(words(&asked[1]), union, "what was permitted, and what the call lacked");
    let result = editor.call("write", &json!({ "nonce": "later" })).await;
    assert_eq!(result["content"][0]["text"], "later");
    assert_eq!(signed.server.happened().await.executions.get("early"), None);
}

#[tokio::test]
async fn a_scope_that_the_person_does_not_permit_is_not_asked_for_again_and_again() {
    let signed = Signed::in_(&json!({ "withhold": "mcp:write" })).await;
    let mut editor = signed.gateway.editor("/mcp/linear").await;
    refused(&mut editor, "first").await;
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    signed.gateway.until_connected("linear").await;
    for nonce in ["second", "third", "fourth"] {
        let text = refused(&mut editor, nonce).await;
        assert!(text.contains("mcp:write"), "{text}");
    }
    let happened = signed.server.happened().await;
    assert_eq!(happened.asked.len(), 2, "only a person begins a sign-in: {happened:?}");
    assert_eq!(happened.issued.get("refresh_token"), None, "a renewal would not help");
    assert_eq!(happened.executions.len(), 0);
}
