//! One token per editor, which a user can list, rotate and revoke.

use std::process::Output;

use evermoor_tests::editor::Editor;
use evermoor_tests::editor::shim::ShimProcess;
use evermoor_tests::gateway::{Gateway, http, runtime};
use evermoor_tests::scene::programs::evermoor;
use evermoor_tests::{PATIENCE, Scene};
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{open_stream, post};

/// The status for this token. 400 means that it is valid, because the request has no session.
async fn status_of(gateway: &Gateway, token: &str) -> StatusCode {
    let bearer = format!("Bearer {token}");
    post(gateway, "/mcp", &[("authorization", &bearer)]).await.status()
}

async fn until_closed(mut stream: reqwest::Response) {
    let closed = async { while let Ok(Some(_)) = stream.chunk().await {} };
    timeout(PATIENCE, closed).await.expect("the stream is closed");
}

/// Whether the stream is still open.
fn is_open(stream: &mut reqwest::Response) -> bool {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        let next = std::pin::pin!(stream.chunk());
        match next.poll(&mut context) {
            std::task::Poll::Pending => return true,
            std::task::Poll::Ready(Ok(Some(_))) => {}
            std::task::Poll::Ready(_) => return false,
        }
    }
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once_and_its_streams_end() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let (cursor, zed) = (gateway.add_editor("cursor").await, gateway.add_editor("zed").await);
    let leaving = open_stream(&gateway, &cursor, "stuck").await;
    let mut staying = open_stream(&gateway, &zed, "stuck").await;

    gateway.control(Method::DELETE, "/api/editors/cursor").await;
    assert_eq!(status_of(&gateway, &cursor).await, StatusCode::UNAUTHORIZED);
    until_closed(leaving).await;
    assert!(is_open(&mut staying));
    assert_eq!(status_of(&gateway, &zed).await, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_rotated_token_is_refused_at_once_and_the_new_one_works() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let old = gateway.add_editor("cursor").await;
    let stream = open_stream(&gateway, &old, "stuck").await;
    let made = gateway.control(Method::POST, "/api/editors/cursor/rotate").await;
    assert_eq!(status_of(&gateway, &old).await, StatusCode::UNAUTHORIZED);
    until_closed(stream).await;
    let new = made["token"].as_str().unwrap();
    assert_eq!(status_of(&gateway, new).await, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn the_session_of_one_editor_is_unknown_to_another() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let (cursor, zed) = (gateway.add_editor("cursor").await, gateway.add_editor("zed").await);
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "scenario", "version": "1" },
    } });
    let begun = http()
        .post(format!("{}/mcp", gateway.origin))
        .bearer_auth(&cursor)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(hello.to_string());
    let begun = begun.send().await.unwrap();
    let session = begun.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    for (token, status) in [(&cursor, StatusCode::OK), (&zed, StatusCode::NOT_FOUND)] {
        let bearer = format!("Bearer {token}");
        let headers = [("authorization", bearer.as_str()), ("mcp-session-id", &session)];
        assert_eq!(post(&gateway, "/mcp", &headers).await.status(), status);
    }
}

#[tokio::test]
async fn the_list_shows_when_editors_were_seen_and_never_a_token() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let token = gateway.add_editor("cursor").await;
    let list = gateway.control(Method::GET, "/api/editors").await;
    assert_eq!(list[0]["name"], "cursor");
    assert_eq!((&list[0]["seen"], &list[0]["own"]), (&Value::Null, &false.into()));
    assert!(list[0]["made"].as_u64().unwrap() > 0);
    assert_eq!((&list[1]["name"], &list[1]["own"]), (&"local".into(), &true.into()));
    status_of(&gateway, &token).await;
    let seen = gateway.until_status(|status| status.editors.iter().any(|e| e.seen.is_some())).await;
    assert_eq!(seen.editors.iter().filter(|editor| editor.seen.is_some()).count(), 1);
    for path in ["/api/editors", "/api/status"] {
        let said = gateway.control(Method::GET, path).await.to_string();
        assert!(!said.contains(&token) && !said.contains(&gateway.token()), "{said}");
    }
}

#[tokio::test]
async fn impossible_changes_are_refused_with_a_reason() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    gateway.add_editor("cursor").await;
    for (method, path, status) in [
        (Method::POST, "cursor", StatusCode::CONFLICT),
        (Method::POST, "a%20b", StatusCode::BAD_REQUEST),
        (Method::POST, "nobody/rotate", StatusCode::NOT_FOUND),
        (Method::DELETE, "nobody", StatusCode::NOT_FOUND),
        (Method::DELETE, "local", StatusCode::CONFLICT),
    ] {
        let request = http().request(method, format!("{}/api/editors/{path}", gateway.origin));
        let answer = request.bearer_auth(&gateway.control_token).send().await.unwrap();
        assert_eq!(answer.status(), status, "{path}");
        let refusal: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert!(!refusal["error"]["remedy"].as_str().unwrap().is_empty(), "{refusal}");
    }
}

