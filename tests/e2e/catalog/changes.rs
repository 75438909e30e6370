//! Lists that change while editors are connected.

use evermoor_core::api::{Status, UpstreamState};

use super::*;

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";

fn since(status: &Status, name: &str) -> u64 {
    let upstream = status.upstreams.iter().find(|upstream| upstream.name == name).unwrap();
    match upstream.link {
        UpstreamState::Connected { since, .. } => since,
        UpstreamState::Off
        | UpstreamState::Paused { .. }
        | UpstreamState::Connecting
        | UpstreamState::Down { .. } => {
            panic!("{upstream:?}")
        }
    }
}

fn shown(status: &Status, editor: &str) -> u32 {
    let editor = status.editors.iter().find(|one| one.name == editor).unwrap();
    editor.shown.unwrap().tools
}

#[tokio::test]
async fn a_changed_list_is_announced_to_affected_editors_only_without_reconnecting() {
    let library = Library::open("", "").await;
    let gateway = &library.gateway;
    let (cursor, zed) = (gateway.add_editor("cursor").await, gateway.add_editor("zed").await);
    let before = gateway.status().await;
    let (in_all, in_notes, in_files) = (
        library.session("/mcp", &cursor).await,
        library.session("/mcp/notes", &cursor).await,
        library.session("/mcp/files", &cursor).await,
    );
    let (mut all, mut notes) = (in_all.listen(None).await, in_notes.listen(None).await);
    let mut files = in_files.listen(None).await;
    let (mut events, _post) = open_events(&library, "/sse", &cursor).await;
    let mut newer = listen_newer(&library, "/mcp", &cursor).await;
    let mut another = library.session("/mcp", &zed).await.listen(None).await;
    let mut newer_of_another = listen_newer(&library, "/mcp", &zed).await;

    let hiding = "[editors.cursor]\ntools.deny = [\"notes__mirror\"]\n";
    library.change("", hiding);
    for notifications in [&mut all, &mut notes, &mut events, &mut newer] {
        assert_eq!(next_method(notifications).await, TOOLS);
    }
    let after = gateway.until_status(|status| shown(status, "cursor") == 7).await;
    assert_eq!(shown(&after, "zed"), 8);
    assert!(!listed(&in_all, "tools/list").await.contains(&"notes__mirror".to_owned()));

    // The next change is the first that the others are notified of.
    library.change("prompts.deny = [\"secret_one\"]", hiding);
    for notifications in [&mut another, &mut newer_of_another, &mut all, &mut notes] {
        assert_eq!(next_method(notifications).await, PROMPTS);
    }
    library.change(
        "prompts.deny = [\"secret_one\"]",
        "[editors.cursor]\nupstreams.deny = [\"files\"]\n",
    );
    assert_eq!(
        next_method(&mut files).await,
        PROMPTS,
        "the first that it hears is that it sees nothing"
    );
    let after = gateway.until_status(|status| shown(status, "cursor") == 4).await;
    for name in ["notes", "files"] {
        assert_eq!(since(&after, name), since(&before, name));
    }
    assert_eq!(library.notes.asked("initialize").await, 1);
}

#[tokio::test]
async fn a_new_tool_is_not_announced_to_editors_it_is_hidden_from() {
    let hiding = "[editors.cursor]\ntools.deny = [\"*__extra\"]\n";
    let mut library = Library::open("", hiding).await;
    let cursor = library.gateway.add_editor("cursor").await;
    let local = library.gateway.token();
    let mut blind = library.session("/mcp", &cursor).await.listen(None).await;
    let mut seeing = library.session("/mcp", &local).await.listen(None).await;
    library.files.kill().await;
    library.gateway.until_down("files").await;
    // It comes back without its prompts and resources, which every editor is notified of.
    library.files.start_again_with(&["extra"]).await;
    assert_eq!(next_method(&mut blind).await, PROMPTS);
    assert_eq!(next_method(&mut seeing).await, PROMPTS);
    assert_eq!(next_method(&mut seeing).await, "notifications/resources/list_changed");
    assert_eq!(next_method(&mut seeing).await, TOOLS);
    assert_eq!(next_method(&mut blind).await, "notifications/resources/list_changed");
    library.change("", "");
    assert_eq!(next_method(&mut blind).await, TOOLS, "now it sees the tool");
    let all = library.session("/mcp", &cursor).await;
    assert!(listed(&all, "tools/list").await.contains(&"files__extra".to_owned()));
}

#[tokio::test]
async fn an_upstream_disappears_when_it_is_turned_off_and_returns_when_it_is_turned_on() {
    let library = Library::open("", "").await;
    let token = library.gateway.token();
    let all = library.session("/mcp", &token).await;
    let mut notifications = all.listen(None).await;
    library.change("enabled = false", "");
    assert_eq!(next_method(&mut notifications).await, PROMPTS);
    let status = library.gateway.until_status(|status| status.upstreams[1].is_off()).await;
    assert_eq!(status.sentence, "files is connected");
    assert!(listed(&all, "tools/list").await.iter().all(|name| name.starts_with("files__")));
    let answer = library.wire("/mcp/notes", &token).post(&request(1, "ping", json!({}))).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(
        answer.last()["error"]["message"],
        "The server `notes` is turned off. Remove `enabled = false` from its entry in config.toml."
    );
    let restart = evermoor_tests::gateway::http()
        .post(format!("{}/api/upstreams/notes/restart", library.gateway.origin))
        .bearer_auth(&library.gateway.control_token);
    let refused = restart.send().await.unwrap().bytes().await.unwrap();
    let refused: Value = serde_json::from_slice(&refused).unwrap();
    assert_eq!(refused["error"]["what"], "The server `notes` is turned off.");
    library.change("", "");
    library.gateway.until_connected("notes").await;
    assert!(listed(&all, "tools/list").await.contains(&"notes__record".to_owned()));
}

#[tokio::test]
async fn adding_an_upstream_with_a_cached_catalog_is_announced() {
    let library = Library::open("", "").await;
    let all = library.session("/mcp", &library.gateway.token()).await;
    let remembered = library.scene.home().join("data/catalogs/notes.json");
    evermoor_tests::gateway::written(&remembered, b"").await;
    library.change("enabled = false", "");
    library.gateway.until_status(|status| status.upstreams[1].is_off()).await;
    let mut notifications = all.listen(None).await;
    library.change("", "");
    assert_eq!(next_method(&mut notifications).await, PROMPTS);
}

#[tokio::test]
async fn names_that_match_nothing_are_warnings_until_they_match() {
    let editors = "[editors.curser]\nupstreams.deny = [\"flies\"]\ntools.deny = [\"hang\"]\n";
    let library = Library::open("", editors).await;
    // The two servers offer the same resources, which is another warning.
    let about_names = |status: &Status| -> Vec<String> {
        let all = status.warnings.iter().map(ToString::to_string);
        all.filter(|warning| warning.starts_with("config.toml, line ")).collect()
    };
    let all = about_names(&library.gateway.status().await);
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(all[0].contains("`flies` in `upstreams` under [editors.curser] is not a server"));
    assert!(all[1].contains("Write `*__hang`, or name the server."), "{all:?}");
    assert!(all[2].contains("No editor named `curser` has a token"), "{all:?}");
    library.gateway.add_editor("curser").await;
    library.gateway.until_status(|status| about_names(status).len() == 2).await;
    library.change("", "[editors.curser]\nupstreams.deny = [\"files\"]\n");
    library.gateway.until_status(|status| about_names(status).is_empty()).await;
}
