//! The layout of command output: in narrow and wide terminals, without colours, and in a pipe.

use evermoor_tests::Scene;
use evermoor_tests::scene::entry;

use super::{evermoor, evermoor_among, json, text};

/// A gateway with one connected upstream and one unreachable upstream with a long name.
async fn scene()
-> (Scene, evermoor_tests::fakes::upstream::Upstream, evermoor_tests::gateway::Gateway) {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let away = entry::at("a-rather-long-name", "http://127.0.0.1:9/a/long/path/to/mcp");
    let gateway = scene.gateway_of("", &(entry::at("notes", &notes.url) + &away)).await;
    gateway.until_connected("notes").await;
    gateway.until_down("a-rather-long-name").await;
    (scene, notes, gateway)
}

#[tokio::test]
async fn no_line_is_wider_than_the_terminal() {
    let (scene, _notes, _gateway) = scene().await;
    let all: [&[&str]; 5] =
        [&["status"], &["status", "notes"], &["doctor"], &["tools"], &["incidents"]];
    for arguments in all {
        for width in [40, 60, 100] {
            let columns = width.to_string();
            let said = evermoor_among(&scene.home(), arguments, &[("COLUMNS", &columns)]).await;
            let said = text(&said.stdout);
            // Addresses are never truncated, so that people can copy them.
            let wide = said.lines().find(|line| {
                line.chars().count() > width
                    && !line.starts_with("Endpoint")
                    && line.contains(' ')
                    && line.split_whitespace().all(|word| word.chars().count() < width / 2)
            });
            assert_eq!(wide, None, "{arguments:?} at {width}:\n{said}");
        }
    }
}

#[tokio::test]
async fn a_narrow_terminal_cuts_what_matters_least() {
    let (scene, _notes, _gateway) = scene().await;
    let narrow = evermoor_among(&scene.home(), &["status"], &[("COLUMNS", "40")]).await;
    let narrow = text(&narrow.stdout);
    assert!(narrow.contains("  ○ a-rather-long-name   Not ru"), "{narrow}");
    assert!(narrow.contains("    Connection refused at"), "{narrow}");
    let wide = text(&evermoor(&scene.home(), &["status"]).await.stdout);
    assert!(wide.contains("http://127.0.0.1:9/a/long/path/to/mcp"), "{wide}");
}

#[tokio::test]
async fn a_pipe_gets_no_colours_and_a_terminal_gets_them_unless_it_says_otherwise() {
    let (scene, _notes, _gateway) = scene().await;
    let piped = text(&evermoor(&scene.home(), &["status"]).await.stdout);
    assert!(!piped.contains('\x1b'), "{piped:?}");
    #[cfg(target_os = "linux")]
    {
        let in_terminal = async |line: &str| {
            let program = evermoor_tests::scene::programs::built("evermoor");
            let line = line.replace("evermoor", &program.to_string_lossy());
            let mut command = evermoor_tests::scene::programs::command("script");
            command.args(["-qec", &line, "/dev/null"]).env("EVERMOOR_HOME", scene.home());
            command.env("TERM", "xterm").stdout(std::process::Stdio::piped());
            command.output().await.ok().map(|output| text(&output.stdout))
        };
        // `script` provides the terminal; skip the rest where it is missing.
        let Some(seen) = in_terminal("evermoor status").await else { return };
        assert!(seen.contains("\x1b["), "{seen:?}");
        for plain in ["evermoor status --no-color", "NO_COLOR=1 evermoor status"] {
            let seen = in_terminal(plain).await.unwrap();
            assert!(!seen.contains("\x1b["), "{plain}: {seen:?}");
        }
    }
}

#[tokio::test]
async fn quiet_prints_data_only() {
    let (scene, _notes, _gateway) = scene().await;
    let paused = evermoor(&scene.home(), &["pause", "notes", "-q"]).await;
    assert_eq!((text(&paused.stdout), text(&paused.stderr)), (String::new(), String::new()));
    assert_eq!(paused.status.code(), Some(0));
}

#[tokio::test]
async fn a_mistyped_name_is_answered_with_the_one_that_was_meant() {
    let (scene, _notes, _gateway) = scene().await;
    for (arguments, meant) in [
        (vec!["restart", "ntoes"], "Did you mean `notes`?"),
        (vec!["pause", "note"], "Did you mean `notes`?"),
        (vec!["status", "notse"], "Did you mean `notes`?"),
        (vec!["call", "notes__recrod"], "Did you mean `notes__record`?"),
        (vec!["remove", "nots"], "Did you mean `notes`?"),
    ] {
        let refused = evermoor(&scene.home(), &arguments).await;
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(said.contains(meant), "{arguments:?}: {said}");
    }
}

#[tokio::test]
async fn every_command_that_has_data_prints_it_as_json_of_the_same_form() {
    let (scene, _notes, _gateway) = scene().await;
    let all: [&[&str]; 12] = [
        &["status"],
        &["status", "notes"],
        &["tools"],
        &["call", "notes__record", "nonce=json"],
        &["tokens"],
        &["incidents"],
        &["doctor"],
        &["open"],
        &["config", "path"],
        &["config", "validate"],
        &["service", "status"],
        &["service", "install", "--dry-run"],
    ];
    for arguments in all {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        let said = evermoor(&scene.home(), &arguments).await;
        json(&said);
    }
    let refused = evermoor(&scene.home(), &["restart", "nobody", "--json"]).await;
    assert_eq!(json(&refused)["error"]["code"], "not_found");
    let mistyped = evermoor(&scene.home(), &["statsu", "--json"]).await;
    assert_eq!(json(&mistyped)["error"]["code"], "usage");
    assert_eq!(mistyped.status.code(), Some(2));
}

#[tokio::test]
async fn completions_and_the_manual_know_every_command() {
    let scene = Scene::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let made = text(&evermoor(&scene.home(), &["completions", shell]).await.stdout);
        assert!(made.contains("doctor") && made.contains("incidents"), "{shell}");
    }
    let manual = text(&evermoor(&scene.home(), &["man"]).await.stdout);
    for command in ["diagnostics", "uninstall", "doctor"] {
        assert!(manual.contains(&format!("evermoor {command}")) || manual.contains(command));
    }
    assert!(!manual.contains("serve-on"), "what is hidden stays so");
}
