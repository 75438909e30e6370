//! The lists of each editor, in both views and over every transport.

use super::*;

const LISTS: [&str; 4] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// The items of a list over HTTP+SSE.
async fn listed_events(library: &Library, path: &str, token: &str, method: &str) -> Vec<String> {
    let (mut events, wire) = open_events(library, path, token).await;
    let posted = wire.post(&request(1, method, json!({}))).await;
    assert_eq!(posted.status, StatusCode::ACCEPTED);
    items(&events.next().await.unwrap().1["result"])
}

#[tokio::test]
async fn two_editors_see_different_tools_over_every_transport() {
    let editors = "[editors.cursor]\ntools.deny = [\"notes__mirror\"]\nupstreams.deny = [\"files\"]\n\
                   [editors.zed]\ntools.allow = [\"*__record\", \"*__hang\"]\n";
    let library = Library::open("tools.deny = [\"hang\"]", editors).await;
    let gateway = &library.gateway;
    let (cursor, zed) = (gateway.add_editor("cursor").await, gateway.add_editor("zed").await);
    let local = gateway.token();
    for (token, all) in [
        (&cursor, vec!["notes__record", "notes__steps"]),
        (&zed, vec!["files__record", "files__hang", "notes__record"]),
        (
            &local,
            vec![
                "files__record",
                "files__hang",
                "files__mirror",
                "files__steps",
                "notes__record",
                "notes__mirror",
                "notes__steps",
            ],
        ),
    ] {
        let in_notes = all.iter().filter_map(|tool| tool.strip_prefix("notes__"));
        let in_notes: Vec<&str> = in_notes.collect();
        let session = library.session("/mcp", token).await;
        assert_eq!(listed(&session, "tools/list").await, all);
        let alone = library.session("/mcp/notes", token).await;
        assert_eq!(listed(&alone, "tools/list").await, in_notes);
        assert_eq!(listed_newer(&library.wire("/mcp", token), "tools/list").await, all);
        assert_eq!(listed_newer(&library.wire("/mcp/notes", token), "tools/list").await, in_notes);
        assert_eq!(listed_events(&library, "/sse", token, "tools/list").await, all);
    }
    let mut shim = gateway.editor_over_shim(Some("notes")).await;
    let first = shim.ask("tools/list", &json!({})).await;
    assert_eq!(items(&first), ["record"], "the first page, without what is hidden");
    let first = listed_events(&library, "/sse/notes", &zed, "tools/list").await;
    assert_eq!(first, ["record"]);
}

#[tokio::test]
async fn every_list_is_filtered_and_every_page_of_it() {
    let of_notes = "prompts.deny = [\"secret_*\"]\nresources.allow = [\"shelf://public_*\"]";
    let editors = "[editors.cursor]\nprompts.deny = [\"*__public_two\"]\n\
                   resources.deny = [\"shelf://public_two*\"]\n";
    let library = Library::open(of_notes, editors).await;
    let cursor = library.gateway.add_editor("cursor").await;
    let local = library.gateway.token();
    let (everybody, one) =
        (library.session("/mcp/notes", &local).await, library.session("/mcp/notes", &cursor).await);
    let public = ["public_one", "public_two"];
    assert_eq!(listed(&everybody, "prompts/list").await, public);
    assert_eq!(listed(&one, "prompts/list").await, ["public_one"]);
    assert_eq!(
        listed(&everybody, "resources/list").await,
        public.map(|name| format!("shelf://{name}"))
    );
    assert_eq!(listed(&one, "resources/list").await, ["shelf://public_one"]);
    assert_eq!(listed(&one, "resources/templates/list").await, ["shelf://public_one/{page}"]);
    assert_eq!(listed(&one, "tools/list").await.len(), 4, "and nothing else");

    let first = one.post(&request(1, "prompts/list", json!({}))).await;
    let result = &first.last()["result"];
    assert_eq!((&result["nextCursor"], &result["_meta"]["from"]), (&json!("2"), &json!(0)));
    let second = one.post(&request(1, "prompts/list", json!({ "cursor": "2" }))).await;
    assert_eq!(second.last()["result"]["prompts"], json!([]));

    let all = library.session("/mcp", &cursor).await;
    let prompts = listed(&all, "prompts/list").await;
    assert!(prompts.contains(&"notes__public_one".to_owned()));
    assert!(prompts.contains(&"files__secret_one".to_owned()), "another upstream's");
    assert!(prompts.iter().all(|name| !name.ends_with("public_two")), "{prompts:?}");
}

