//! The names of tools and prompts at `/mcp`, for clients that refuse the usual ones.

use super::*;

/// Notes with its usual items and a gateway in which grok has a token and a list.
async fn library() -> (Library, String) {
    let lists = "[editors.grok]\nupstreams.deny = [\"files\"]\ntools.deny = [\"notes__mirror\"]\n";
    let library = Library::open("", lists).await;
    let token = library.gateway.add_editor("grok").await;
    (library, token)
}

const TOOLS: [&str; 3] = ["notes_record", "notes_hang", "notes_steps"];

fn call(nonce: &str) -> Value {
    json!({ "name": "notes_record", "arguments": { "nonce": nonce } })
}

#[tokio::test]
async fn a_client_that_splits_names_at_two_underscores_gets_one_and_can_call_every_tool() {
    let (library, token) = library().await;
    let session = library.session("/mcp", &token).await;
    assert_eq!(listed(&session, "tools/list").await, TOOLS);
    let answer = session.post(&request(2, "tools/call", call("session"))).await;
    assert_eq!(answer.last()["result"]["content"][0]["text"], "session");

    let newer = library.wire("/mcp", &token);
    assert_eq!(listed_newer(&newer, "tools/list").await, TOOLS);
    let answer = newer.newer(3, "tools/call", call("stateless")).await;
    assert_eq!(answer.last()["result"]["content"][0]["text"], "stateless");

    let (mut events, wire) = open_events(&library, "/sse", &token).await;
    wire.post(&request(1, "tools/list", json!({}))).await;
    assert_eq!(items(&events.next().await.unwrap().1["result"]), TOOLS);
    wire.post(&request(2, "tools/call", call("events"))).await;
    let (_, answer) = events.next().await.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "events");

    let alone = library.session("/mcp/notes", &token).await;
    assert_eq!(listed(&alone, "tools/list").await, ["record", "hang", "steps"]);
    for nonce in ["session", "stateless", "events"] {
        assert_eq!(library.notes.ledger.executions(nonce), 1, "{nonce}");
    }
}

#[tokio::test]
async fn prompts_and_completions_use_the_same_names() {
    let (library, token) = library().await;
    let session = library.session("/mcp", &token).await;
    let prompts = listed(&session, "prompts/list").await;
    assert!(prompts.contains(&"notes_public_one".to_owned()), "{prompts:?}");
    assert!(prompts.iter().all(|name| !name.contains("__")), "{prompts:?}");
    let prompt = request(2, "prompts/get", json!({ "name": "notes_public_one" }));
    assert!(session.post(&prompt).await.last()["result"]["messages"].is_array());
    let subject = json!({ "type": "ref/prompt", "name": "notes_public_one" });
    let argument = json!({ "name": "a", "value": "b" });
    let completion = json!({ "ref": subject, "argument": argument });
    let answer = session.post(&request(3, "completion/complete", completion)).await;
    assert_eq!(answer.last()["result"]["completion"]["values"], json!(["done"]));
}

#[tokio::test]
async fn lists_in_the_configuration_hide_by_the_usual_names_and_say_so() {
    let (library, token) = library().await;
    let session = library.session("/mcp", &token).await;
    let hidden = json!({ "name": "notes_mirror", "arguments": {} });
    let answer = session.post(&request(2, "tools/call", hidden)).await;
    let said = answer.last()["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(said.contains("under [editors.grok]"), "{said}");
    let other = json!({ "name": "notes__record", "arguments": { "nonce": "usual" } });
    let answer = session.post(&request(3, "tools/call", other)).await;
    assert!(answer.last()["error"]["message"].as_str().unwrap().contains("There is no tool"));
    assert_eq!(library.notes.ledger.executions("usual"), 0);
}

#[tokio::test]
async fn a_client_that_uses_the_entry_of_another_editor_is_known_by_its_own_name() {
    let library = Library::open("", "[editors.local]\nupstreams.deny = [\"files\"]\n").await;
    let token = library.gateway.token();
    let params = |client: &str| {
        json!({
            "protocolVersion": LATEST,
            "capabilities": {},
            "clientInfo": { "name": client, "version": "1" },
        })
    };
    let tools = async |client: &str| {
        let wire = library.wire("/mcp", &token);
        let answer = wire.post(&request(0, "initialize", params(client))).await;
        listed(&wire.with("mcp-session-id", &answer.session.unwrap()), "tools/list").await
    };
    assert_eq!(tools("grok-shell-evermoor").await[0], "notes_record");
    assert_eq!(tools("claude-code").await[0], "notes__record");
}
