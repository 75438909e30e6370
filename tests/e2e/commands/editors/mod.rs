//! `evermoor setup`: connects the editors on a machine and changes nothing else in their files.
//!
//! - [`products`]: real editors, after setup
//! - [`projects`]: project files
//! - [`api`]: setup through the control API
//! - [`killed`]: setup interrupted at any moment

mod api;
mod killed;
mod products;
mod projects;

use evermoor_tests::Scene;
use evermoor_tests::peers::free_port;
use evermoor_tests::scene::machine::Machine;

const SETTINGS: &str = "{\n  // mine\n  \"theme\": \"dark\",\n  \"context_servers\": {\n    \"notes\": { \"command\": \"notes\" }, // here\n  },\n}\n";

/// Where Zed has its settings.
const ZED: &str = match cfg!(windows) {
    true => "AppData/Roaming/Zed/settings.json",
    false => ".config/zed/settings.json",
};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A machine with several editors.
fn machine(scene: &Scene) -> Machine {
    let machine = Machine::new(scene);
    machine.write(ZED, SETTINGS);
    machine.write(".codex/config.toml", "model = \"x\" # mine\n");
    machine.write(".continue/config.yaml", "name: mine\nversion: 1.0.0\nschema: v1\n");
    machine.write(".cursor/extensions.json", "{}");
    machine
}

#[tokio::test]
async fn every_editor_on_the_machine_is_connected_and_undone() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let machine = machine(&scene);
    let before = machine.files();
    let listed = machine.evermoor(&["setup"]).await;
    let said = text(&listed.stdout);
    assert!(said.contains("Zed") && said.contains("not connected"), "{said}");
    assert!(text(&listed.stderr).contains("evermoor setup --all"));
    assert_eq!(machine.files(), before, "without a terminal nothing is done unasked");

    let done = machine.setup(&["--all"]).await;
    let ids: Vec<&str> = done.iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["cursor", "zed", "codex", "continue"]);
    assert!(done.iter().all(|one| one["outcome"] == "connected"), "{done:?}");
    let after = machine.files();
    let zed = text(&after[&machine.home.join(ZED)]);
    assert!(
        zed.contains("// mine") && zed.contains("// here") && zed.contains("\"evermoor\""),
        "{zed}"
    );

    let again = machine.setup(&["--all"]).await;
    assert!(again.iter().all(|one| one["outcome"] == "already"), "{again:?}");
    assert_eq!(machine.files(), after);
    let status = text(&machine.evermoor(&["status"]).await.stdout);
    assert!(status.contains("Zed is connected"), "{status}");

    let undone = machine.setup(&["--undo"]).await;
    assert_eq!(undone.len(), 4);
    assert_eq!(machine.files(), before);
    let tokens = text(&machine.evermoor(&["tokens"]).await.stdout);
    assert!(!tokens.contains("zed"), "{tokens}");
}

#[tokio::test]
async fn a_dry_run_shows_a_real_diff_and_changes_nothing() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let machine = machine(&scene);
    let before = machine.files();
    let shown = text(&machine.evermoor(&["setup", "zed", "--dry-run"]).await.stdout);
    assert!(shown.contains("+    \"evermoor\": {") && shown.contains("@@"), "{shown}");
    assert!(shown.contains("Bearer <token>"), "{shown}");
    assert_eq!(machine.files(), before);
    let tokens = text(&machine.evermoor(&["tokens"]).await.stdout);
    assert!(!tokens.contains("zed"), "no token is made for what is not done: {tokens}");
}

#[tokio::test]
async fn what_to_paste_is_printed_with_a_token_and_changes_no_file() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let machine = machine(&scene);
    let before = machine.files();
    let printed = machine.evermoor(&["setup", "cursor", "--print"]).await;
    let snippet: serde_json::Value = serde_json::from_slice(&printed.stdout).unwrap();
    let entry = &snippet["mcpServers"]["evermoor"];
    assert_eq!(entry["url"], format!("{}/mcp", gateway.origin));
    assert!(
        text(&printed.stderr)
            .contains("cursor://anysphere.cursor-deeplink/mcp/install?name=evermoor")
    );
    assert_eq!(machine.files(), before);
    let emacs = text(&machine.evermoor(&["setup", "emacs"]).await.stdout);
    assert!(emacs.starts_with("(with-eval-after-load 'mcp-hub"), "{emacs}");
}

#[tokio::test]
async fn a_file_that_cannot_be_edited_is_left_alone_with_what_to_paste() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let machine = Machine::new(&scene);
    machine.write(".cursor/mcp.json", "{ \"mcpServers\": { \"a\": 1 \n");
    let settings = machine.write(".gemini/settings.json", "{}");
    let writable = std::fs::metadata(&settings).unwrap().permissions();
    let mut permissions = writable.clone();
    permissions.set_readonly(true);
    std::fs::set_permissions(&settings, permissions).unwrap();
    let before = machine.files();
    let done = machine.evermoor(&["setup", "cursor", "gemini-cli"]).await;
    let said = text(&done.stderr);
    assert_eq!(done.status.code(), Some(1));
    assert!(
        said.contains("was not changed: it cannot be read as JSON") && said.contains("on line"),
        "{said}"
    );
    assert!(said.contains("is not writable"), "{said}");
    assert!(said.contains("\"evermoor\": {") && said.contains("Bearer <token>"), "{said}");
    assert_eq!(machine.files(), before);
    // Windows does not remove a file that is read-only.
    std::fs::set_permissions(&settings, writable).unwrap();
}

