//! The configuration and the service.

use evermoor_tests::Scene;

#[cfg(unix)]
use super::evermoor_among;
use super::{evermoor, json, text};

#[tokio::test]
async fn the_configuration_is_found_and_checked() {
    let scene = Scene::new();
    let none = evermoor(&scene.home(), &["config", "validate"]).await;
    assert_eq!(none.status.code(), Some(1));
    scene.write("", "[upstreams.notes]\nurl = \"http://127.0.0.1:9/mcp\"\n");
    let path = text(&evermoor(&scene.home(), &["config", "path"]).await.stdout);
    assert_eq!(path.trim_end(), scene.home().join("config.toml").to_string_lossy());
    let good = json(&evermoor(&scene.home(), &["config", "validate", "--json"]).await);
    assert_eq!((&good["valid"], &good["upstreams"][0]), (&true.into(), &"notes".into()));

    scene.write("hold = \"soon\"\n", "");
    let bad = evermoor(&scene.home(), &["config", "validate", "--json"]).await;
    assert_eq!(bad.status.code(), Some(78));
    assert_eq!(json(&bad)["mistake"]["line"], 3);
    assert!(text(&bad.stderr).contains("line 3: `soon`"), "{}", text(&bad.stderr));
}

#[tokio::test]
async fn the_schema_is_json_and_says_what_it_is() {
    let scene = Scene::new();
    let schema = evermoor(&scene.home(), &["config", "schema"]).await;
    let schema: serde_json::Value = serde_json::from_slice(&schema.stdout).unwrap();
    assert_eq!(schema["title"], "Evermoor's config.toml");
}

#[cfg(unix)]
#[tokio::test]
async fn an_editor_of_the_persons_choice_is_opened_and_what_it_wrote_is_checked() {
    let scene = Scene::new();
    let editor = scene.path("editor.sh");
    std::fs::write(&editor, "#!/bin/sh\nprintf '[gateway]\\nhold = \"soon\"\\n' > \"$1\"\n")
        .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&editor, mode).unwrap();
    let editor = editor.to_string_lossy();
    let edited =
        evermoor_among(&scene.home(), &["config", "edit", "--yes"], &[("VISUAL", &editor)]).await;
    assert_eq!(edited.status.code(), Some(78), "{}", text(&edited.stderr));
    assert!(text(&edited.stderr).contains("line 2"), "{}", text(&edited.stderr));
    let nobody = evermoor_among(&scene.home(), &["config", "edit"], &[("VISUAL", &editor)]).await;
    assert_eq!(nobody.status.code(), Some(2), "nothing is opened where there is no terminal");
}

/// Without a service manager, the unit file is written, nothing is started, and the output says
/// both.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_service_file_is_written_and_removed_without_a_service_manager() {
    let scene = Scene::new();
    let file = scene.path("person/.config/systemd/user/evermoor.service");
    // Without a session bus and systemd's tools there is no service manager.
    let alone = [("PATH", ""), ("XDG_RUNTIME_DIR", ""), ("DBUS_SESSION_BUS_ADDRESS", "")];
    let asked = evermoor_among(&scene.home(), &["service", "status", "--json"], &alone).await;
    assert_eq!(json(&asked)["state"], "notInstalled");
    let made = evermoor_among(&scene.home(), &["service", "install", "--json"], &alone).await;
    assert_eq!(json(&made)["started"], false, "{}", text(&made.stderr));
    let unit = std::fs::read_to_string(&file).unwrap();
    assert!(unit.contains("Environment=EVERMOOR_SUPERVISED=systemd"), "{unit}");
    assert!(unit.contains(&format!("--home {}", scene.home().display())), "{unit}");
    let asked = evermoor_among(&scene.home(), &["service", "status", "--json"], &alone).await;
    assert_eq!(json(&asked)["state"], "noManager");
    let gone = evermoor_among(&scene.home(), &["service", "uninstall"], &alone).await;
    assert_eq!(gone.status.code(), Some(0), "{}", text(&gone.stderr));
    assert!(!file.exists());
}
