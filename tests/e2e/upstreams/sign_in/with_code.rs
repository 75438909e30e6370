//! How a person signs in with a code, in a browser on another device.

use std::process::Stdio;

use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::authorization::enter_code;
use evermoor_tests::scene::programs::Process;
use http::Method;
use serde_json::{Value, json};

use super::Signed;
use super::storing::files_with;

const SIGN_IN: &str = "/api/upstreams/linear/sign-in";

/// Begins a sign-in. Returns the page and the code.
async fn begin(gateway: &Gateway) -> (String, String) {
    let page = gateway.control(Method::POST, SIGN_IN).await;
    let text = |name: &str| page[name].as_str().unwrap_or_else(|| panic!("{page}")).to_owned();
    let (url, code) = (text("url"), text("code"));
    assert!(text("urlWithCode").contains(&code), "{page}");
    (url, code)
}

/// Waits for the end of a sign-in.
async fn ended(gateway: &Gateway) -> Value {
    loop {
        let state = gateway.control(Method::GET, SIGN_IN).await;
        if state["state"] != "waiting" {
            return state;
        }
    }
}

#[tokio::test]
async fn a_person_enters_a_code_on_another_device_and_the_server_can_be_called() {
    let signed = Signed::with_codes(&json!({})).await;
    let failure = signed.until_signed_out().await;
    assert!(failure.remedy.contains("evermoor login linear"), "{failure}");
    let (url, code) = begin(&signed.gateway).await;
    let page = enter_code(&url, &code).await;
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(ended(&signed.gateway).await, json!({ "state": "done" }));
    signed.gateway.until_connected("linear").await;
    let mut editor = signed.gateway.editor("/mcp/linear").await;
    editor.call("record", &json!({ "nonce": "first" })).await;
    signed.server.expire().await;
    editor.call("record", &json!({ "nonce": "renewed" })).await;
    let happened = signed.server.happened().await;
    assert_eq!((happened.executions["first"], happened.executions["renewed"]), (1, 1));
    assert_eq!(happened.issued["urn:ietf:params:oauth:grant-type:device_code"], 1);
    assert_eq!((happened.issued["refresh_token"], happened.registrations), (1, 1));
    std::fs::remove_file(signed.scene.path("sign-ins.json")).unwrap();
    assert_eq!(files_with(&signed.scene.home(), &happened.secrets), [""; 0]);
}

#[tokio::test]
async fn the_state_of_a_sign_in_says_which_code_to_enter_where() {
    let signed = Signed::with_codes(&json!({})).await;
    let (url, code) = begin(&signed.gateway).await;
    let state = signed.gateway.control(Method::GET, SIGN_IN).await;
    assert_eq!(state["state"], "waiting", "{state}");
    assert_eq!((&state["page"]["url"], &state["page"]["code"]), (&json!(url), &json!(code)));
}

#[tokio::test]
async fn a_person_who_declines_is_told_so_and_can_get_another_code() {
    let signed = Signed::with_codes(&json!({ "person": "decline" })).await;
    let (url, code) = begin(&signed.gateway).await;
    enter_code(&url, &code).await;
    let state = ended(&signed.gateway).await;
    assert_eq!(state["state"], "failed", "{state}");
    assert_eq!(state["failure"]["what"], "Access to linear was declined.");
    signed.server.control(&json!({ "person": "allow" })).await;
    let (url, code) = begin(&signed.gateway).await;
    enter_code(&url, &code).await;
    signed.gateway.until_connected("linear").await;
}

#[tokio::test]
async fn a_code_that_nobody_enters_expires() {
    let signed = Signed::with_codes(&json!({ "codeLifetime": 3 })).await;
    begin(&signed.gateway).await;
    let state = ended(&signed.gateway).await;
    assert_eq!(state["state"], "failed", "{state}");
    let what = state["failure"]["what"].as_str().unwrap();
    assert!(what.contains("has expired"), "{state}");
}