#[tokio::test]
async fn the_shim_continues_when_its_token_is_rotated() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let mut editor = gateway.editor_over_shim(None).await;
    gateway.control(Method::POST, "/api/editors/local/rotate").await;
    let result = editor.call("demo__add", &json!({ "a": 1, "b": 2 })).await;
    assert_eq!(result["content"][0]["text"], "3");
}

#[tokio::test]
async fn a_token_removed_from_the_file_by_hand_is_refused_soon() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let token = gateway.add_editor("cursor").await;
    let file = scene.home().join("data/tokens.json");
    let mut content: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    content["editors"].as_object_mut().unwrap().remove("cursor");
    std::fs::write(&file, content.to_string()).unwrap();
    gateway.until_status(|status| status.editors.len() == 1).await;
    assert_eq!(status_of(&gateway, &token).await, StatusCode::UNAUTHORIZED);
}

async fn tokens(scene: &Scene, arguments: &[&str]) -> Output {
    evermoor(&scene.home()).arg("tokens").args(arguments).output().await.unwrap()
}

/// The output of a command, which must succeed.
async fn printed(scene: &Scene, arguments: &[&str]) -> String {
    let output = tokens(scene, arguments).await;
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn a_person_makes_lists_rotates_and_revokes_from_the_command_line() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let first = printed(&scene, &["add", "cursor"]).await.trim().to_owned();
    assert_eq!(status_of(&gateway, &first).await, StatusCode::BAD_REQUEST);
    let list = printed(&scene, &[]).await;
    assert!(list.starts_with("cursor   created just now   last used just now"), "{list}");
    assert!(list.contains("local") && !list.contains("em_"), "{list}");
    let second = printed(&scene, &["rotate", "cursor"]).await.trim().to_owned();
    assert_eq!(status_of(&gateway, &first).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status_of(&gateway, &second).await, StatusCode::BAD_REQUEST);
    let said = printed(&scene, &["revoke", "cursor"]).await;
    assert_eq!(said, "The token of `cursor` no longer works.\n");
    assert_eq!(status_of(&gateway, &second).await, StatusCode::UNAUTHORIZED);
    let refused = tokens(&scene, &["revoke", "local"]).await;
    assert_eq!(refused.status.code(), Some(1));
    let why = String::from_utf8(refused.stderr).unwrap();
    assert!(why.contains("Rotate it instead"), "{why}");
}

#[tokio::test]
async fn without_a_gateway_the_file_is_changed_for_the_next_start() {
    let scene = Scene::new();
    assert_eq!(printed(&scene, &[]).await, "");
    let token = printed(&scene, &["add", "cursor"]).await.trim().to_owned();
    let list: Value = serde_json::from_str(&printed(&scene, &["--json"]).await).unwrap();
    let names: Vec<_> = list["editors"].as_array().unwrap().iter().map(|e| &e["name"]).collect();
    assert_eq!(names, ["cursor", "local"]);
    let gateway = scene.gateway(&[]).await;
    Editor::over_http(&gateway.origin, "/mcp", &token).await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_stays_private_whatever_is_changed_in_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    gateway.add_editor("cursor").await;
    let file = scene.home().join("data/tokens.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn an_editor_whose_token_was_revoked_is_refused_over_stdio_too() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let _gateway = scene.gateway(&[&upstream]).await;
    printed(&scene, &["add", "cursor"]).await;
    let arguments = ["notes", "--editor", "cursor"];
    let mut shim = ShimProcess::start_with(&scene.home(), &arguments).initialized().await;
    printed(&scene, &["revoke", "cursor"]).await;
    shim.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    let refused = shim.answer().await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("has no token"), "{refused}");
    let mut unknown = ShimProcess::start_with(&scene.home(), &["notes", "--editor", "nobody"]);
    unknown.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
    let refused = unknown.answer().await;
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("The editor `nobody` has no token"), "{refused}");
}

#[tokio::test]
async fn the_control_token_can_be_rotated() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let status = |token: &str| {
        http().get(format!("{}/api/status", gateway.origin)).bearer_auth(token).send()
    };
    let before = gateway.control_token.clone();
    assert_eq!(status(&before).await.unwrap().status(), StatusCode::OK);
    printed(&scene, &["rotate", "--control"]).await;
    let after = runtime(&scene.home()).control_token;
    assert_ne!(before, after);
    assert_eq!(status(&before).await.unwrap().status(), StatusCode::UNAUTHORIZED);
    assert_eq!(status(&after).await.unwrap().status(), StatusCode::OK);
}
