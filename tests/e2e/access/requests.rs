//! Malformed requests: wrong path, wrong form or wrong size.

use evermoor_tests::Scene;
use evermoor_tests::editor::socket::{RawSocket, ask};
use evermoor_tests::gateway::{Gateway, http};
use http::{Method, StatusCode};
use serde_json::Value;

use super::{gateway, post};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// A POST with a valid token and these additional header lines.
fn raw(gateway: &Gateway, target: &str, lines: &str, body: &str) -> String {
    let token = gateway.token();
    format!(
        "POST {target} HTTP/1.1\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         {lines}\r\n{body}"
    )
}

fn host(gateway: &Gateway) -> &str {
    gateway.origin.trim_start_matches("http://")
}

#[tokio::test]
async fn a_request_names_this_host_once() {
    let scene = Scene::new();
    let (gateway, _) = gateway(&scene).await;
    let (host, length) = (host(&gateway), PING.len());
    let port = host.rsplit_once(':').unwrap().1;
    for (target, lines, status) in [
        ("/mcp".to_owned(), String::new(), 400),
        ("/mcp".into(), format!("Host: {host}\r\nHost: {host}\r\n"), 400),
        ("http://evil.com/mcp".into(), format!("Host: {host}\r\n"), 403),
        ("/mcp".into(), "Host: evil.com\r\n".into(), 403),
        ("/mcp".into(), format!("Host: 127.0.0.1.nip.io:{port}\r\n"), 403),
        ("/mcp".into(), format!("Host: 0.0.0.0:{port}\r\n"), 403),
        ("/mcp".into(), "Host: localhost:1\r\n".into(), 403),
        ("/mcp".into(), format!("Host: localhost.:{port}\r\n"), 403),
        // Authorized, but without a session.
        ("/mcp".into(), format!("Host: localhost:{port}\r\n"), 400),
        (format!("http://{host}/mcp"), format!("Host: {host}\r\n"), 400),
    ] {
        let lines = format!("{lines}Content-Length: {length}\r\n");
        let said = ask(&gateway, &raw(&gateway, &target, &lines, PING)).await;
        assert_eq!(said.status, status, "{target} {lines}");
    }
}

#[tokio::test]
async fn a_preflight_is_refused_and_nothing_is_allowed_to_any_page() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    for path in ["/mcp", "/mcp/demo", "/api/status", "/api/login", "/"] {
        for origin in ["https://evil.com", "null", "http://localhost:3000", &gateway.origin] {
            let answer = http()
                .request(Method::OPTIONS, format!("{}{path}", gateway.origin))
                .header("origin", origin)
                .header("authorization", &bearer)
                .header("access-control-request-method", "POST")
                .send()
                .await
                .unwrap();
            assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{path} {origin}");
            let allowed = |name: &http::HeaderName| name.as_str().starts_with("access-control");
            assert!(!answer.headers().keys().any(allowed));
        }
    }
}

#[tokio::test]
async fn a_body_whose_length_could_be_read_in_two_ways_is_refused_and_the_connection_closed() {
    let scene = Scene::new();
    let (gateway, _) = gateway(&scene).await;
    let (host, length) = (host(&gateway), PING.len());
    let chunked = format!("{length:x}\r\n{PING}\r\n0\r\n\r\n");
    for (lines, body) in [
        (format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"), &chunked),
        (format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"), &chunked),
        ("Transfer-Encoding: xchunked\r\n".to_owned(), &chunked),
        (format!("Content-Length: {length}\nX: y\r\n"), &PING.to_owned()),
        (format!("Content-Length: {length}\r\nContent-Length: 3\r\n"), &PING.to_owned()),
    ] {
        let request = raw(&gateway, "/mcp", &format!("Host: {host}\r\n{lines}"), body);
        let mut socket = RawSocket::to(&gateway).await;
        socket.send(request.as_bytes()).await;
        assert_eq!(socket.answer().await.status, 400, "{lines}");
        socket.closed().await;
    }
    let bare = format!("GET /healthz HTTP/1.1\nHost: {host}\n\n");
    assert_eq!(ask(&gateway, &bare).await.status, 400);
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let scene = Scene::new();
    let (gateway, _) = gateway(&scene).await;
    let host = format!("Host: {}\r\n", host(&gateway));
    let large = format!("{host}X-Large: {}\r\n", "x".repeat(64 << 10));
    let many = (0..200).fold(host.clone(), |lines, n| format!("{lines}X-{n}: y\r\n"));
    let long = format!("/mcp?x={}", "x".repeat(16 << 10));
    for (target, lines, status) in [("/mcp", large, 431), ("/mcp", many, 431), (&long, host, 414)] {
        let request = raw(&gateway, target, &lines, "");
        assert_eq!(ask(&gateway, &request).await.status, status, "{}", lines.len());
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_and_not_read_to_its_end() {
    let scene = Scene::new();
    let (gateway, _) = gateway(&scene).await;
    let host = format!("Host: {}\r\n", host(&gateway));
    let mut declared = RawSocket::to(&gateway).await;
    let lines = format!("{host}Content-Length: {}\r\n", (4 << 20) + 1);
    declared.send(raw(&gateway, "/mcp", &lines, "").as_bytes()).await;
    assert_eq!(declared.answer().await.status, 413, "before any of it has come");
    declared.closed().await;

    let mut chunked = RawSocket::to(&gateway).await;
    let lines = format!("{host}Transfer-Encoding: chunked\r\n");
    chunked.send(raw(&gateway, "/mcp", &lines, "").as_bytes()).await;
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    for _ in 0..5 {
        chunked.send(chunk.as_bytes()).await;
    }
    assert_eq!(chunked.answer().await.status, 413, "although its end has not come");
    chunked.closed().await;
}

#[tokio::test]
async fn only_json_is_taken_for_json() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
        let answer = post(&gateway, "/mcp", &headers).await;
        assert_eq!(answer.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind}");
    }
}

#[tokio::test]
async fn invalid_json_and_invalid_messages_have_different_codes() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"params":{}"#, "[".repeat(10_000));
    let not_json: [&[u8]; 3] =
        [b"{", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", deep.as_bytes()];
    let no_message: [&[u8]; 7] = [
        b"[]",
        b"{\"jsonrpc\":\"2.0\",\"id\":1e400,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"initialize\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"Method\":\"ping\"}",
    ];
    let cases = not_json.map(|body| (body, -32700)).into_iter();
    for (body, code) in cases.chain(no_message.map(|body| (body, -32600))) {
        let answer = http()
            .post(format!("{}/mcp", gateway.origin))
            .header("authorization", &bearer)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(body.to_vec());
        let answer = answer.send().await.unwrap();
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]);
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{shown}");
        let said: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        assert_eq!(said["error"]["code"], code, "{shown}: {said}");
    }
}