#[tokio::test]
async fn a_file_with_the_line_ends_of_windows_keeps_them_and_undo_is_exact() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let machine = Machine::new(&scene);
    let old = "{\r\n  // mine\r\n  \"mcpServers\": {\r\n    \"notes\": { \"command\": \"notes\" }\r\n  }\r\n}\r\n";
    let path = machine.write(".cursor/mcp.json", old);
    assert_eq!(machine.set_up(&["cursor"]).await["outcome"], "connected");
    let new = text(&std::fs::read(&path).unwrap());
    assert!(new.contains("// mine\r\n") && new.contains("\"evermoor\""), "{new}");
    assert_eq!(new.matches('\n').count(), new.matches("\r\n").count(), "{new:?}");
    machine.set_up(&["cursor", "--undo"]).await;
    assert_eq!(text(&std::fs::read(&path).unwrap()), old);
}

#[tokio::test]
async fn a_wrong_name_is_answered_with_the_right_one() {
    let scene = Scene::new();
    let machine = Machine::new(&scene);
    let said = machine.evermoor(&["setup", "cursr"]).await;
    assert_eq!(said.status.code(), Some(1));
    assert!(text(&said.stderr).contains("There is no editor `cursr`. Did you mean `cursor`?"));
    let before = machine.files();
    let said = machine.evermoor(&["setup", "codex", "--upstream", "nosuch"]).await;
    assert_eq!(said.status.code(), Some(1));
    assert!(text(&said.stderr).contains("There is no server `nosuch`."), "{said:?}");
    assert_eq!(machine.files(), before);
}

#[tokio::test]
async fn without_a_gateway_the_entry_has_the_configured_address() {
    let scene = Scene::new();
    let address = format!("127.0.0.1:{}", free_port());
    let upstream = scene.upstream("notes").await;
    scene.configure(&format!("listen = \"{address}\""), &[&upstream]);
    let machine = machine(&scene);
    let done = machine.set_up(&["codex", "--upstream", "notes", "--transport", "http"]).await;
    assert_eq!(
        (&done["outcome"], &done["hint"]),
        (&"connected".into(), &"Start a new Codex session to use it.".into())
    );
    let written = std::fs::read_to_string(machine.home.join(".codex/config.toml")).unwrap();
    assert!(written.starts_with("model = \"x\" # mine\n"), "{written}");
    assert!(
        written.contains(&format!("[mcp_servers.notes]\nurl = \"http://{address}/mcp/notes\"")),
        "{written}"
    );
}

#[tokio::test]
async fn an_editor_that_uses_http_needs_something_that_starts_the_gateway_at_login() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let machine = machine(&scene);
    let warned = |output: &std::process::Output| {
        text(&output.stderr).contains("Nothing starts Evermoor at login")
    };
    assert!(warned(&machine.evermoor(&["setup", "cursor"]).await));
    assert!(!warned(&machine.evermoor(&["setup", "codex"]).await), "its entry starts one");
    let doctor = text(&machine.evermoor(&["doctor"]).await.stdout);
    assert!(doctor.contains("✗ Editors after a login"), "{doctor}");
    machine.evermoor(&["setup", "cursor", "--transport", "stdio"]).await;
    let doctor = text(&machine.evermoor(&["doctor"]).await.stdout);
    assert!(!doctor.contains("Editors after a login"), "{doctor}");
}

#[tokio::test]
async fn an_existing_entry_keeps_its_transport() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let machine = machine(&scene);
    machine.set_up(&["codex", "--transport", "http"]).await;
    assert_eq!(machine.set_up(&["codex"]).await["outcome"], "already");
    let written = std::fs::read_to_string(machine.home.join(".codex/config.toml")).unwrap();
    assert!(written.contains("/mcp\""), "{written}");
}

#[tokio::test]
async fn a_project_gets_an_entry_without_a_token() {
    let scene = Scene::new();
    let _gateway = scene.gateway(&[]).await;
    let machine = machine(&scene);
    let done = machine.set_up(&["cursor", "--scope", "project"]).await;
    assert_eq!(done["outcome"], "connected", "{done}");
    let written = std::fs::read_to_string(machine.project.join(".cursor/mcp.json")).unwrap();
    assert!(written.contains("\"connect\"") && !written.contains("Bearer"), "{written}");
    machine.set_up(&["cursor", "--scope", "project", "--undo"]).await;
    assert!(!machine.project.join(".cursor").exists());
}
