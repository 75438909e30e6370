//! Editor setup through the control API, as the dashboard does it.

use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::scene::machine::Machine;
use evermoor_tests::scene::wait::until;
use http::Method;
use serde_json::Value;

async fn found(gateway: &Gateway, id: &str) -> Value {
    let setup = gateway.control(Method::GET, "/api/setup").await;
    let editors = setup["editors"].as_array().unwrap();
    assert_eq!(editors.len(), 38);
    editors.iter().find(|editor| editor["id"] == id).unwrap().clone()
}

#[tokio::test]
async fn the_dashboard_connects_repairs_and_undoes_an_editor() {
    let scene = Scene::new();
    let machine = Machine::new(&scene);
    let before = "{\n  \"mcpServers\": {\n    \"notes\": { \"command\": \"notes\" }\n  }\n}\n";
    let path = machine.write(".cursor/mcp.json", before);
    scene.configure("", &[]);
    let person = machine.home.to_str().unwrap();
    let none = [("XDG_CONFIG_HOME", ""), ("CODEX_HOME", ""), ("SHELL", "")];
    let gateway =
        Gateway::start_among(&scene.home(), &[&[("HOME", person)], &none[..]].concat()).await;

    let cursor = found(&gateway, "cursor").await;
    assert_eq!((&cursor["state"], &cursor["attached"]), (&"notConnected".into(), &false.into()));
    assert_eq!(cursor["entries"][0]["name"], "notes");
    assert_eq!(found(&gateway, "zed").await["state"], "notInstalled");

    let shown = gateway.control(Method::POST, "/api/setup/cursor/preview").await;
    assert!(shown["diff"].as_str().unwrap().contains("+    \"evermoor\": {"), "{shown}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    let done = gateway.control(Method::POST, "/api/setup/cursor/connect").await;
    assert_eq!(
        (&done["changed"], &done["hint"]),
        (&true.into(), &"Cursor picks this up automatically.".into())
    );
    let again = gateway.control(Method::POST, "/api/setup/cursor/connect").await;
    assert_eq!(again["changed"], false);

    let written: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let header = written["mcpServers"]["evermoor"]["headers"]["Authorization"].as_str().unwrap();
    let token = header.strip_prefix("Bearer ").unwrap();
    let _editor = Editor::over_http(&gateway.origin, "/mcp", token).await;
    assert_eq!(found(&gateway, "cursor").await["state"], "connected");

    let changed = std::fs::read_to_string(&path).unwrap().replace(token, "another");
    std::fs::write(&path, changed).unwrap();
    assert_eq!(found(&gateway, "cursor").await["state"], "changed");
    gateway.control(Method::POST, "/api/setup/cursor/connect").await;
    assert_eq!(found(&gateway, "cursor").await["state"], "connected");
    std::fs::write(&path, "{").unwrap();
    assert_eq!(found(&gateway, "cursor").await["state"], "unreadable");

    std::fs::write(&path, before).unwrap();
    gateway.control(Method::POST, "/api/setup/cursor/connect").await;
    let undone = gateway.control(Method::POST, "/api/setup/cursor/undo").await;
    assert_eq!(
        (&undone["changed"], std::fs::read_to_string(&path).unwrap().as_str()),
        (&true.into(), before)
    );
    let editors = || std::fs::read_to_string(scene.home().join("data/tokens.json")).unwrap();
    until("the token is taken away", || !editors().contains("cursor")).await;
}
