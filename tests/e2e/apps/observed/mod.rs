//! The situations in which other gateways failed with PiecesOS, and what Evermoor does in each.

mod calls;
mod connections;
mod lists;
mod outages;
mod silence;

use std::time::Duration;

use evermoor_core::failure::outcome::META_KEY;
use evermoor_tests::editor::Editor;
use evermoor_tests::editor::wire::{Wire, WireEvents};
use evermoor_tests::fakes::pieces::{Fault, Pieces};
use evermoor_tests::gateway::Gateway;
use evermoor_tests::{PATIENCE, Scene};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{connected, editor, gateway, remember, until_app};

/// Has PiecesOS store a memory, and returns the whole result.
async fn whole_answer(editor: &mut Editor, words: &str) -> Value {
    editor.call("create_pieces_memory", &json!({ "summary": words })).await
}

/// Whether the answer is an error that says that the outcome is unknown.
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

/// The notification stream of an editor of PiecesOS.
async fn notifications(gateway: &Gateway) -> WireEvents {
    let wire = Wire::to(gateway, "/mcp/pieces").initialized("2025-11-25", json!({})).await;
    wire.listen(None).await
}

/// Waits for a notification that the tools changed.
async fn until_told(notifications: &mut WireEvents) {
    let (_, notification) = notifications.next().await.expect("the stream goes on");
    assert_eq!(notification["method"], "notifications/tools/list_changed");
}

/// Has PiecesOS announce its tools until the editor is notified, because the gateway may miss
/// announcements while it reconnects.
async fn announce_until_told(pieces: &Pieces, notifications: &mut WireEvents) {
    let announcing = async {
        loop {
            pieces.tell(Fault::AnnounceTools).await;
            if timeout(Duration::from_millis(100), until_told(notifications)).await.is_ok() {
                return;
            }
        }
    };
    timeout(PATIENCE, announcing).await.expect("the editor is notified in time");
}
