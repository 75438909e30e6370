//! Editors that attack the gateway.

use evermoor_tests::Scene;
use evermoor_tests::editor::hostile::{HostileEditor, Trick};
use evermoor_tests::gateway::{Gateway, http};
use evermoor_tests::scene::entry;
use serde_json::json;

use super::calls::listening;
use super::peak_memory;

/// After the trick, another editor can connect and call.
async fn survives(gateway: &Gateway) {
    let healthy = http().get(format!("{}/healthz", gateway.origin)).send().await;
    assert!(healthy.unwrap().status().is_success());
    let mut editor = gateway.editor("/mcp/notes").await;
    let result = editor.call("record", &json!({ "nonce": "calm" })).await;
    assert_eq!(result["content"][0]["text"], "calm");
}

async fn play(tricks: &[Trick]) {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&notes]).await;
    for trick in tricks {
        let name = format!("{trick:?}").to_lowercase();
        let mut hostile = HostileEditor::at(&gateway, &name, "/mcp/notes", "record").await;
        hostile.play(*trick).await;
        survives(&gateway).await;
    }
}

#[tokio::test]
async fn an_editor_that_does_not_read_keeps_its_answers_from_itself_only() {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let (_server, entry) = listening(&["huge-answer"]).await;
    let entries = entry + &entry::at("notes", &notes.url);
    let gateway = scene.gateway_of("", &entries).await;
    gateway.until_connected("hostile").await;
    let before = peak_memory(&gateway);
    let mut hostile = HostileEditor::at(&gateway, "mallory", "/mcp/hostile", "tool1").await;
    hostile.play(Trick::UnreadAnswers).await;
    survives(&gateway).await;
    let mut answered = 0;
    let mut discarded = 0;
    for stream in &mut hostile.connections {
        let answer = HostileEditor::read(stream).await;
        answered += usize::from(answer.len() > 15 << 20);
        discarded += usize::from(answer.contains("-33021") && answer.contains("was executed"));
    }
    assert_eq!(answered + discarded, 40, "{answered} answered, {discarded} discarded");
    assert!(answered > 0, "what there is room for is kept");
    // One budget for the server, one for the editor, and what is being read and parsed.
    let grown = peak_memory(&gateway).saturating_sub(before);
    assert!(grown < 200 << 20, "the gateway grew by {} MB", grown >> 20);
}

#[tokio::test]
async fn large_requests_wait_until_there_is_room_for_them() {
    play(&[Trick::LargeRequests, Trick::UnfinishedRequests]).await;
}

#[tokio::test]
async fn connections_and_sessions_without_number_keep_nobody_else_out() {
    play(&[Trick::IdleConnections, Trick::Sessions]).await;
}

#[tokio::test]
async fn requests_that_are_not_what_they_seem_are_refused() {
    use Trick::{Depth, DoubledOrigin, LookAlikes, Members, PipelinedHead};
    play(&[Members, Depth, LookAlikes, DoubledOrigin, PipelinedHead]).await;
}
