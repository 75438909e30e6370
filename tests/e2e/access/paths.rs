//! The paths that the gateway serves; everything else is not found.

use std::path::Path;

use evermoor_tests::Scene;
use evermoor_tests::editor::socket::ask;
use evermoor_tests::gateway::http;
use evermoor_tests::scene::programs::evermoor;
use http::{Method, StatusCode};
use serde_json::Value;

use super::gateway;

#[tokio::test]
async fn oauth_discovery_is_answered_with_404_in_json() {
    let scene = Scene::new();
    let (gateway, _) = gateway(&scene).await;
    let kinds = ["oauth-protected-resource", "oauth-authorization-server", "openid-configuration"];
    for kind in kinds {
        for path in [
            format!("/.well-known/{kind}"),
            format!("/.well-known/{kind}/mcp"),
            format!("/.well-known/{kind}/mcp/demo"),
            format!("/mcp/.well-known/{kind}"),
        ] {
            let answer = http().get(format!("{}{path}", gateway.origin)).send().await.unwrap();
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
            assert_eq!(answer.headers()["content-type"], "application/json", "{path}");
            let said: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
            assert_eq!(said["error"]["code"], "not_found", "{path}");
        }
    }
}

#[tokio::test]
async fn a_method_that_is_not_offered_is_refused_with_a_token_and_without() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    for method in ["PUT", "PATCH", "TRACE", "HEAD"] {
        let method: Method = method.parse().unwrap();
        let request = || http().request(method.clone(), format!("{}/mcp", gateway.origin));
        let known = request().header("authorization", &bearer).send().await.unwrap();
        assert_eq!(known.status(), StatusCode::METHOD_NOT_ALLOWED, "{method}");
        assert_eq!(known.headers()["content-type"], "application/json", "{method}");
        let unknown = request().send().await.unwrap();
        assert_eq!(unknown.status(), StatusCode::UNAUTHORIZED, "{method}");
        assert_eq!(unknown.headers()["content-type"], "application/json", "{method}");
    }
}

#[tokio::test]
async fn unknown_paths_are_not_found() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    let host = gateway.origin.trim_start_matches("http://");
    for path in ["/mcp/%2e%2e/admin", "/mcp/../admin", "//", "/mcp;x", "/mcp/", "//mcp", "/MCP"] {
        for method in ["GET", "POST"] {
            let request = format!(
                "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {bearer}\r\n\
                 Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
            );
            assert_eq!(ask(&gateway, &request).await.status, 404, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn an_editors_token_finds_no_control_api() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    for (method, path) in [
        (Method::GET, "/mcp/api/status"),
        (Method::POST, "/mcp/demo/restart"),
        (Method::POST, "/mcp/upstreams/demo/restart"),
        (Method::GET, "/api/status"),
        (Method::GET, "/api/editors"),
        (Method::POST, "/api/editors/mine"),
        (Method::POST, "/api/editors/local/rotate"),
        (Method::DELETE, "/api/editors/local"),
        (Method::POST, "/api/upstreams/demo/restart"),
        (Method::POST, "/api/links"),
        (Method::GET, "/api/config"),
    ] {
        let request = http().request(method.clone(), format!("{}{path}", gateway.origin));
        let answer = request.header("authorization", &bearer).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{method} {path}");
    }
}

async fn refused(home: &Path) -> String {
    let output = evermoor(home).arg("serve").output().await.unwrap();
    assert_eq!(output.status.code(), Some(78), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn the_gateway_listens_on_loopback_only() {
    for address in ["0.0.0.0:7420", "[::]:7420", "192.168.1.2:7420"] {
        let scene = Scene::new();
        scene.configure(&format!("listen = \"{address}\""), &[]);
        let why = refused(&scene.home()).await;
        assert!(why.contains("config.toml, line 2"), "{why}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_token_file_that_is_a_symlink_prevents_the_start() {
    let scene = Scene::new();
    let mut gateway = scene.gateway(&[]).await;
    gateway.process.kill().await;
    let (file, elsewhere) = (scene.home().join("data/tokens.json"), scene.path("elsewhere"));
    std::fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    let why = refused(&scene.home()).await;
    assert!(why.contains("replace it with a regular file"), "{why}");
}
