//! Settings changed through the gateway are written to `config.toml`, and nothing else in the file
//! changes.

use evermoor_core::api::{NotificationLevel, Settings, UpstreamState};
use evermoor_tests::Scene;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::entry;
use evermoor_tests::scene::wait::until;
use http::{Method, StatusCode};
use serde_json::{Value, json};

async fn change(gateway: &Gateway, change: Value) -> (StatusCode, Value) {
    gateway.command(Method::PUT, "/api/settings", &change).await
}

#[tokio::test]
async fn a_setting_is_written_next_to_its_comment_and_applied_at_once() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let entries =
        entry::at("notes", &upstream.url) + "# This one is slow.\ncall_timeout = \"5m\"\n";
    let gateway = scene.gateway_of("hold = \"20s\" # long enough\n", &entries).await;
    gateway.until_connected("notes").await;
    let (status, changed) = change(
        &gateway,
        json!({
            "hold": "30s",
            "tray": { "notifications": "none" },
            "upstreams": { "notes": { "title": "My notes", "callTimeout": "1m" } },
        }),
    )
    .await;
    assert_eq!(status, StatusCode::OK, "{changed}");
    let changed: Settings = serde_json::from_value(changed).unwrap();
    assert_eq!((changed.hold.as_str(), changed.upstreams[0].call_timeout.as_str()), ("30s", "1m"));
    assert_eq!(changed.tray.notifications, NotificationLevel::None);
    let text = gateway.config();
    assert!(text.contains("hold = \"30s\" # long enough\n"), "{text}");
    assert!(text.contains("# This one is slow.\ncall_timeout = \"1m\"\n"), "{text}");
    let read = gateway.control(Method::GET, "/api/settings").await;
    assert_eq!(serde_json::from_value::<Settings>(read).unwrap(), changed);
    let status =
        gateway.until_status(|status| status.tray.notifications == NotificationLevel::None).await;
    assert_eq!(status.upstreams[0].title, "My notes");

    let (_, back) =
        change(&gateway, json!({ "hold": null, "upstreams": { "notes": { "title": null } } }))
            .await;
    assert_eq!((&back["hold"], &back["upstreams"][0]["title"]), (&json!("25s"), &Value::Null));
}

#[tokio::test]
async fn an_invalid_setting_is_refused_with_its_line_and_changes_nothing() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let before = gateway.config();
    let (status, refusal) = change(&gateway, json!({ "requireToken": true, "hold": "soon" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let what = refusal["error"]["what"].as_str().unwrap();
    assert!(what.starts_with("config.toml, line ") && what.contains("`soon`"), "{what}");
    assert!(refusal["error"]["remedy"].as_str().unwrap().contains("3m"), "{refusal}");
    for strange in [
        json!({ "listen": "0.0.0.0:1" }),
        json!({ "upstreams": { "demo": { "url": "http://evil.example" } } }),
        json!({ "upstreams": { "demo": { "command": "sh" } } }),
        json!({ "port": "seven" }),
    ] {
        let (status, refusal) = change(&gateway, strange).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert!(
            refusal["error"]["what"].as_str().unwrap().contains("cannot read the request"),
            "{refusal}"
        );
    }
    assert_eq!(gateway.config(), before);
}

#[tokio::test]
async fn an_upstream_is_turned_off_and_on_again() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let before = gateway.config();
    let path = "/api/upstreams/notes/enabled";
    let switch = async |enabled: bool| {
        let (status, answer) =
            gateway.command(Method::POST, path, &json!({ "enabled": enabled })).await;
        assert_eq!(status, StatusCode::OK, "{answer}");
    };
    switch(false).await;
    assert!(gateway.config().contains("enabled = false"));
    gateway.until("notes", |upstream| upstream.link == UpstreamState::Off).await;
    switch(true).await;
    assert_eq!(gateway.config(), before);
    gateway.until_connected("notes").await;
    let on = json!({ "enabled": true });
    let nobody = gateway.command(Method::POST, "/api/upstreams/nobody/enabled", &on).await;
    assert_eq!(nobody.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_application_is_added_by_its_preset_and_removed_again() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    let before = gateway.config();
    let add = async |name: &str, body: Value| {
        gateway.command(Method::POST, &format!("/api/upstreams/{name}"), &body).await
    };
    let (status, refusal) = add("pieces", json!({ "preset": "unheard-of" })).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{refusal}");
    assert_eq!(add("pieces", json!({ "url": "http://x" })).await.0, StatusCode::BAD_REQUEST);
    let (status, _) = add("notes", json!({ "preset": "pieces-os" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "there is one of that name");
    assert_eq!(gateway.config(), before);
    let (status, answer) = add("pieces", json!({ "preset": "pieces-os" })).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    gateway.until_status(|status| status.upstreams.len() == 2).await;
    gateway.control(Method::DELETE, "/api/upstreams/pieces").await;
    assert_eq!(gateway.config(), before);
    gateway.until_status(|status| status.upstreams.len() == 1).await;
}

#[tokio::test]
async fn the_gateway_moves_to_a_changed_port_on_request_and_never_to_one_in_use() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let with_port = |port: u16| json!({ "port": port });
    change(&gateway, with_port(taken.local_addr().unwrap().port())).await;
    let (status, refused) = gateway.command(Method::POST, "/api/move", &json!({})).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::CONFLICT, &json!("port_taken")));
    assert!(gateway.status().await.endpoint.starts_with(&gateway.origin), "it stays where it is");

    let port = evermoor_tests::peers::free_port();
    change(&gateway, with_port(port)).await;
    let (status, _) = gateway.command(Method::POST, "/api/move", &json!({})).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let wanted = format!("http://127.0.0.1:{port}");
    let there =
        || evermoor_tests::gateway::found(&scene.home()).is_some_and(|it| it.origin == wanted);
    until("it serves at the new port", there).await;
    let now = evermoor_tests::gateway::runtime(&scene.home());
    assert_eq!(now.pid, gateway.process.pid(), "whoever looks after the process goes on");
    assert_eq!(now.control_token, gateway.control_token, "and so does whoever has the token");
}
