//! Hidden items cannot be called, and requests for them never reach the upstream.

use super::*;
use evermoor_tests::scene::wait::until;

const HIDING: &str = "tools.deny = [\"hang\"]\nprompts.deny = [\"secret_*\"]\nresources.deny = [\"shelf://secret_*\"]";

/// Requests for hidden items, as at `/mcp/notes` or, with a prefix, at `/mcp`.
fn requests(prefix: &str) -> Vec<(&'static str, Value)> {
    let prompt = format!("{prefix}secret_one");
    let argument = json!({ "name": "a", "value": "b" });
    vec![
        ("tools/call", json!({ "name": format!("{prefix}hang"), "arguments": { "nonce": "x" } })),
        ("prompts/get", json!({ "name": prompt })),
        ("resources/read", json!({ "uri": "shelf://secret_one" })),
        ("resources/read", json!({ "uri": "shelf://secret_one/7" })),
        ("resources/subscribe", json!({ "uri": "shelf://secret_one" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": prompt }, "argument": argument }),
        ),
        (
            "completion/complete",
            json!({
                "ref": { "type": "ref/resource", "uri": "shelf://secret_one/{page}" },
                "argument": argument,
            }),
        ),
    ]
}

/// The error message of an answer.
fn refusal(answer: &Value) -> &str {
    let (error, result) = (&answer["error"]["message"], &answer["result"]);
    let text = error.as_str().or_else(|| result["content"][0]["text"].as_str());
    assert!(error.is_string() || result["isError"] == true, "{answer}");
    text.expect("a refusal has words")
}

#[tokio::test]
async fn a_call_of_a_hidden_tool_is_refused_with_a_reason_and_never_sent() {
    // Only one of the two upstreams, so that nothing in the view of all can replace the hidden
    // items.
    let library = Library::open(HIDING, "[editors.local]\nupstreams.deny = [\"files\"]\n").await;
    let token = library.gateway.token();
    for (path, prefix) in [("/mcp/notes", ""), ("/mcp", "notes__")] {
        let (session, newer) = (library.session(path, &token).await, library.wire(path, &token));
        for (method, params) in requests(prefix) {
            let answer = session.post(&request(1, method, params.clone())).await;
            let said = refusal(answer.last()).to_owned();
            assert!(said.contains("list in config.toml hides"), "{path} {method}: {said}");
            assert!(said.contains("under [upstreams.notes]"), "{path} {method}: {said}");
            if method != "resources/subscribe" {
                let answer = newer.newer(2, method, params).await;
                let said = refusal(answer.last());
                assert!(said.contains("a list in config.toml hides it"), "{path} {method}: {said}");
            }
        }
    }
    let mut shim = library.gateway.editor_over_shim(Some("notes")).await;
    let result = shim.call("hang", &json!({ "nonce": "x" })).await;
    let outcome = &result["_meta"]["dev.evermoor/outcome"];
    assert_eq!(
        (&outcome["cause"], &outcome["executed"], &outcome["safeToRetry"]),
        (&json!("hidden"), &json!("no"), &json!(false))
    );
    assert_eq!(library.notes.ledger.all().into_iter().collect::<Vec<_>>(), []);
}

#[tokio::test]
async fn a_second_name_that_a_lenient_server_might_read_is_refused() {
    let library = Library::open(HIDING, "").await;
    let token = library.gateway.token();
    for (path, prefix) in [("/mcp/notes", ""), ("/mcp", "notes__")] {
        let wire = library.session(path, &token).await;
        for hidden in [json!({ "Name": "hang" }), json!({ "NAME": "hang" })] {
            let mut params = json!({ "name": format!("{prefix}record") });
            params.as_object_mut().unwrap().extend(hidden.as_object().unwrap().clone());
            params["arguments"] = json!({ "nonce": "x" });
            let answer = wire.post(&request(1, "tools/call", params)).await;
            assert_eq!((answer.code(), &answer.last()["id"]), (Some(-32602), &json!(1)));
        }
    }
    assert_eq!(library.notes.ledger.all().into_iter().collect::<Vec<_>>(), []);
}

#[tokio::test]
async fn visible_items_next_to_hidden_ones_can_be_called() {
    let library = Library::open(HIDING, "").await;
    let token = library.gateway.token();
    let (alone, all) =
        (library.session("/mcp/notes", &token).await, library.session("/mcp", &token).await);
    let call = |tool: &str, nonce: &str| {
        request(1, "tools/call", json!({ "name": tool, "arguments": { "nonce": nonce } }))
    };
    assert_eq!(alone.post(&call("record", "a")).await.last()["result"]["content"][0]["text"], "a");
    assert_eq!(
        all.post(&call("notes__record", "b")).await.last()["result"]["content"][0]["text"],
        "b"
    );
    alone.post(&request(1, "prompts/get", json!({ "name": "public_one" }))).await;
    all.post(&request(1, "prompts/get", json!({ "name": "notes__public_one" }))).await;
    alone.post(&request(1, "resources/subscribe", json!({ "uri": "shelf://public_one" }))).await;
    let ledger = &library.notes.ledger;
    assert_eq!((ledger.executions("a"), ledger.executions("b")), (1, 1));
    assert_eq!(ledger.executions("prompt public_one"), 2);
    assert_eq!(ledger.executions("resources/subscribe shelf://public_one"), 1);
}

#[tokio::test]
async fn a_subscription_ends_when_a_list_hides_its_resource_and_returns_with_it() {
    let library = Library::open("", "").await;
    let session = library.session("/mcp/notes", &library.gateway.token()).await;
    session.post(&request(1, "resources/subscribe", json!({ "uri": "shelf://secret_one" }))).await;
    let ledger = &library.notes.ledger;
    let subscribed = "resources/subscribe shelf://secret_one";
    assert_eq!(ledger.executions(subscribed), 1);
    library.change(HIDING, "");
    ledger.until_executed("resources/unsubscribe shelf://secret_one").await;
    library.change("", "");
    until("a second subscription", || ledger.executions(subscribed) == 2).await;
}

#[tokio::test]
async fn a_refusal_names_the_editors_list_and_distinguishes_missing_from_hidden() {
    let editors = "[editors.cursor]\ntools.allow = [\"*__record\"]\nupstreams.deny = [\"files\"]\n";
    let library = Library::open("", editors).await;
    let cursor = library.gateway.add_editor("cursor").await;
    let all = library.session("/mcp", &cursor).await;
    let call = |tool: &str| {
        request(1, "tools/call", json!({ "name": tool, "arguments": { "nonce": "x" } }))
    };
    let hidden = all.post(&call("notes__hang")).await;
    let said = refusal(hidden.last());
    assert!(said.contains("hides it (`tools` under [editors.cursor])"), "{said}");
    for absent in ["notes__nothing", "files__record"] {
        let answer = all.post(&call(absent)).await;
        let said = refusal(answer.last());
        assert!(said.starts_with(&format!("There is no tool `{absent}`.")), "{said}");
        assert!(said.contains("under [editors.cursor] in config.toml"), "{said}");
    }
    assert_eq!(library.files.ledger.executions("x"), 0);
    let elsewhere = library.session("/mcp", &library.gateway.token()).await;
    let answer = elsewhere.post(&call("notes__nothing")).await;
    assert_eq!(
        refusal(answer.last()),
        "There is no tool `notes__nothing`. Request the list again."
    );
}

#[tokio::test]
async fn a_stateless_subscription_does_not_include_hidden_resources() {
    let library = Library::open(HIDING, "").await;
    let wanted = ["shelf://public_one", "shelf://secret_one"];
    let params = json!({ "notifications": { "resourceSubscriptions": wanted } });
    let wire = library.wire("/mcp/notes", &library.gateway.token());
    let (wire, message) = wire.stating(5, "subscriptions/listen", params);
    let both = "application/json, text/event-stream";
    let mut notifications = WireEvents::of(wire.send(Method::POST, Some(&message), both).await);
    let (_, first) = notifications.next().await.unwrap();
    assert_eq!(
        first["params"]["notifications"]["resourceSubscriptions"],
        json!(["shelf://public_one"])
    );
}
