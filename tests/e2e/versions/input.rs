//! 2026-07-28 editors whose call makes an older server ask for input.

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::fakes::single_version::FakeTransport;
use evermoor_tests::gateway::Gateway;
use serde_json::{Value, json};

use super::fixture::{OLD, World, able, text};

fn params(tool: &str) -> Value {
    json!({ "name": tool, "capabilities": able() })
}

/// The same call with the input it needed.
fn back(tool: &str, needed: &Value, answer: &Value) -> Value {
    let asked = needed["inputRequests"].as_object().unwrap();
    let answers: Value = asked.keys().map(|key| (key.clone(), answer.clone())).collect();
    let mut params = params(tool);
    params["requestState"] = needed["requestState"].clone();
    params["inputResponses"] = answers;
    params
}

async fn needed(world: &World, tool: &str) -> Value {
    let answer = world.newer().newer(1, "tools/call", params(tool)).await;
    let result = answer.last()["result"].clone();
    assert_eq!(result["resultType"], "input_required", "{answer:?}");
    result
}

#[tokio::test]
async fn a_request_of_an_older_server_becomes_required_input_of_the_same_call() {
    for (protocol_version, transport) in [
        (ProtocolVersion::Session(SessionVersion::V2024_11_05), FakeTransport::Sse),
        (ProtocolVersion::Session(SessionVersion::V2025_06_18), FakeTransport::Http),
        (OLD, FakeTransport::Stdio),
    ] {
        let world = World::new(protocol_version, transport).await;
        for (tool, method, answer) in [
            (
                "ask",
                "elicitation/create",
                json!({ "action": "accept", "content": { "name": "Ada" } }),
            ),
            ("link", "elicitation/create", json!({ "action": "decline" })),
            ("sample", "sampling/createMessage", json!({ "role": "assistant", "model": "m" })),
            ("roots", "roots/list", json!({ "roots": [] })),
        ] {
            let needed = needed(&world, tool).await;
            let (_, asked) = needed["inputRequests"].as_object().unwrap().iter().next().unwrap();
            assert_eq!(asked["method"], method);
            if tool == "ask" {
                assert_eq!(asked["params"]["mode"], "form");
            }
            assert_eq!(asked["params"].get("elicitationId"), None);
            let again = back(tool, &needed, &answer);
            let last = world.newer().newer(2, "tools/call", again).await.last().clone();
            let said: Value = serde_json::from_str(text(&last)).unwrap();
            assert_eq!((said, &last["result"]["resultType"]), (answer, &json!("complete")));
            assert_eq!(world.upstream.ledger.executions(tool), 1, "the call was made once");
        }
    }
}

#[tokio::test]
async fn a_forged_request_state_never_causes_a_call() {
    let world = World::new(OLD, FakeTransport::Http).await;
    let needed = needed(&world, "ask").await;
    let state = needed["requestState"].as_str().unwrap();
    for forged in
        [format!("{state}x"), state.replacen("evermoor.", "evermoor.x", 1), "theirs".into()]
    {
        let mut again = back("ask", &needed, &json!({ "action": "accept" }));
        again["requestState"] = forged.into();
        assert_eq!(world.newer().newer(2, "tools/call", again).await.code(), Some(-32602));
    }
    let token = world.gateway.add_editor("another").await;
    let again = back("ask", &needed, &json!({ "action": "accept" }));
    let other = world.newer().with_token(&token);
    assert_eq!(other.newer(2, "tools/call", again).await.code(), Some(-32602));
    assert_eq!(world.upstream.ledger.executions("ask"), 1);
}

#[tokio::test]
async fn a_request_state_of_an_earlier_gateway_is_answered_as_unknown() {
    let World { scene, upstream, mut gateway } = World::new(OLD, FakeTransport::Http).await;
    let wire = evermoor_tests::editor::wire::Wire::to(&gateway, "/mcp/era");
    let answer = wire.newer(1, "tools/call", params("ask")).await.last().clone();
    gateway.process.kill().await;
    let gateway = Gateway::start(&scene.home()).await;
    gateway.until_connected("era").await;
    let again = back("ask", &answer["result"], &json!({ "action": "accept" }));
    let last = wire.at(&gateway, "/mcp/era").newer(2, "tools/call", again).await.last().clone();
    let outcome = &last["result"]["_meta"]["dev.evermoor/outcome"];
    assert_eq!(
        (&outcome["outcome"], &outcome["code"]),
        (&json!("unknown"), &json!(-33012)),
        "{last}"
    );
    assert_eq!(last["result"]["resultType"], "complete");
    assert_eq!(upstream.ledger.executions("ask"), 1);
}

#[tokio::test]
async fn links_that_must_be_opened_first_become_required_input() {
    let world = World::new(OLD, FakeTransport::Http).await;
    let needed = needed(&world, "sign_in").await;
    let (_, asked) = needed["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(
        (&asked["params"]["mode"], asked["params"].get("elicitationId")),
        (&json!("url"), None)
    );
    let again = back("sign_in", &needed, &json!({ "action": "accept" }));
    let last = world.newer().newer(2, "tools/call", again.clone()).await.last().clone();
    assert_eq!(text(&last), "signed in");
    assert_eq!(world.newer().newer(3, "tools/call", again).await.code(), Some(-32602));
    let unable = json!({ "name": "sign_in", "arguments": { "nonce": "x" } });
    assert_eq!(world.newer().newer(4, "tools/call", unable).await.code(), Some(-32021));
}
