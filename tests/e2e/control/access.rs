//! The control API requires a control token.

use evermoor_tests::Scene;
use evermoor_tests::gateway::http;
use http::{Method, StatusCode};

#[tokio::test]
async fn every_control_request_needs_the_control_token() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let before = gateway.config();
    for (method, path) in [
        (Method::GET, "/api/events?calls=1"),
        (Method::GET, "/api/activity"),
        (Method::GET, "/api/settings"),
        (Method::PUT, "/api/settings"),
        (Method::POST, "/api/welcome"),
        (Method::POST, "/api/selftest"),
        (Method::POST, "/api/upstreams/demo"),
        (Method::DELETE, "/api/upstreams/demo"),
        (Method::GET, "/api/upstreams/demo/catalog"),
        (Method::POST, "/api/upstreams/demo/tools/echo"),
        (Method::POST, "/api/upstreams/demo/enabled"),
        (Method::POST, "/api/upstreams/demo/call"),
        (Method::GET, "/api/upstreams/demo/timeline"),
        (Method::GET, "/api/upstreams/demo/latency"),
        (Method::GET, "/api/incidents?format=markdown"),
    ] {
        for token in [None, Some(gateway.token())] {
            let request = http().request(method.clone(), format!("{}{path}", gateway.origin));
            let request = request.header("content-type", "application/json").body("{}");
            let request = match &token {
                Some(token) => request.bearer_auth(token),
                None => request,
            };
            let status = request.send().await.unwrap().status();
            // For an editor's token the control API does not exist.
            let wanted = match token {
                None => StatusCode::UNAUTHORIZED,
                Some(_) => StatusCode::NOT_FOUND,
            };
            assert_eq!(status, wanted, "{method} {path}");
        }
    }
    assert_eq!(gateway.config(), before);
}
