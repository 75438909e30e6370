//! Access to the gateway: Host, Origin, tokens, paths, malformed requests and overload.
//!
//! - [`paths`], [`requests`]: the paths that are served, and malformed requests
//! - [`tokens`], [`guessing`]: one token per editor, and guessed ones
//! - [`load`]: too many connections
//! - [`control`]: the control API and the dashboard
//!
//! The files only use the scenario language in `tests/src`.

mod control;
mod guessing;
mod load;
mod paths;
mod requests;
mod tokens;

use evermoor_tests::gateway::{Gateway, http};
use evermoor_tests::{PATIENCE, Scene};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::timeout;

async fn post(gateway: &Gateway, path: &str, headers: &[(&str, &str)]) -> reqwest::Response {
    let mut request = http()
        .post(format!("{}{path}", gateway.origin))
        .header("accept", "application/json, text/event-stream")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    if !headers.iter().any(|(name, _)| *name == "content-type") {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap()
}

async fn gateway(scene: &Scene) -> (Gateway, String) {
    let gateway = scene.gateway(&[]).await;
    let bearer = format!("Bearer {}", gateway.token());
    (gateway, bearer)
}

/// A running call whose stream has begun and does not end by itself.
async fn open_stream(gateway: &Gateway, token: &str, tool: &str) -> reqwest::Response {
    let request = |session: Option<&str>, body: Value| {
        let request = http()
            .post(format!("{}/mcp/notes", gateway.origin))
            .bearer_auth(token)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body.to_string());
        match session {
            Some(session) => request.header("mcp-session-id", session),
            None => request,
        }
    };
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "scenario", "version": "1" },
    });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let begun = request(None, hello).send().await.unwrap();
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let params = json!({
        "name": tool,
        "arguments": { "nonce": token },
        "_meta": { "progressToken": 1 },
    });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    let mut stream = request(Some(&session), call).send().await.unwrap();
    assert_eq!(stream.headers()["content-type"], "text/event-stream");
    timeout(PATIENCE, stream.chunk()).await.unwrap().unwrap().unwrap();
    stream
}

#[tokio::test]
async fn without_a_token_nothing_is_served_and_nothing_hints_at_a_way_to_get_one() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    for (sent, why) in [
        ("", "a bearer token is required"),
        ("Bearer ", "a bearer token is required"),
        (&bearer.replace("Bearer", "Basic"), "a bearer token is required"),
        ("Bearer wrong", "this bearer token is not valid"),
        (&format!("{bearer}x"), "this bearer token is not valid"),
    ] {
        let answer = post(&gateway, "/mcp", &[("authorization", sent)]).await;
        assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{sent}");
        assert_eq!(answer.headers()["www-authenticate"], "Bearer");
        let body: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert_eq!(body["error"]["what"], format!("Refused: {why}."), "{sent}");
    }
    let in_query = format!("/mcp?token={}", gateway.token());
    assert_eq!(post(&gateway, &in_query, &[]).await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_web_page_is_refused_whatever_token_it_has() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    let own = gateway.origin.clone();
    for (name, value) in [
        ("origin", "https://evil.com"),
        ("origin", "null"),
        ("origin", "http://localhost:3000"),
        ("origin", own.as_str()),
        ("sec-fetch-site", "cross-site"),
        ("host", "evil.com"),
        ("host", "127.0.0.1"),
    ] {
        let answer = post(&gateway, "/mcp", &[("authorization", &bearer), (name, value)]).await;
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{name}: {value}");
        assert!(!answer.headers().keys().any(|name| name.as_str().starts_with("access-control")));
    }
}

#[tokio::test]
async fn only_json_is_read_and_an_answer_must_be_acceptable() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    let text =
        post(&gateway, "/mcp", &[("authorization", &bearer), ("content-type", "text/plain")]).await;
    assert_eq!(text.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let html = http()
        .post(format!("{}/mcp", gateway.origin))
        .header("authorization", &bearer)
        .header("content-type", "application/json")
        .header("accept", "text/html")
        .body("{}");
    assert_eq!(html.send().await.unwrap().status(), StatusCode::NOT_ACCEPTABLE);
}

#[tokio::test]
async fn a_session_must_be_one_of_ours() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    let none = post(&gateway, "/mcp", &[("authorization", &bearer)]).await;
    assert_eq!(none.status(), StatusCode::BAD_REQUEST);
    let guessed =
        post(&gateway, "/mcp", &[("authorization", &bearer), ("mcp-session-id", "guess")]).await;
    assert_eq!(guessed.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_editors_token_does_not_open_the_control_api_nor_the_other_way_round() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    let editor =
        http().get(format!("{}/api/status", gateway.origin)).header("authorization", &bearer);
    assert_eq!(editor.send().await.unwrap().status(), StatusCode::NOT_FOUND);
    let control = format!("Bearer {}", gateway.control_token);
    let answer = post(&gateway, "/mcp", &[("authorization", &control)]).await;
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_message_that_is_too_large_is_refused() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    let large = http()
        .post(format!("{}/mcp", gateway.origin))
        .header("authorization", &bearer)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(vec![b' '; (4 << 20) + 1]);
    assert_eq!(large.send().await.unwrap().status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_token_can_be_turned_off_for_this_machine_with_a_warning_and_pages_stay_out() {
    let scene = Scene::new();
    let gateway = scene.gateway_with("require_token = false", &[]).await;
    let without = post(&gateway, "/mcp", &[]).await;
    assert_eq!(
        without.status(),
        StatusCode::BAD_REQUEST,
        "it is let in and told that it has no session"
    );
    let page = post(&gateway, "/mcp", &[("origin", "https://evil.com")]).await;
    assert_eq!(page.status(), StatusCode::FORBIDDEN);
    let status = gateway.status().await;
    assert!(status.warnings[0].what.contains("no token is required"), "{:?}", status.warnings);
}

#[cfg(unix)]
#[tokio::test]
async fn keys_and_tokens_can_be_read_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    let (_gateway, _) = gateway(&scene).await;
    for file in ["data/tokens.json", "data/session.key", "run/gateway.json"] {
        let mode = std::fs::metadata(scene.home().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
}
