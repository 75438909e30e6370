//! Where other gateways were seen to fail with PiecesOS, row by row, and what Evermoor does there.

mod calls;
mod connections;
mod lists;
mod outages;
mod silence;

use std::time::Duration;

use evermoor_core::failure::outcome::META_KEY;
use evermoor_tests::editor::Editor;
use evermoor_tests::editor::wire::{Events, Wire};
use evermoor_tests::fakes::pieces::{Fault, Pieces};
use evermoor_tests::gateway::Gateway;
use evermoor_tests::{PATIENCE, Scene};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{connected, editor, gateway, remember, until_app};

/// Has PiecesOS remember something, and says all that was answered.
async fn whole_answer(editor: &mut Editor, words: &str) -> Value {
    editor.call("create_pieces_memory", &json!({ "summary": words })).await
}

/// Whether an editor was told, as an error, that nobody knows whether the call ran.
fn is_unknown(said: &Value) -> bool {
    said["isError"] == true && said["_meta"][META_KEY]["outcome"] == "unknown"
}

/// The names of the tools that an editor sees.
async fn tools(editor: &mut Editor) -> Vec<String> {
    let listed = editor.ask("tools/list", &json!({})).await;
    let listed = listed["tools"].as_array().expect("a list of tools");
    listed.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

const ITS_OWN: [&str; 2] = ["ask_pieces_ltm", "create_pieces_memory"];

/// What an editor of PiecesOS is told unasked.
async fn news(gateway: &Gateway) -> Events {
    let wire = Wire::to(gateway, "/mcp/pieces").initialized("2025-11-25", json!({})).await;
    wire.listen(None).await
}

/// Waits until somebody is told that the tools changed.
async fn until_told(news: &mut Events) {
    let (_, told) = news.next().await.expect("the stream goes on");
    assert_eq!(told["method"], "notifications/tools/list_changed");
}

/// Has PiecesOS announce its tools until somebody is told: who does not listen at the moment is not.
async fn announce_until_told(pieces: &Pieces, news: &mut Events) {
    let announcing = async {
        loop {
            pieces.tell(Fault::AnnounceTools).await;
            if timeout(Duration::from_millis(100), until_told(news)).await.is_ok() {
                return;
            }
        }
    };
    timeout(PATIENCE, announcing).await.expect("it is heard in time");
}