#[tokio::test]
async fn the_cached_catalog_of_an_upstream_that_is_down_is_filtered_too() {
    let of_notes = "tools.allow = [\"record\"]\nprompts.deny = [\"secret_*\"]";
    let mut library = Library::open(of_notes, "").await;
    library.notes.kill().await;
    library.gateway.until_down("notes").await;
    let local = library.gateway.token();
    let alone = library.session("/mcp/notes", &local).await;
    assert_eq!(listed(&alone, "tools/list").await, ["record"]);
    assert_eq!(listed(&alone, "prompts/list").await, ["public_one", "public_two"]);
    let newer = library.wire("/mcp/notes", &local);
    assert_eq!(listed_newer(&newer, "tools/list").await, ["record"]);
}

#[tokio::test]
async fn an_upstream_hidden_from_an_editor_does_not_exist_for_it() {
    let library = Library::open("", "[editors.cursor]\nupstreams.allow = [\"notes\"]\n").await;
    let cursor = library.gateway.add_editor("cursor").await;
    let hello = json!({
        "protocolVersion": LATEST,
        "capabilities": {},
        "clientInfo": { "name": "wire", "version": "1" },
    });
    let refusal = async |path: &str, name: &str| {
        let answer =
            library.wire(path, &cursor).post(&request(0, "initialize", hello.clone())).await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        answer.last()["error"]["message"].as_str().unwrap().replace(name, "NAME")
    };
    let hidden = refusal("/mcp/files", "files").await;
    assert_eq!(
        hidden,
        "There is no server `NAME`. Run `evermoor status` to list them. The lists under \
         [editors.cursor] in config.toml may hide it."
    );
    assert_eq!(hidden, refusal("/mcp/nobody", "nobody").await, "as if it were not there");
    for (path, method) in [("/sse/files", Method::GET), ("/mcp/files", Method::GET)] {
        let answer = library.wire(path, &cursor).send(method, None, "text/event-stream").await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let newer = library.wire("/mcp/files", &cursor).newer(1, "server/discover", json!({})).await;
    assert_eq!(newer.status, StatusCode::NOT_FOUND);

    let all = library.session("/mcp", &cursor).await;
    for list in LISTS {
        let found = listed(&all, list).await;
        assert!(!found.is_empty() && found.iter().all(|name| !name.contains("files")), "{found:?}");
    }
    let introduced = library.wire("/mcp", &cursor).post(&request(0, "initialize", hello)).await;
    let instructions = introduced.last()["result"]["instructions"].as_str().unwrap().to_owned();
    assert_eq!(instructions, "# notes\n\n> Ask the librarian.");
    library.session("/mcp/files", &library.gateway.token()).await;
}

#[tokio::test]
async fn a_resource_offered_twice_belongs_to_the_upstream_that_the_editor_sees() {
    let library = Library::open("", "[editors.cursor]\nupstreams.deny = [\"files\"]\n").await;
    let cursor = library.gateway.add_editor("cursor").await;
    let read = request(1, "resources/read", json!({ "uri": "shelf://public_one" }));
    library.session("/mcp", &cursor).await.post(&read).await;
    library.session("/mcp", &library.gateway.token()).await.post(&read).await;
    let reads = |upstream: &Upstream| upstream.ledger.executions("shelf://public_one");
    assert_eq!((reads(&library.notes), reads(&library.files)), (1, 1));
}
