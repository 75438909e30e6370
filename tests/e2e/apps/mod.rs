//! Applications: how the gateway finds, watches and restarts them.
//!
//! The application is a fake PiecesOS with the behaviour of the real one.
//!
//! - [`finding`], [`ending`], [`hanging`], [`memory`], [`evidence`]: what the gateway notices
//! - [`restarting`], [`pausing`]: what it does
//! - [`record`]: what it shows
//! - [`observed`]: where other gateways failed with PiecesOS
//! - [`others`]: the other presets
//! - [`fake_pieces`]: the fake itself

mod ending;
#[cfg(target_os = "linux")]
mod evidence;
pub(crate) mod fake_pieces;
mod finding;
mod hanging;
mod memory;
mod observed;
mod others;
mod pausing;
mod record;
mod restarting;

use evermoor_core::api::{AppStatus, RestartProgress};
use evermoor_core::history::incident::Incident;
use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::fakes::pieces::Pieces;
use evermoor_tests::gateway::Gateway;
use http::Method;
use serde_json::json;

/// A gateway that watches this PiecesOS, with `more` in its entry.
async fn gateway(scene: &Scene, pieces: &Pieces, more: &str) -> Gateway {
    gateway_among(scene, pieces, more, &[]).await
}

/// The same, with these environment variables.
async fn gateway_among(
    scene: &Scene,
    pieces: &Pieces,
    more: &str,
    variables: &[(&str, &str)],
) -> Gateway {
    pieces.describe(&scene.home(), "");
    scene.write("", &entry(more));
    Gateway::start_among(&scene.home(), variables).await
}

/// The configuration entry for PiecesOS.
fn entry(more: &str) -> String {
    format!("[upstreams.pieces]\npreset = \"pieces-os\"\n{more}")
}

/// A running PiecesOS and a gateway that is connected to it.
async fn connected(scene: &Scene, more: &str) -> (Pieces, Gateway) {
    let pieces = Pieces::start(scene).await;
    let gateway = gateway(scene, &pieces, more).await;
    gateway.until_connected("pieces").await;
    (pieces, gateway)
}

async fn editor(gateway: &Gateway) -> Editor {
    gateway.editor("/mcp/pieces").await
}

/// Has PiecesOS store a memory, and returns the text of its answer.
async fn remember(editor: &mut Editor, words: &str) -> String {
    let said = editor.call("create_pieces_memory", &json!({ "summary": words })).await;
    said["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

/// Waits until the application's state satisfies `wanted`.
async fn until_app(gateway: &Gateway, wanted: impl Fn(&AppStatus) -> bool) -> AppStatus {
    let seen = gateway.until("pieces", |upstream| upstream.app.as_ref().is_some_and(&wanted)).await;
    seen.app.expect("it was just seen")
}

/// Requests a restart and waits until it is over.
async fn restart(gateway: &Gateway) -> RestartProgress {
    let begun = gateway.control(Method::POST, "/api/upstreams/pieces/restart").await;
    ended(gateway, begun["number"].as_u64().expect("it is known by a number")).await
}

/// The restart with this number, once it is over.
async fn ended(gateway: &Gateway, number: u64) -> RestartProgress {
    let over = |restart: &RestartProgress| restart.number >= number && restart.end.is_some();
    let app = until_app(gateway, |app| app.restart.as_ref().is_some_and(over)).await;
    app.restart.expect("it was just seen")
}

fn steps(restart: &RestartProgress) -> Vec<&str> {
    restart.steps.iter().map(|step| step.what.as_str()).collect()
}

/// The outages of PiecesOS, newest first.
async fn incidents(gateway: &Gateway) -> Vec<Incident> {
    let reply = gateway.control(Method::GET, "/api/incidents?upstream=pieces").await;
    serde_json::from_value(reply["incidents"].clone()).expect("they are outages")
}
