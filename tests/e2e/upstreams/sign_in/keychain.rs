//! Sign-ins in the keychain of a session that is locked, missing or silent.

use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::failure::Code;
use evermoor_tests::Scene;
use evermoor_tests::desktop::Keyring;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::authorization::{Happened, Protected, sign_in};
use http::Method;
use serde_json::{Value, json};
use tokio::net::UnixListener;

/// A gateway in this session, in front of a protected server.
async fn gateway(scene: &Scene, address: &str, server: &Protected) -> Gateway {
    scene.write("hold = 5", &server.entry("linear"));
    Gateway::start_among(&scene.home(), &[("DBUS_SESSION_BUS_ADDRESS", address)]).await
}

async fn until_down_with(gateway: &Gateway, code: Code) {
    let wanted = |upstream: &UpstreamStatus| matches!(&upstream.link, UpstreamState::Down { failure, .. } if failure.code == code);
    gateway.until("linear", wanted).await;
}

#[tokio::test]
async fn a_sign_in_survives_a_keychain_that_is_locked_at_the_start() {
    let (scene, mut keyring) = (Scene::new(), Keyring::start().await);
    let server = Protected::start(&json!({})).await;
    let mut first = gateway(&scene, keyring.address(), &server).await;
    assert_eq!(sign_in(&first, "linear").await.status, 200);
    first.until_connected("linear").await;
    first.process.kill().await;
    keyring.lock().await;
    let next = gateway(&scene, keyring.address(), &server).await;
    until_down_with(&next, Code::KeychainLocked).await;
    keyring.unlock().await;
    next.until_connected("linear").await;
    assert_eq!(server.happened().await.issued["authorization_code"], 1);
}

#[tokio::test]
async fn a_token_is_not_renewed_while_the_keychain_is_locked_and_the_call_runs_afterwards() {
    let (scene, mut keyring) = (Scene::new(), Keyring::start().await);
    let server = Protected::start(&json!({})).await;
    let gateway = gateway(&scene, keyring.address(), &server).await;
    assert_eq!(sign_in(&gateway, "linear").await.status, 200);
    gateway.until_connected("linear").await;
    let mut editor = gateway.editor("/mcp/linear").await;
    keyring.lock().await;
    server.expire().await;
    let answer = editor.call("record", &json!({ "nonce": "early" })).await;
    let text = answer["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Nothing was executed") && text.contains("keychain"), "{text}");
    let happened = server.happened().await;
    assert_eq!(happened.issued.get("refresh_token"), None, "its new tokens could not be stored");
    keyring.unlock().await;
    gateway.until_connected("linear").await;
    let result = editor.call("record", &json!({ "nonce": "later" })).await;
    assert_eq!(result["content"][0]["text"], "later");
    let happened = server.happened().await;
    assert_eq!((happened.issued["refresh_token"], happened.executions.get("early")), (1, None));
}

#[tokio::test]
async fn a_gateway_that_dies_before_it_has_stored_the_new_tokens_asks_for_one_sign_in() {
    let (scene, mut keyring) = (Scene::new(), Keyring::start().await);
    let server = Protected::start(&json!({})).await;
    let mut first = gateway(&scene, keyring.address(), &server).await;
    assert_eq!(sign_in(&first, "linear").await.status, 200);
    first.until_connected("linear").await;
    let mut editor = first.editor("/mcp/linear").await;
    server.control(&json!({ "expire": true, "tokenEndpoint": "held" })).await;
    let call = json!({ "nonce": "interrupted" });
    let killed = async {
        server.until("the gateway asks for another token", |happened| happened.held == 1).await;
        // It has read the store before, and cannot write to it any more.
        keyring.freeze();
        server.control(&json!({ "tokenEndpoint": "works" })).await;
        let is_issued = |happened: &Happened| happened.issued.contains_key("refresh_token");
        server.until("the tokens are replaced", is_issued).await;
    };
    tokio::select! {
        answer = editor.call("record", &call) => panic!("its token is not stored: {answer}"),
        () = killed => {}
    }
    first.process.kill().await;
    keyring.unlock().await;
    let next = gateway(&scene, keyring.address(), &server).await;
    until_down_with(&next, Code::AuthRequired).await;
    let happened = server.happened().await;
    assert_eq!(happened.refused, ["invalid_grant"], "the old token is tried once and not again");
    assert_eq!(happened.executions.get("interrupted"), None);
    assert_eq!(sign_in(&next, "linear").await.status, 200);
    next.until_connected("linear").await;
}

#[tokio::test]
async fn nobody_signs_in_in_vain_without_a_keychain() {
    let (scene, mut keyring) = (Scene::new(), Keyring::absent().await);
    let server = Protected::start(&json!({})).await;
    let gateway = gateway(&scene, keyring.address(), &server).await;
    until_down_with(&gateway, Code::KeychainMissing).await;
    let path = "/api/upstreams/linear/sign-in";
    let (status, answer) = gateway.command(Method::POST, path, &Value::Null).await;
    assert_eq!(status, 502, "{answer}");
    assert!(answer["error"]["what"].as_str().unwrap().contains("keychain"), "{answer}");
    keyring.unlock().await;
    assert_eq!(sign_in(&gateway, "linear").await.status, 200);
    gateway.until_connected("linear").await;
}

#[tokio::test]
async fn a_keychain_that_does_not_answer_is_reported_and_blocks_nothing_else() {
    let scene = Scene::new();
    let server = Protected::start(&json!({})).await;
    let free = scene.upstream("free").await;
    // Connections are accepted by the system and never answered.
    let socket = scene.path("bus");
    let _listener = UnixListener::bind(&socket).unwrap();
    let entries = server.entry("linear") + &evermoor_tests::scene::entry::at("free", &free.url);
    scene.write("hold = 5", &entries);
    let address = format!("unix:path={}", socket.display());
    let variables = [("DBUS_SESSION_BUS_ADDRESS", address.as_str())];
    let gateway = Gateway::start_among(&scene.home(), &variables).await;
    gateway.until_connected("free").await;
    let silent = |upstream: &UpstreamStatus| matches!(&upstream.link, UpstreamState::Down { failure, .. } if failure.what.contains("did not answer within 4 s"));
    gateway.until("linear", silent).await;
    assert_eq!(server.happened().await.issued.len(), 0);
}
