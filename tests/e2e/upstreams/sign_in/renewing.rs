//! What happens when tokens expire or are revoked.

use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::authorization::sign_in;
use futures_util::future::join_all;
use serde_json::json;

use super::Signed;

#[tokio::test]
async fn a_call_with_an_expired_token_runs_once_and_nobody_notices() {
    let signed = Signed::in_(&json!({})).await;
    let mut editor = signed.gateway.editor("/mcp/linear").await;
    editor.call("record", &json!({ "nonce": "before" })).await;
    signed.server.expire().await;
    let result = editor.call("record", &json!({ "nonce": "after" })).await;
    assert_eq!(result["content"][0]["text"], "after");
    let happened = signed.server.happened().await;
    assert_eq!((happened.executions["after"], happened.issued["refresh_token"]), (1, 1));
    assert_eq!(happened.refused, [""; 0]);
}

#[tokio::test]
async fn many_calls_at_the_moment_of_expiry_cause_one_renewal() {
    let signed = Signed::in_(&json!({})).await;
    let mut editors = Vec::new();
    for name in ["a", "b", "c", "d"] {
        let token = signed.gateway.add_editor(name).await;
        let origin = &signed.gateway.origin;
        let editor = evermoor_tests::editor::Editor::over_http(origin, "/mcp/linear", &token).await;
        editors.extend(editor.crowd(16));
    }
    signed.server.expire().await;
    let calls = editors.iter_mut().enumerate().map(|(number, editor)| async move {
        let nonce = format!("call-{number}");
        let result = editor.call("record", &json!({ "nonce": nonce })).await;
        assert_eq!(result["content"][0]["text"], *nonce);
    });
    join_all(calls).await;
    let happened = signed.server.happened().await;
    assert_eq!(happened.issued["refresh_token"], 1, "one renewal for all");
    assert_eq!(happened.executions.len(), 64);
    assert!(happened.executions.values().all(|count| *count == 1), "{happened:?}");
    assert_eq!(happened.refused, [""; 0], "no refresh token was used twice");
}

#[tokio::test]
async fn a_takeover_during_expiry_loses_no_call_and_no_sign_in() {
    let signed = Signed::in_(&json!({})).await;
    let editor = signed.gateway.editor("/mcp/linear").await;
    let mut editors = editor.crowd(32);
    signed.server.expire().await;
    let calls = editors.iter_mut().enumerate().map(|(number, editor)| async move {
        let nonce = format!("call-{number}");
        let result = editor.call("record", &json!({ "nonce": nonce })).await;
        assert_eq!(result["content"][0]["text"], *nonce);
    });
    let home = signed.scene.home();
    let (_, next) = tokio::join!(join_all(calls), Gateway::take_over(&home));
    next.until_connected("linear").await;
    let happened = signed.server.happened().await;
    assert_eq!(happened.issued["refresh_token"], 1, "{happened:?}");
    assert_eq!(happened.refused, [""; 0]);
    assert!(happened.executions.values().all(|count| *count == 1), "{happened:?}");
    assert_eq!(happened.executions.len(), 32);
}

#[tokio::test]
async fn an_idle_token_is_renewed_before_it_expires() {
    let signed = Signed::in_(&json!({ "lifetime": 5 })).await;
    // Nobody calls. The renewal is seen at the authorization server.
    let renewed = async {
        while !signed.server.happened().await.issued.contains_key("refresh_token") {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(evermoor_tests::PATIENCE, renewed).await.unwrap();
    assert_eq!(signed.server.happened().await.unauthorized, 0, "no request met an expired token");
}

#[tokio::test]
async fn a_call_waits_while_the_authorization_server_is_down_and_the_sign_in_survives() {
    let signed = Signed::in_(&json!({})).await;
    let mut editor = signed.gateway.editor("/mcp/linear").await;
    signed.server.control(&json!({ "expire": true, "tokenEndpoint": "broken" })).await;
    let down = signed.gateway.until_down("linear");
    let arguments = json!({ "nonce": "held" });
    let (result, ()) = tokio::join!(editor.call("record", &arguments), async {
        down.await;
        signed.server.control(&json!({ "tokenEndpoint": "works" })).await;
    });
    assert_eq!(result["content"][0]["text"], "held");
    let happened = signed.server.happened().await;
    assert_eq!((happened.executions["held"], happened.issued["refresh_token"]), (1, 1));
    assert_eq!(happened.issued["authorization_code"], 1, "nobody had to sign in again");
}

#[tokio::test]
async fn a_grant_that_was_ended_elsewhere_needs_a_person_and_calls_are_answered_at_once() {
    let signed = Signed::in_(&json!({})).await;
    let mut editor = signed.gateway.editor("/mcp/linear").await;
    signed.server.control(&json!({ "endGrant": true })).await;
    let answer = editor.call("record", &json!({ "nonce": "refused" })).await;
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Nothing was executed") && text.contains("sign"), "{text}");
    let failure = signed.until_signed_out().await;
    assert_eq!(failure.what, "Your sign-in to linear has ended.");
    let tools = editor.ask("tools/list", &json!({})).await;
    assert_eq!(tools["tools"][0]["name"], "record", "the tools stay listed");
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    signed.gateway.until_connected("linear").await;
    let result = editor.call("record", &json!({ "nonce": "again" })).await;
    assert_eq!(result["content"][0]["text"], "again");
}