#[tokio::test]
async fn an_authorization_server_that_is_asked_too_often_is_asked_more_rarely() {
    let signed = Signed::with_codes(&json!({})).await;
    signed.server.control(&json!({ "tokenEndpoint": "slow down" })).await;
    let (url, code) = begin(&signed.gateway).await;
    enter_code(&url, &code).await;
    signed.gateway.until_connected("linear").await;
    let asked = signed.server.happened().await.token_requests;
    let [first, second] = asked[..] else { panic!("it is asked twice: {asked:?}") };
    assert!(second - first >= 5_900, "one second and five more: {asked:?}");
}

#[tokio::test]
async fn an_authorization_server_that_fails_for_a_while_is_asked_again() {
    let signed = Signed::with_codes(&json!({})).await;
    signed.server.control(&json!({ "tokenEndpoint": "broken" })).await;
    let (url, code) = begin(&signed.gateway).await;
    enter_code(&url, &code).await;
    while signed.server.happened().await.token_requests.is_empty() {}
    signed.server.control(&json!({ "tokenEndpoint": "works" })).await;
    signed.gateway.until_connected("linear").await;
}

#[tokio::test]
async fn a_sign_in_that_is_cancelled_or_replaced_asks_no_more() {
    let signed = Signed::with_codes(&json!({})).await;
    let (url, replaced) = begin(&signed.gateway).await;
    let (_, cancelled) = begin(&signed.gateway).await;
    assert_ne!(replaced, cancelled);
    let answer = signed.gateway.command(Method::DELETE, SIGN_IN, &Value::Null).await;
    assert_eq!(answer.0, 200, "{answer:?}");
    let state = ended(&signed.gateway).await;
    assert_eq!(state["failure"]["what"], "The sign-in to linear was cancelled.");
    for code in [replaced, cancelled] {
        assert_eq!(enter_code(&url, &code).await.status, 200);
    }
    // The next sign-in is the only one that anybody waits for.
    let (url, code) = begin(&signed.gateway).await;
    enter_code(&url, &code).await;
    signed.gateway.until_connected("linear").await;
    let happened = signed.server.happened().await;
    assert_eq!(happened.issued["urn:ietf:params:oauth:grant-type:device_code"], 1);
    let again = signed.gateway.command(Method::DELETE, SIGN_IN, &Value::Null).await;
    assert_eq!(again.0, 404, "nothing waits: {again:?}");
}

#[tokio::test]
async fn a_gateway_that_is_taken_over_asks_no_more() {
    let signed = Signed::with_codes(&json!({})).await;
    begin(&signed.gateway).await;
    let next = Gateway::take_over(&signed.scene.home()).await;
    let (url, code) = begin(&next).await;
    enter_code(&url, &code).await;
    next.until_connected("linear").await;
    let happened = signed.server.happened().await;
    assert_eq!(happened.issued["urn:ietf:params:oauth:grant-type:device_code"], 1);
}

#[tokio::test]
async fn a_server_without_codes_is_explained() {
    let signed = Signed::with_codes(&json!({ "codes": false })).await;
    let (status, answer) = signed.gateway.command(Method::POST, SIGN_IN, &Value::Null).await;
    assert_eq!(status, 502, "{answer}");
    let failure = &answer["error"];
    assert_eq!(failure["what"], "linear offers no sign-in with a code.");
    assert!(failure["remedy"].as_str().unwrap().contains("grant"), "{answer}");
}

#[tokio::test]
async fn the_command_line_shows_a_code_if_there_is_no_browser_and_the_server_has_codes() {
    let signed = Signed::out(&json!({})).await;
    let mut login = Process::evermoor(&signed.scene.home(), |command| {
        command.args(["login", "linear", "--no-browser"]).stdin(Stdio::null());
    });
    let url = login.line_with("/device").await;
    login.line_with("Enter this code").await;
    let code = login.line_with("-").await;
    assert_eq!(enter_code(url.trim(), code.trim()).await.status, 200);
    login.line_with("Signed in to `linear`.").await;
    assert!(login.ended().await.success());
    signed.gateway.until_connected("linear").await;
}
