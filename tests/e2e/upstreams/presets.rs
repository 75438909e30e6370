//! A user's own presets: read at start, reloaded on change, and errors reported.

use evermoor_core::api::{Status, UpstreamStatus};
use evermoor_core::failure::Code;
use evermoor_tests::Scene;

const NOTES: &str = "\
title = \"Notes of mine\"
[find]
ports = 4000
owner = true
[[mcp]]
transport = \"http\"
path = \"/mcp\"
[linux]
processes = [\"notes\"]
[macos]
processes = [\"notes\"]
[windows]
processes = [\"notes.exe\"]
";

fn write(scene: &Scene, name: &str, text: &str) {
    let folder = scene.home().join("presets");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
}

fn warned(status: &Status, what: &str) -> bool {
    status.warnings.iter().any(|warning| warning.what.starts_with(what))
}

fn title(status: &Status) -> &str {
    let UpstreamStatus { title, .. } = &status.upstreams[0];
    title
}

#[tokio::test]
async fn a_bad_preset_is_reported_with_its_line_until_it_is_fixed() {
    let scene = Scene::new();
    let gateway = scene.gateway_of("", "[upstreams.mine]\npreset = \"notes\"\n").await;
    let unknown = "There is no preset `notes`.";
    let status = gateway.until_status(|status| warned(status, unknown)).await;
    assert_eq!(status.warnings[0].code, Code::Configuration);
    assert!(status.warnings[0].remedy.contains("pieces-os"), "{}", status.warnings[0]);
    assert_eq!(title(&status), "mine");

    write(&scene, "notes.toml", &NOTES.replace("4000", "\"4000-9000\""));
    let status = gateway.until_status(|status| warned(status, "presets/notes.toml")).await;
    let warning = &status.warnings[0];
    assert_eq!((status.warnings.len(), warning.code), (1, Code::Configuration));
    assert!(warning.what.starts_with("presets/notes.toml, line 3: "), "{warning}");
    assert!(warning.what.contains("at most 100"), "{warning}");

    write(&scene, "notes.toml", NOTES);
    // The title comes from the preset.
    let repaired = |status: &Status| status.warnings.is_empty() && title(status) == "Notes of mine";
    gateway.until_status(repaired).await;

    write(&scene, "notes.toml", "title =");
    let status = gateway.until_status(|status| warned(status, "presets/notes.toml, line 1")).await;
    assert_eq!(title(&status), "Notes of mine", "what it said before holds");

    std::fs::remove_dir_all(scene.home().join("presets")).unwrap();
    let gone = |status: &Status| warned(status, unknown) && title(status) == "mine";
    assert_eq!(gateway.until_status(gone).await.warnings.len(), 1);
}

#[tokio::test]
async fn presets_that_exist_at_start_are_used_from_the_start() {
    let scene = Scene::new();
    write(&scene, "notes.toml", NOTES);
    let gateway = scene.gateway_of("", "[upstreams.mine]\npreset = \"notes\"\n").await;
    let status = gateway.status().await;
    assert!(status.warnings.is_empty(), "{:?}", status.warnings);
    assert_eq!(title(&status), "Notes of mine");
}
