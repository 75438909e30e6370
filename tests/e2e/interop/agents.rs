//! Real agents with a stand-in for their model: what they make of outages, as `evermoor setup` connects
//! them.

use evermoor_client::GatewaySupervisor;
use evermoor_client::launch::Launcher;
use evermoor_core::api::Status;
use evermoor_platform::paths::Paths;
use evermoor_tests::Scene;
use evermoor_tests::fakes::upstream::Upstream;
use evermoor_tests::gateway::{Gateway, until_held};
use evermoor_tests::peers::agents::model::Model;
use evermoor_tests::peers::agents::{Agent, AgentSession};
use evermoor_tests::peers::free_port;
use evermoor_tests::scene::machine::Machine;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

const TOOL: &str = "notes__record";
/// A tool of the server that runs from the start, where there are two.
const OTHER_TOOL: &str = "other__record";
/// How many times an agent asks its model before it counts as one that never reads a list again.
const TURNS: usize = 10;

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

/// The upstream was never connected when the agent starts. Returns whether the agent finds the tools of the upstream
/// in the same session, once that runs.
#[expect(clippy::print_stdout, reason = "the delay is worth a look when the test has failed")]
async fn finds_tools_that_come_later(agent: Agent) -> bool {
    let scene = Scene::new();
    let (mut notes, other) = (scene.upstream("notes").await, scene.upstream("other").await);
    notes.kill().await;
    let gateway = scene.gateway(&[&notes, &other]).await;
    gateway.until_connected("other").await;
    gateway.until_down("notes").await;
    let (machine, mut model) = (Machine::new(&scene), Model::start(agent).await);
    agent.configure(&machine, &model);
    machine.set_up(&[agent.id()]).await;
    let began = Instant::now();
    let session = agent.start(&machine, &model);
    let mut turn = model.asked().await;
    println!("{agent:?} asks its model {:?} after its start", began.elapsed());
    assert!(turn.offers(OTHER_TOOL), "it does not drop the servers that run");
    assert!(!turn.offers(TOOL), "nothing is known of it");
    notes.start_again().await;
    gateway.until_connected("notes").await;
    let mut turns = 0;
    while turns < TURNS && !turn.offers(TOOL) {
        turns += 1;
        let nonce = nonce(&format!("ran {turns}"));
        turn = turn.after_calling(&mut model, OTHER_TOOL, nonce).await;
    }
    let finds = turn.offers(TOOL);
    if finds {
        turn = turn.after_calling(&mut model, TOOL, nonce("ran later")).await;
        assert!(turn.result().contains("ran later"), "{}", turn.result());
        assert_eq!(notes.ledger.executions("ran later"), 1);
    }
    turn.end();
    session.ended().await;
    finds
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

/// The call is made while no gateway runs. The address is held, as the tray does, so that the connection waits for
/// the next gateway.
async fn survives_a_gateway_that_is_killed_over_http(agent: Agent) {
    let mut stage = Stage::with(agent, &["--transport", "http"]).await;
    let paths = Paths::find(Some(stage.scene.home())).unwrap();
    let launcher = Launcher::new(stage.scene.evermoor(), Some(stage.scene.home()), paths.clone());
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let _supervisor = GatewaySupervisor::start(launcher, &tasks, stop.clone());
    until_held(&paths).await;
    let session = stage.start(agent);
    let turn = stage.model.asked().await;
    let turn = turn.after_calling(&mut stage.model, TOOL, nonce("ran before")).await;
    stage.gateway.process.kill().await;
    let turn = turn.after_calling(&mut stage.model, TOOL, nonce("ran after")).await;
    assert!(turn.result().contains("ran after"), "{}", turn.result());
    turn.end();
    session.ended().await;
    assert_eq!(stage.upstream.ledger.executions("ran after"), 1);
    stop.cancel();
    tasks.close();
    tasks.wait().await;
}

/// The agent listens for changed lists with `subscriptions/listen`.
#[tokio::test]
async fn copilot_survives_a_takeover_over_http() {
    let mut stage = Stage::with(Agent::Copilot, &["--transport", "http"]).await;
    let session = stage.start(Agent::Copilot);
    let turn = stage.model.asked().await;
    let mut turn = turn.after_calling(&mut stage.model, TOOL, nonce("ran before")).await;
    let listens = |status: &Status| status.attached.iter().any(|one| one.revision == "2026-07-28");
    stage.gateway.until_status(listens).await;
    for number in 0..3 {
        let next = Gateway::take_over(&stage.scene.home()).await;
        assert!(stage.gateway.process.ended().await.success());
        stage.gateway = next;
        let ran = format!("ran after {number}");
        turn = turn.after_calling(&mut stage.model, TOOL, nonce(&ran)).await;
        assert!(turn.result().contains(&ran), "{}", turn.result());
        assert_eq!(stage.upstream.ledger.executions(&ran), 1);
    }
    turn.end();
    session.ended().await;
}

#[tokio::test]
async fn codex_survives_a_gateway_that_is_killed_over_http() {
    survives_a_gateway_that_is_killed_over_http(Agent::Codex).await;
}

#[tokio::test]
async fn gemini_survives_a_gateway_that_is_killed_over_http() {
    survives_a_gateway_that_is_killed_over_http(Agent::Gemini).await;
}

#[tokio::test]
async fn copilot_survives_a_gateway_that_is_killed_over_http() {
    survives_a_gateway_that_is_killed_over_http(Agent::Copilot).await;
}

/// What each agent does is in its row of `editors.toml`.
#[tokio::test]
async fn an_agent_finds_the_tools_of_a_server_that_was_never_seen_if_it_reads_lists_again() {
    for agent in [Agent::Codex, Agent::Gemini, Agent::Copilot] {
        let row = evermoor_setup::table::client(agent.id()).expect("it has a row");
        assert_eq!(finds_tools_that_come_later(agent).await, row.list_habits.rereads, "{agent:?}");
    }
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
