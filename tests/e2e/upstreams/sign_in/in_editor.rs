//! Editors that open the page of a sign-in for a call that needs it.

use evermoor_tests::editor::wire::{Wire, WireAnswer, WireEvents, request};
use evermoor_tests::peers::authorization::{sign_in, visit};
use http::Method;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Signed;

const BOTH: &str = "application/json, text/event-stream";

/// Opens pages, and shows no forms.
fn able() -> Value {
    json!({ "elicitation": { "url": {} } })
}

/// A person has signed in and out, so the tools are known.
async fn signed_out() -> Signed {
    let signed = Signed::in_(&json!({})).await;
    signed.gateway.control(Method::POST, "/api/upstreams/linear/sign-out").await;
    signed.until_signed_out().await;
    signed
}

impl Signed {
    fn wire(&self) -> Wire {
        Wire::to(&self.gateway, "/mcp/linear")
    }

    async fn session(&self) -> Wire {
        self.wire().initialized("2025-11-25", able()).await
    }

    async fn executions(&self, nonce: &str) -> usize {
        self.server.happened().await.executions.get(nonce).copied().unwrap_or_default()
    }
}

fn arguments(tool: &str, nonce: &str) -> Value {
    json!({ "name": tool, "arguments": { "nonce": nonce } })
}

/// Makes a call in a session and returns its messages.
async fn call(wire: &Wire, id: u64, tool: &str, nonce: &str) -> WireEvents {
    let message = request(id, "tools/call", arguments(tool, nonce));
    WireEvents::of(wire.send(Method::POST, Some(&message), BOTH).await)
}

/// The request for a sign-in, and the page in it.
async fn question(events: &mut WireEvents) -> (Value, String) {
    let (_, asked) = events.next().await.unwrap();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let params = &asked["params"];
    assert_eq!(params["mode"], "url", "{asked}");
    assert!(params["elicitationId"].is_string(), "{asked}");
    assert!(params["message"].as_str().unwrap().contains("linear wants you to sign in"), "{asked}");
    let page = params["url"].as_str().unwrap().to_owned();
    (asked, page)
}

async fn reply(wire: &Wire, asked: &Value, action: &str) {
    let result = json!({ "action": action });
    wire.post(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result })).await;
}

fn text(message: &Value) -> &str {
    message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"))
}

/// The same call of a stateless editor, with its answer to the question.
fn again(needed: &WireAnswer, tool: &str, nonce: &str, action: &str) -> Value {
    let result = &needed.last()["result"];
    let mut params = arguments(tool, nonce);
    params["capabilities"] = able();
    params["requestState"] = result["requestState"].clone();
    let keys = result["inputRequests"].as_object().unwrap().keys();
    let answers = keys.map(|key| (key.clone(), json!({ "action": action })));
    params["inputResponses"] = answers.collect();
    params
}

/// The call of a stateless editor, which needs a sign-in. Returns the page as well.
async fn needed(wire: &Wire, tool: &str, nonce: &str) -> (WireAnswer, String) {
    let mut params = arguments(tool, nonce);
    params["capabilities"] = able();
    let answer = wire.newer(1, "tools/call", params).await;
    let result = &answer.last()["result"];
    assert_eq!(result["resultType"], "input_required", "{answer:?}");
    let (_, asked) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(asked["params"]["mode"], "url", "{asked}");
    assert_eq!(asked["params"].get("elicitationId"), None, "{asked}");
    let page = asked["params"]["url"].as_str().unwrap().to_owned();
    (answer, page)
}

#[tokio::test]
async fn a_call_waits_until_the_user_has_signed_in_on_the_page_that_the_editor_opens() {
    let signed = signed_out().await;
    let wire = signed.session().await;
    let mut events = call(&wire, 1, "record", "waited").await;
    let (asked, page) = question(&mut events).await;
    assert!(page.starts_with(&signed.server.issuer), "{page}");
    let secrets = signed.server.happened().await.secrets;
    let token = signed.gateway.token();
    assert!(!secrets.iter().chain([&token]).any(|secret| page.contains(secret.as_str())), "{page}");
    reply(&wire, &asked, "accept").await;
    assert_eq!(visit(&page).await.status, 200);
    let (_, last) = events.next().await.unwrap();
    assert_eq!((text(&last), &last["id"]), ("waited", &json!(1)));
    assert_eq!(signed.executions("waited").await, 1);
}

#[tokio::test]
async fn a_stateless_editor_is_asked_for_the_sign_in_as_input_and_its_call_runs_once() {
    let signed = signed_out().await;
    let (answer, page) = needed(&signed.wire(), "record", "waited").await;
    let params = again(&answer, "record", "waited", "accept");
    let wire = signed.wire();
    let (last, page) = tokio::join!(wire.newer(2, "tools/call", params), visit(&page));
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(text(last.last()), "waited");
    assert_eq!(last.last()["result"]["resultType"], "complete");
    assert_eq!(signed.executions("waited").await, 1);
}

