//! Real agents with a stand-in for their model: what they make of outages, as `evermoor setup` connects
//! them.

use evermoor_tests::Scene;
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::peers::agents::model::Model;
use evermoor_tests::peers::agents::{Agent, AgentSession};
use evermoor_tests::peers::free_port;
use evermoor_tests::scene::machine::Machine;
use serde_json::{Value, json};

const TOOL: &str = "notes__record";

struct Stage {
    upstream: Upstream,
    gateway: Gateway,
    machine: Machine,
    model: Model,
    scene: Scene,
}

impl Stage {
    async fn with(agent: Agent, setup: &[&str]) -> Self {
        let scene = Scene::new();
        let upstream = scene.upstream("notes").await;
        // The next gateway has the same address.
        let listen = format!("listen = \"127.0.0.1:{}\"", free_port());
        let gateway = scene.gateway_with(&listen, &[&upstream]).await;
        gateway.until_connected("notes").await;
        let (machine, model) = (Machine::new(&scene), Model::start(agent).await);
        agent.configure(&machine, &model);
        let done = machine.set_up(&[&[agent.id()], setup].concat()).await;
        assert_eq!(done["outcome"], "connected", "{done}");
        Self { upstream, gateway, machine, model, scene }
    }

    fn start(&self, agent: Agent) -> AgentSession {
        agent.start(&self.machine, &self.model)
    }
}

fn nonce(nonce: &str) -> Value {
    json!({ "nonce": nonce })
}

async fn starts_while_the_upstream_is_down(agent: Agent) {
    let mut stage = Stage::with(agent, &[]).await;
    stage.upstream.kill().await;
    stage.gateway.until_down("notes").await;
    let session = stage.start(agent);
    let turn = stage.model.asked().await;
    assert!(turn.offers(TOOL), "the tools are known");
    turn.call(TOOL, nonce("ran down"));
    stage.upstream.start_again().await;
    let turn = stage.model.asked().await;
    assert!(turn.result().contains("ran down"), "{}", turn.result());
    turn.end();
    session.ended().await;
    assert_eq!(stage.upstream.ledger.executions("ran down"), 1);
}

async fn survives_an_upstream_that_is_killed(agent: Agent) {
    let mut stage = Stage::with(agent, &[]).await;
    let session = stage.start(agent);
    let turn = stage.model.asked().await;
    let turn = turn.after_calling(&mut stage.model, TOOL, nonce("ran before")).await;
    assert!(turn.result().contains("ran before"), "{}", turn.result());
    stage.upstream.kill().await;
    stage.gateway.until_down("notes").await;
    turn.call(TOOL, nonce("ran after"));
    stage.upstream.start_again().await;
    let turn = stage.model.asked().await;
    assert!(turn.result().contains("ran after"), "{}", turn.result());
    turn.end();
    session.ended().await;
    for nonce in ["ran before", "ran after"] {
        assert_eq!(stage.upstream.ledger.executions(nonce), 1, "{nonce}");
    }
}

/// The call is made while no gateway runs, and nothing but the agent's entry can start one.
async fn survives_a_gateway_that_is_killed(agent: Agent) {
    let mut stage = Stage::with(agent, &[]).await;
    let session = stage.start(agent);
    let turn = stage.model.asked().await;
    let turn = turn.after_calling(&mut stage.model, TOOL, nonce("ran before")).await;
    stage.gateway.process.kill().await;
    let turn = turn.after_calling(&mut stage.model, TOOL, nonce("ran after")).await;
    assert!(turn.result().contains("ran after"), "{}", turn.result());
    turn.end();
    session.ended().await;
    assert_eq!(stage.upstream.ledger.executions("ran after"), 1);
}

async fn survives_another_gateway_over_http(agent: Agent) {
    let mut stage = Stage::with(agent, &["--transport", "http"]).await;
    let session = stage.start(agent);
    let turn = stage.model.asked().await;
    let turn = turn.after_calling(&mut stage.model, TOOL, nonce("ran before")).await;
    stage.gateway.process.kill().await;
    let gateway = Gateway::start(&stage.scene.home()).await;
    gateway.until_connected("notes").await;
    let turn = turn.after_calling(&mut stage.model, TOOL, nonce("ran after")).await;
    assert!(turn.result().contains("ran after"), "{}", turn.result());
    turn.end();
    session.ended().await;
    assert_eq!(stage.upstream.ledger.executions("ran after"), 1);
}

#[tokio::test]
async fn codex_starts_while_the_upstream_is_down() {
    starts_while_the_upstream_is_down(Agent::Codex).await;
}

#[tokio::test]
async fn codex_survives_an_upstream_that_is_killed() {
    survives_an_upstream_that_is_killed(Agent::Codex).await;
}

#[tokio::test]
async fn codex_survives_a_gateway_that_is_killed() {
    survives_a_gateway_that_is_killed(Agent::Codex).await;
}

#[tokio::test]
async fn codex_survives_another_gateway_over_http() {
    survives_another_gateway_over_http(Agent::Codex).await;
}

#[tokio::test]
async fn gemini_starts_while_the_upstream_is_down() {
    starts_while_the_upstream_is_down(Agent::Gemini).await;
}

#[tokio::test]
async fn gemini_survives_an_upstream_that_is_killed() {
    survives_an_upstream_that_is_killed(Agent::Gemini).await;
}

#[tokio::test]
async fn gemini_survives_a_gateway_that_is_killed() {
    survives_a_gateway_that_is_killed(Agent::Gemini).await;
}

#[tokio::test]
async fn gemini_survives_another_gateway_over_http() {
    survives_another_gateway_over_http(Agent::Gemini).await;
}

#[tokio::test]
async fn copilot_starts_while_the_upstream_is_down() {
    starts_while_the_upstream_is_down(Agent::Copilot).await;
}

#[tokio::test]
async fn copilot_survives_an_upstream_that_is_killed() {
    survives_an_upstream_that_is_killed(Agent::Copilot).await;
}

#[tokio::test]
async fn copilot_survives_a_gateway_that_is_killed() {
    survives_a_gateway_that_is_killed(Agent::Copilot).await;
}

#[tokio::test]
async fn copilot_survives_another_gateway_over_http() {
    survives_another_gateway_over_http(Agent::Copilot).await;
}

#[tokio::test]
async fn grok_calls_a_tool_at_the_merged_endpoint() {
    for setup in [&[][..], &["--transport", "http"]] {
        let mut stage = Stage::with(Agent::Grok, setup).await;
        let session = stage.start(Agent::Grok);
        let turn = stage.model.asked().await;
        let turn = turn.after_calling(&mut stage.model, "notes_record", nonce("ran called")).await;
        assert!(turn.result().contains("ran called"), "{}", turn.result());
        turn.end();
        session.ended().await;
        assert_eq!(stage.upstream.ledger.executions("ran called"), 1);
    }
}

#[tokio::test]
async fn setup_ends_with_what_the_agent_itself_says() {
    for (agent, says) in [
        (Agent::Codex, "reads"),
        (Agent::Gemini, "connects"),
        (Agent::Copilot, "reads"),
        (Agent::Grok, "connects"),
    ] {
        let stage = Stage::with(agent, &[]).await;
        stage.machine.install("node", &evermoor_tests::peers::node());
        stage.machine.install(agent.name(), &agent.program());
        let done = stage.machine.set_up(&[agent.id()]).await;
        assert_eq!(done["outcome"], "already", "{done}");
        assert_eq!(done["check"]["result"], says, "{done}");
    }
}
