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

#[tokio::test]
async fn an_origin_that_is_sent_twice_is_refused() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    for (second, wanted) in
        [(None, StatusCode::OK), (Some("https://evil.com"), StatusCode::FORBIDDEN)]
    {
        let request = http().get(format!("{}/api/status", gateway.origin));
        let request = request.bearer_auth(&gateway.control_token).header("origin", &gateway.origin);
        let request = match second {
            Some(second) => request.header("origin", second),
            None => request,
        };
        assert_eq!(request.send().await.unwrap().status(), wanted, "{second:?}");
    }
}