#[tokio::test]
async fn a_call_is_answered_at_once_if_the_user_declines() {
    let signed = signed_out().await;
    let (wire, began) = (signed.session().await, Instant::now());
    let mut events = call(&wire, 1, "record", "declined").await;
    let (asked, _) = question(&mut events).await;
    reply(&wire, &asked, "decline").await;
    let (_, last) = events.next().await.unwrap();
    assert!(text(&last).contains("linear wants you to sign in"), "{last}");
    let (answer, _) = needed(&signed.wire(), "record", "declined").await;
    let params = again(&answer, "record", "declined", "decline");
    let last = signed.wire().newer(2, "tools/call", params).await;
    assert!(text(last.last()).contains("linear wants you to sign in"), "{last:?}");
    assert!(began.elapsed().as_secs() < 5, "the hold is not waited for");
    assert_eq!(signed.executions("declined").await, 0);
}

#[tokio::test]
async fn a_call_whose_editor_does_not_answer_ends_with_the_hold_and_the_question_is_withdrawn() {
    let signed = signed_out().await;
    let wire = signed.session().await;
    let mut events = call(&wire, 1, "record", "late").await;
    let (asked, _) = question(&mut events).await;
    let (_, withdrawn) = events.next().await.unwrap();
    assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    let (_, last) = events.next().await.unwrap();
    assert!(text(&last).contains("linear wants you to sign in"), "{last}");
    assert_eq!(signed.executions("late").await, 0);
}

#[tokio::test]
async fn an_editor_that_opens_no_pages_is_answered_at_once_and_never_asked() {
    let signed = signed_out().await;
    let able = signed.session().await;
    let mut held = call(&able, 1, "record", "held").await;
    let (asked, page) = question(&mut held).await;
    let forms = signed.wire().initialized("2025-11-25", json!({ "elicitation": {} })).await;
    let old = signed.wire().initialized("2025-06-18", json!({})).await;
    for wire in [forms, old] {
        let message = request(1, "tools/call", arguments("record", "unable"));
        let answer = wire.post(&message).await;
        let [(_, last)] = &answer.messages[..] else { panic!("nothing is asked: {answer:?}") };
        assert!(text(last).contains("linear wants you to sign in"), "{last}");
    }
    reply(&able, &asked, "accept").await;
    visit(&page).await;
    assert_eq!(text(&held.next().await.unwrap().1), "held");
    assert_eq!(signed.executions("unable").await, 0);
}

#[tokio::test]
async fn calls_that_need_the_same_sign_in_share_it_and_a_session_is_asked_once() {
    let signed = signed_out().await;
    let wire = signed.session().await;
    let mut events = call(&wire, 1, "record", "first").await;
    let (asked, page) = question(&mut events).await;
    let other = Wire::to(&signed.gateway, "/mcp/linear");
    let other = other.with_token(&signed.gateway.add_editor("other").await);
    let (answer, same) = needed(&other, "record", "third").await;
    assert_eq!(page, same, "both editors open one page");
    let second = request(2, "tools/call", arguments("record", "second"));
    let signing_in = async {
        reply(&wire, &asked, "accept").await;
        visit(&page).await
    };
    let params = again(&answer, "record", "third", "accept");
    let (second, third, page) =
        tokio::join!(wire.post(&second), other.newer(2, "tools/call", params), signing_in);
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(text(&events.next().await.unwrap().1), "first");
    let [(_, second)] = &second.messages[..] else { panic!("nothing is asked: {second:?}") };
    assert_eq!((text(second), text(third.last())), ("second", "third"));
    let happened = signed.server.happened().await;
    assert_eq!(happened.issued["authorization_code"], 2, "the first was before");
    for nonce in ["first", "second", "third"] {
        assert_eq!(happened.executions[nonce], 1, "{nonce}");
    }
}

#[tokio::test]
async fn a_question_is_withdrawn_and_the_call_runs_if_the_user_signs_in_elsewhere() {
    let signed = signed_out().await;
    let wire = signed.session().await;
    let mut events = call(&wire, 1, "record", "elsewhere").await;
    let (_, page) = question(&mut events).await;
    assert_eq!(visit(&page).await.status, 200);
    let mut last = events.next().await.unwrap().1;
    if last["method"] == "notifications/cancelled" {
        last = events.next().await.unwrap().1;
    }
    assert_eq!(text(&last), "elsewhere");
    assert_eq!(signed.executions("elsewhere").await, 1);
}

#[tokio::test]
async fn a_call_that_lacks_a_scope_runs_once_the_user_has_permitted_it() {
    let signed = Signed::out(&json!({})).await;
    assert_eq!(sign_in(&signed.gateway, "linear").await.status, 200);
    signed.gateway.until_connected("linear").await;
    let wire = signed.session().await;
    let mut events = call(&wire, 1, "write", "permitted").await;
    let (asked, page) = question(&mut events).await;
    assert!(page.contains("mcp%3Awrite"), "{page}");
    reply(&wire, &asked, "accept").await;
    assert_eq!(visit(&page).await.status, 200);
    assert_eq!(text(&events.next().await.unwrap().1), "permitted");
    assert_eq!(signed.executions("permitted").await, 1);
}
