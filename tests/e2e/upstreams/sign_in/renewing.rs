//! What happens when tokens expire or are revoked.

use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::authorization::sign_in;
use futures_util::future::join_all;
use serde_json::json;

use super::{Signed, settings};

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
async fn calls_of_four_editors_survive_expiry_and_a_takeover_with_one_renewal() {
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
    let home = signed.scene.home();
    let (_, next) = tokio::join!(join_all(calls), Gateway::take_over(&home));
    next.until_connected("linear").await;
    let happened = signed.server.happened().await;
    assert_eq!(happened.issued["refresh_token"], 1, "one renewal for all: {happened:?}");
    assert_eq!(happened.issued["authorization_code"], 1, "nobody had to sign in again");
    assert_eq!(happened.refused, [""; 0], "no refresh token was used twice");
    assert_eq!(happened.executions.len(), 64, "{happened:?}");
    assert!(happened.executions.values().all(|count| *count == 1), "{happened:?}");
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

#[tokio::test]
async fn a_sign_in_survives_an_authorization_server_that_is_away_for_longer_than_calls_are_held() {
    for away in ["broken", "silent"] {
        let signed = Signed::in_(&json!({})).await;
        let mut editor = signed.gateway.editor("/mcp/linear").await;
        signed.server.control(&json!({ "expire": true, "tokenEndpoint": away })).await;
        let answer = editor.call("record", &json!({ "nonce": "early" })).await;
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("Nothing was executed"), "{away}: {text}");
        let happened = signed.server.control(&json!({ "tokenEndpoint": "works" })).await;
        assert_eq!(happened.executions.get("early"), None, "{away}");
        signed.gateway.until_connected("linear").await;
        let result = editor.call("record", &json!({ "nonce": "later" })).await;
        assert_eq!(result["content"][0]["text"], "later", "{away}");
        let happened = signed.server.happened().await;
        assert_eq!(happened.issued["authorization_code"], 1, "{away}: nobody had to sign in again");
        assert_eq!(happened.issued["refresh_token"], 1, "{away}");
    }
}

#[tokio::test]
async fn a_gateway_that_dies_before_it_knows_the_new_tokens_asks_for_one_sign_in() {
    let mut signed = Signed::in_(&json!({})).await;
    let mut editor = signed.gateway.editor("/mcp/linear").await;
    signed.server.control(&json!({ "expire": true, "tokenEndpoint": "lost" })).await;
    let call = json!({ "nonce": "interrupted" });
    let killed = async {
        // The authorization server has replaced the tokens, and the gateway never learns them.
        while !signed.server.happened().await.issued.contains_key("refresh_token") {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        answer = editor.call("record", &call) => panic!("there is no token for it: {answer}"),
        killed = tokio::time::timeout(evermoor_tests::PATIENCE, killed) => killed.unwrap(),
    }
    signed.gateway.process.kill().await;
    signed.server.control(&json!({ "tokenEndpoint": "works" })).await;
    signed.gateway = Gateway::start(&signed.scene.home()).await;
    let failure = signed.until_signed_out().await;
    assert_eq!(failure.what, "Your sign-in to linear has ended.");
    let happened = signed.server.happened().await;
    assert_eq!(happened.refused, ["invalid_grant"], "the old token is tried once and not again");
    assert_eq!(happened.executions.get("interrupted"), None);
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    signed.gateway.until_connected("linear").await;
}

#[tokio::test]
async fn connections_of_several_editors_share_one_sign_in() {
    let signed = Signed::with(&json!({}), "sharing = \"per-client\"").await;
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    let mut editors = Vec::new();
    for name in ["a", "b"] {
        let token = signed.gateway.add_editor(name).await;
        let origin = &signed.gateway.origin;
        editors
            .push(evermoor_tests::editor::Editor::over_http(origin, "/mcp/linear", &token).await);
    }
    for (number, editor) in editors.iter_mut().enumerate() {
        editor.call("record", &json!({ "nonce": format!("first-{number}") })).await;
    }
    signed.server.expire().await;
    let calls = editors.iter_mut().enumerate().map(|(number, editor)| async move {
        editor.call("record", &json!({ "nonce": format!("second-{number}") })).await
    });
    join_all(calls).await;
    let happened = signed.server.happened().await;
    assert_eq!(happened.issued["authorization_code"], 1, "{happened:?}");
    assert_eq!(happened.issued["refresh_token"], 1, "{happened:?}");
    assert_eq!(happened.executions.len(), 4, "{happened:?}");
}

#[tokio::test]
async fn the_first_call_after_expiry_costs_one_renewal() {
    let signed = Signed::in_(&json!({})).await;
    let mut editor = signed.gateway.editor("/mcp/linear").await;
    let mut took = Vec::new();
    for nonce in ["warm", "usual", "expired"] {
        if nonce == "expired" {
            signed.server.expire().await;
        }
        let began = tokio::time::Instant::now();
        let result = editor.call("record", &json!({ "nonce": nonce })).await;
        took.push(began.elapsed());
        assert_eq!(result["content"][0]["text"], nonce);
    }
    println!("a call takes {:?}, and the first one after expiry {:?}", took[1], took[2]);
    assert_eq!(signed.server.happened().await.issued["refresh_token"], 1);
}

#[tokio::test]
async fn a_call_costs_no_more_with_a_sign_in_than_with_a_token_in_a_header() {
    const CALLS: usize = 200;
    let signed = Signed::in_(&json!({})).await;
    let kept = std::fs::read_to_string(signed.scene.path("sign-ins.json")).unwrap();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    let grant = kept.as_object().unwrap().values().next().unwrap();
    let token = grant["credentials"]["token_response"]["access_token"].as_str().unwrap();
    let file = signed.scene.path("token");
    std::fs::write(&file, token).unwrap();
    let fixed = format!(
        "[upstreams.fixed]\nurl = {:?}\nheaders.Authorization = \"Bearer ${{file:{}}}\"\n",
        signed.server.url,
        file.display()
    );
    signed.scene.write(&settings(&signed.scene), &(signed.server.entry("linear") + &fixed));
    signed.gateway.until_connected("fixed").await;
    let mut took = [Vec::new(), Vec::new()];
    let mut editors =
        [signed.gateway.editor("/mcp/linear").await, signed.gateway.editor("/mcp/fixed").await];
    for number in 0..CALLS {
        for (editor, took) in editors.iter_mut().zip(&mut took) {
            let began = tokio::time::Instant::now();
            editor.call("record", &json!({ "nonce": format!("call-{number}") })).await;
            took.push(began.elapsed());
        }
    }
    let [signed_in, fixed] = took.map(|mut took| {
        took.sort_unstable();
        took[CALLS / 2]
    });
    println!("a call takes {signed_in:?} with a sign-in and {fixed:?} with a token in a header");
    assert!(signed_in < fixed * 2, "{signed_in:?} {fixed:?}");
}
