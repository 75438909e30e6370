//! Servers in project files: imported, pointed at Evermoor, and restored from any folder.

use std::path::{Path, PathBuf};

use evermoor_tests::Scene;
use evermoor_tests::scene::machine::Machine;
use serde_json::{Value, json};

use super::text;

/// A user with servers in their own files, in project files, and in the current project.
fn machine(scene: &Scene) -> Machine {
    let machine = Machine::new(scene);
    let (here, other) = (machine.project.display().to_string(), other(scene));
    std::fs::create_dir_all(&other).unwrap();
    let fetched = json!({ "type": "stdio", "command": "npx", "args": ["-y", "fetched"] });
    let own = json!({
        "numStartups": 7,
        "mcpServers": { "mine": { "type": "http", "url": "http://127.0.0.1:1/mcp" } },
        "projects": {
            here: { "history": [], "mcpServers": { "fetched": fetched } },
            other: { "mcpServers": { "fetched": fetched, "near": { "command": "./serve" } } },
            "/code/none": { "history": ["hello"] },
            "/code/gone": { "mcpServers": { "left": { "command": "left" } } },
        },
    });
    machine.write(".claude.json", &serde_json::to_string_pretty(&own).unwrap());
    let shared = "{\n  // shared\n  \"servers\": {\n    \"docs\": { \"command\": \"node\", \"args\": [\"${workspaceFolder}/docs.js\"] },\n  }\n}\n";
    write(&machine.project, ".vscode/mcp.json", shared);
    write(
        &machine.project,
        ".mcp.json",
        "{\"mcpServers\":{\"mine\":{\"type\":\"http\",\"url\":\"http://127.0.0.1:1/mcp\"}}}",
    );
    machine
}

/// Another project of the user.
fn other(scene: &Scene) -> String {
    scene.path("other").display().to_string()
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(path: PathBuf) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn everything(machine: &Machine) -> [String; 3] {
    let project = &machine.project;
    [machine.home.join(".claude.json"), project.join(".vscode/mcp.json"), project.join(".mcp.json")]
        .map(read)
}

async fn import(machine: &Machine, arguments: &[&str]) -> Value {
    let said = machine.evermoor(&[&["import", "--json"], arguments].concat()).await;
    assert!(said.status.success(), "{}", text(&said.stderr));
    serde_json::from_slice(&said.stdout).unwrap()
}

#[tokio::test]
async fn servers_in_project_files_are_imported_and_restored() {
    let scene = Scene::new();
    let machine = machine(&scene);
    let before = everything(&machine);
    let said = import(&machine, &["--dry-run"]).await;
    let found = |name: &str| {
        let all = said["adopted"].as_array().unwrap();
        all.iter().find(|one| one["name"] == name).unwrap_or_else(|| panic!("{name}: {said}"))
    };
    assert_eq!(found("mine")["from"].as_array().unwrap().len(), 2, "{said}");
    assert_eq!(found("fetched")["from"].as_array().unwrap().len(), 2, "{said}");
    assert_eq!(found("near")["from"][0]["folder"], other(&scene));
    assert_eq!(said["skipped"][0]["name"], "left");
    assert_eq!(said["skipped"][0]["why"], "Its project folder no longer exists: /code/gone.");
    let diff = said["diff"].as_str().unwrap();
    assert!(diff.contains(&format!("{}/serve", other(&scene))), "{diff}");
    assert!(diff.contains(&format!("{}/docs.js", machine.project.display())), "{diff}");
    assert_eq!(everything(&machine), before, "nothing was changed");

    import(&machine, &["--point"]).await;
    let [own, vscode, shared] = everything(&machine);
    let file: Value = serde_json::from_str(&own).unwrap();
    let theirs = &file["projects"][other(&scene)]["mcpServers"];
    let arguments = theirs["near"]["args"].as_array().unwrap();
    assert!(arguments.starts_with(&[json!("connect"), json!("near")]), "{own}");
    assert_eq!(file["projects"]["/code/none"], json!({ "history": ["hello"] }));
    assert!(vscode.contains("// shared") && vscode.contains("\"connect\""), "{vscode}");
    for file in [&vscode, &shared] {
        assert!(!file.contains("Bearer"), "what is shared has no token: {file}");
    }

    import(&machine, &["--undo"]).await;
    assert_eq!(everything(&machine), before, "byte for byte");
}

#[tokio::test]
async fn uninstalling_restores_imported_entries_even_in_files_edited_since() {
    let scene = Scene::new();
    let machine = machine(&scene);
    import(&machine, &["--point"]).await;
    let path = machine.home.join(".claude.json");
    let changed = read(path.clone()).replace("\"numStartups\": 7", "\"numStartups\": 8");
    std::fs::write(&path, changed).unwrap();
    let done = machine.evermoor(&["uninstall", "--yes"]).await;
    assert!(done.status.success(), "{}{}", text(&done.stdout), text(&done.stderr));
    let own: Value = serde_json::from_str(&read(path)).unwrap();
    assert_eq!(own["numStartups"], 8);
    assert_eq!(own["mcpServers"]["mine"]["url"], "http://127.0.0.1:1/mcp");
    assert_eq!(own["projects"][other(&scene)]["mcpServers"]["near"]["command"], "./serve");
}

#[tokio::test]
async fn entries_of_a_project_are_undone_from_any_folder() {
    let scene = Scene::new();
    let machine = Machine::new(&scene);
    let elsewhere = scene.path("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    for ways in [&["setup", "--undo"][..], &["setup", "cursor", "--undo"], &["uninstall", "--yes"]]
    {
        machine.set_up(&["cursor", "--scope", "project"]).await;
        machine.set_up(&["cursor"]).await;
        assert!(machine.project.join(".cursor/mcp.json").exists());
        let undone = machine.typed(ways).current_dir(&elsewhere).output().await.unwrap();
        assert!(undone.status.success(), "{ways:?}: {}", text(&undone.stderr));
        assert!(!machine.project.join(".cursor").exists(), "{ways:?}");
        assert!(!machine.home.join(".cursor").exists(), "{ways:?}");
    }
    machine.set_up(&["cursor", "--scope", "project"]).await;
    let typed = ["setup", "cursor", "--scope", "user", "--undo"];
    machine.typed(&typed).current_dir(&elsewhere).output().await.unwrap();
    assert!(machine.project.join(".cursor/mcp.json").exists(), "only what was asked for");
}
