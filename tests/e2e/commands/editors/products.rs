//! Real editors, after `evermoor setup` wrote their configuration.

use std::path::PathBuf;

use evermoor_tests::Scene;
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::{folder, inspector};
use evermoor_tests::scene::machine::Machine;
use serde_json::Value;

async fn stage(scene: &Scene) -> (Upstream, Gateway, Machine) {
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    (upstream, gateway, Machine::new(scene))
}

fn claude() -> PathBuf {
    folder().join("node_modules/@anthropic-ai/claude-code/bin/claude.exe")
}

/// Claude Code's status of our entry. It connects to find out.
async fn claude_says(machine: &Machine) -> String {
    let listed = machine.said(&claude(), &["mcp", "list"]).await;
    listed.lines().find(|line| line.starts_with("evermoor:")).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn claude_code_is_connected_through_its_own_program() {
    let scene = Scene::new();
    let (_upstream, _gateway, machine) = stage(&scene).await;
    machine.install("claude", &claude());
    let done = machine.set_up(&["claude-code"]).await;
    assert_eq!(
        (&done["outcome"], &done["byCommand"]),
        (&"connected".into(), &true.into()),
        "{done}"
    );
    assert_eq!(done["check"]["result"], "connects", "{done}");
    let says = claude_says(&machine).await;
    assert!(says.contains("connect") && says.ends_with("Connected"), "{says}");
    assert_eq!(machine.set_up(&["claude-code"]).await["outcome"], "already");
    assert_eq!(machine.set_up(&["claude-code", "--undo"]).await["outcome"], "undone");
    assert_eq!(claude_says(&machine).await, "");
}

#[tokio::test]
async fn undo_removes_every_entry_that_claude_code_got() {
    for through_its_program in [true, false] {
        let scene = Scene::new();
        let (_upstream, _gateway, machine) = stage(&scene).await;
        if through_its_program {
            machine.install("claude", &claude());
        }
        for arguments in [&["claude-code"][..], &["claude-code", "--upstream", "notes"]] {
            assert_eq!(machine.set_up(arguments).await["outcome"], "connected");
        }
        let listed = machine.said(&claude(), &["mcp", "list"]).await;
        assert!(listed.contains("evermoor"), "{listed}");
        for undone in machine.setup(&["claude-code", "--undo"]).await {
            assert_eq!(undone["outcome"], "undone", "{undone}");
        }
        let listed = machine.said(&claude(), &["mcp", "list"]).await;
        assert!(!listed.contains("evermoor"), "{listed}");
    }
}

#[tokio::test]
async fn claude_code_is_connected_through_its_file_where_its_program_is_not_found() {
    let scene = Scene::new();
    let (_upstream, gateway, machine) = stage(&scene).await;
    let done = machine.set_up(&["claude-code", "--transport", "http"]).await;
    assert_eq!(
        (&done["outcome"], &done["byCommand"]),
        (&"connected".into(), &false.into()),
        "{done}"
    );
    let says = claude_says(&machine).await;
    assert!(says.contains(&gateway.origin) && says.ends_with("Connected"), "{says}");
}

#[tokio::test]
async fn the_inspector_calls_a_tool_with_what_was_written_for_two_editors() {
    let scene = Scene::new();
    let (upstream, _gateway, machine) = stage(&scene).await;
    for (id, nonce, transport) in
        [("claude-desktop", "over-stdio", "stdio"), ("copilot-cli", "over-http", "http")]
    {
        let done = machine.set_up(&[id, "--transport", transport]).await;
        let config = done["path"].as_str().unwrap();
        let argument = format!("nonce={nonce}");
        let call = ["--method", "tools/call", "--tool-name", "notes__record", "--tool-arg"];
        let of = ["--config", config, "--server", "evermoor"];
        let said = inspector(&scene, &[&of, &call[..], &[&argument]].concat()).await;
        let result: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(result["content"][0]["text"], nonce);
        assert_eq!(upstream.ledger.executions(nonce), 1);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn codex_lists_what_was_written_for_it() {
    let scene = Scene::new();
    let (_upstream, gateway, machine) = stage(&scene).await;
    machine.write(".codex/config.toml", "# mine\n[projects.\"/tmp\"]\ntrust_level = \"trusted\"\n");
    let done = machine.set_up(&["codex", "--transport", "http"]).await;
    assert_eq!(done["outcome"], "connected", "{done}");
    let codex = folder()
        .join("node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex");
    let listed: Value =
        serde_json::from_str(&machine.said(&codex, &["mcp", "list", "--json"]).await).unwrap();
    let ours = &listed[0];
    assert_eq!((&ours["name"], &ours["enabled"]), (&"evermoor".into(), &true.into()), "{listed}");
    assert_eq!(ours["transport"]["url"], format!("{}/mcp", gateway.origin));
    assert_eq!(ours["auth_status"], "bearer_token");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn opencode_finds_the_gateway_healthy() {
    let scene = Scene::new();
    let (_upstream, _gateway, machine) = stage(&scene).await;
    machine.write(".config/opencode/opencode.jsonc", "{\n  // mine\n  \"autoupdate\": false,\n}\n");
    let done = machine.set_up(&["opencode"]).await;
    assert!(done["path"].as_str().unwrap().ends_with("opencode.jsonc"), "{done}");
    let opencode = folder().join("node_modules/opencode-linux-x64/bin/opencode");
    machine.install("opencode", &opencode);
    assert_eq!(machine.set_up(&["opencode"]).await["check"]["result"], "connects");
    let listed = machine.said(&opencode, &["mcp", "list"]).await;
    assert!(listed.contains("evermoor") && listed.contains("connected"), "{listed}");
    assert!(!listed.contains("failed"), "{listed}");
}

#[cfg(unix)]
#[tokio::test]
async fn an_editor_that_cannot_use_its_entry_is_not_said_to_be_connected_well() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new();
    let (_upstream, _gateway, machine) = stage(&scene).await;
    let script = "#!/bin/sh\necho \"evermoor: Status: ✘ Failed to connect\"\n";
    let broken = machine.write("claude", script);
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    machine.install("claude", &broken);
    let said = machine.evermoor(&["setup", "claude-code"]).await;
    let printed = String::from_utf8(said.stdout).unwrap();
    assert_eq!(said.status.code(), Some(1), "{printed}");
    assert!(printed.contains("✗ Claude Code"), "{printed}");
    assert!(printed.contains("says that it cannot use the entry"), "{printed}");
    assert!(printed.contains("claude mcp get evermoor"), "{printed}");
}
