//! The control API, and access to the dashboard.
//!
//! - [`access`]: who may use the API
//! - [`activity`], [`attached`], [`upstreams`]: what the dashboard shows
//! - [`settings`], [`welcome`]: what a user changes

mod access;
mod activity;
mod attached;
mod settings;
mod upstreams;
mod welcome;

use evermoor_core::api::{Status, UpstreamState};
use evermoor_tests::Scene;
use evermoor_tests::gateway::{States, http};
use http::StatusCode;
use serde_json::{Value, json};

async fn until(states: &mut States, wanted: impl Fn(&UpstreamState) -> bool) -> Status {
    loop {
        let status = states.next().await;
        if wanted(&status.upstreams[0].link) {
            return status;
        }
    }
}

#[tokio::test]
async fn the_state_stream_begins_with_the_current_state_and_sends_every_change() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let mut states = gateway.states().await;
    until(&mut states, |link| matches!(link, UpstreamState::Connected { .. })).await;
    upstream.kill().await;
    let down = until(&mut states, |link| matches!(link, UpstreamState::Down { .. })).await;
    assert_eq!(down.sentence, "notes is not running");
    upstream.start_again().await;
    let back = until(&mut states, |link| matches!(link, UpstreamState::Connected { .. })).await;
    assert_eq!(back.sentence, "notes is connected");
}

#[tokio::test]
async fn a_person_can_request_a_reconnect() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let UpstreamState::Connected { since: before, .. } =
        gateway.until_connected("notes").await.link
    else {
        panic!("connected")
    };
    let restart = |name: &str| {
        http()
            .post(format!("{}/api/upstreams/{name}/restart", gateway.origin))
            .bearer_auth(&gateway.control_token)
            .send()
    };
    assert_eq!(restart("notes").await.unwrap().status(), StatusCode::ACCEPTED);
    gateway
        .until(
            "notes",
            |upstream| matches!(upstream.link, UpstreamState::Connected { since, .. } if since > before),
        )
        .await;
    let unknown = restart("nobody").await.unwrap();
    assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
    let refusal: Value = serde_json::from_slice(&unknown.bytes().await.unwrap()).unwrap();
    assert_eq!(refusal["error"]["what"], "There is no server `nobody`.");
}

#[tokio::test]
async fn a_browser_signs_in_with_a_one_time_link() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let made =
        http().post(format!("{}/api/links", gateway.origin)).bearer_auth(&gateway.control_token);
    let made: Value =
        serde_json::from_slice(&made.send().await.unwrap().bytes().await.unwrap()).unwrap();
    let code = made["url"].as_str().unwrap().split_once("#code=").unwrap().1.to_owned();
    let login = |origin: &'static str| {
        let request = http()
            .post(format!("{}/api/login", gateway.origin))
            .header("content-type", "application/json")
            .body(json!({ "code": code }).to_string());
        if origin.is_empty() { request } else { request.header("origin", origin) }.send()
    };
    assert_eq!(login("https://evil.com").await.unwrap().status(), StatusCode::FORBIDDEN);
    let admitted = login("").await.unwrap();
    assert_eq!(admitted.headers()["cache-control"], "no-store");
    assert_eq!(admitted.status(), StatusCode::OK);
    let admitted: Value = serde_json::from_slice(&admitted.bytes().await.unwrap()).unwrap();
    assert_eq!(admitted["token"], gateway.control_token.as_str());
    assert_eq!(login("").await.unwrap().status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn the_dashboard_is_served_with_a_strict_policy_and_without_data() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let page = http().get(&gateway.origin).send().await.unwrap();
    assert_eq!(page.status(), StatusCode::OK);
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let text = String::from_utf8(page.bytes().await.unwrap().to_vec()).unwrap();
    assert!(!text.contains(&gateway.control_token) && !text.contains(&gateway.token()));
    let health = http().get(format!("{}/healthz", gateway.origin)).send().await.unwrap();
    assert_eq!(health.bytes().await.unwrap(), "ok\n");
}
