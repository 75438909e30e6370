//! Editors that attack the gateway.

use std::time::Duration;

use evermoor_core::protocol::envelope::{Id, Message, Request};
use evermoor_core::protocol::shim_frames::{FrameKind, prefix};
use evermoor_tests::Scene;
use evermoor_tests::editor::hostile::{HostileEditor, Trick};
use evermoor_tests::fakes::shim_gateway::FrameStream;
use evermoor_tests::gateway::{Gateway, http};
use evermoor_tests::scene::entry;
use evermoor_tests::scene::wait::until;
use futures_util::future::join_all;
use serde_json::json;
use tokio::time::timeout;

use super::calls::listening;
use super::{hostile, peak_memory};

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
    // All at once: answers arrive in any order, and each one that is not read keeps room from the others.
    let read = hostile.connections.iter_mut().map(async |stream| {
        let answer = HostileEditor::read(stream).await;
        let is_whole = answer.len() > 15 << 20;
        let is_discarded = answer.contains("-33021") && answer.contains("was executed");
        (is_whole, is_discarded)
    });
    let read = join_all(read).await;
    let answered = read.iter().filter(|(is_whole, _)| *is_whole).count();
    let discarded = read.iter().filter(|(_, is_discarded)| *is_discarded).count();
    assert_eq!(answered + discarded, 40, "{answered} answered, {discarded} discarded");
    assert!(answered > 0, "what there is room for is kept");
    // One budget for the server, one for the editor, and what is being read and parsed.
    let grown = peak_memory(&gateway).saturating_sub(before);
    assert!(grown < 200 << 20, "the gateway grew by {} MB", grown >> 20);
}

/// How much memory the gateway needs while an editor plays a trick with a server that plays others.
async fn grows(
    gateway: &Gateway,
    editor: &str,
    path: &str,
    trick: Trick,
) -> (HostileEditor, usize) {
    gateway.until_connected("hostile").await;
    let before = peak_memory(gateway);
    let mut hostile = HostileEditor::at(gateway, editor, path, "tool1").await;
    hostile.play(trick).await;
    survives(gateway).await;
    let grown = peak_memory(gateway).saturating_sub(before);
    (hostile, grown)
}

#[tokio::test]
async fn a_list_that_many_requests_do_not_read_is_in_memory_once() {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let entries = hostile(&["large-tool"]) + &entry::at("notes", &notes.url);
    let gateway = scene.gateway_of("", &entries).await;
    let (mut hostile, grown) = grows(&gateway, "mallory", "/mcp", Trick::UnreadLists).await;
    assert!(grown < 150 << 20, "the gateway grew by {} MB", grown >> 20);
    for stream in &mut hostile.connections {
        let list = HostileEditor::read(stream).await;
        assert!(list.len() > 12 << 20 && list.contains("hostile__large"), "{} bytes", list.len());
    }
}

#[tokio::test]
async fn a_batch_with_large_answers_stays_within_the_budget() {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let (_server, entry) = listening(&["huge-answer"]).await;
    let entries = entry + &entry::at("notes", &notes.url);
    let gateway = scene.gateway_of("", &entries).await;
    let (mut hostile, _) = grows(&gateway, "mallory", "/mcp/hostile", Trick::Batch).await;
    let before = peak_memory(&gateway);
    let answer = HostileEditor::read(&mut hostile.connections[0]).await;
    let grown = peak_memory(&gateway).saturating_sub(before);
    let (answered, discarded) = (answer.len() / (15 << 20), answer.matches("-33021").count());
    assert_eq!(answered + discarded, 20, "{answered} answered, {discarded} discarded");
    assert!(answered > 0, "what there is room for is kept");
    assert!(grown < 200 << 20, "the gateway grew by {} MB", grown >> 20);
}

#[tokio::test]
async fn what_a_client_says_about_itself_and_subscribes_to_is_limited() {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let entries = hostile(&[]) + &entry::at("notes", &notes.url);
    let gateway = scene.gateway_of("", &entries).await;
    let (subscriber, _) = grows(&gateway, "mallory", "/mcp/hostile", Trick::Subscriptions).await;
    assert!(subscriber.answer.contains("at most 1024 resources"), "{}", subscriber.answer);
    assert!(subscriber.answer.contains("at most 8192 bytes"), "{}", subscriber.answer);
    let stored = scene.home().join("data/sessions.json");
    until("the subscriptions are stored", || stored.exists()).await;
    let (_, grown) = grows(&gateway, "trudy", "/mcp/hostile", Trick::LongNames).await;
    assert!(grown < 60 << 20, "the gateway grew by {} MB", grown >> 20);
}

#[tokio::test]
async fn frames_are_charged_before_they_are_read() {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&notes]).await;
    let token = gateway.add_editor("mallory").await;
    let before = peak_memory(&gateway);
    let payload = vec![b'x'; 3 << 20];
    let mut streams = Vec::new();
    for _ in 0..60 {
        let mut stream = FrameStream::connect(&scene.home()).await;
        stream.hello(&token, "/mcp/notes").await;
        assert_eq!(stream.next().await.unwrap().kind, FrameKind::Welcome);
        stream.write(&prefix(FrameKind::Post, 1, payload.len())).await;
        // The gateway stops reading when there is no room.
        let unfinished = stream.write(&payload[..payload.len() - 1]);
        let _ = timeout(Duration::from_millis(300), unfinished).await;
        streams.push(stream);
    }
    survives(&gateway).await;
    let grown = peak_memory(&gateway).saturating_sub(before);
    assert!(grown < 100 << 20, "the gateway grew by {} MB", grown >> 20);

    // One that waited for room in vain is refused, and the connection stays usable.
    let mut stream = FrameStream::connect(&scene.home()).await;
    stream.hello(&token, "/mcp/notes").await;
    stream.next().await.unwrap();
    stream.send(FrameKind::Post, 1, &payload).await;
    assert_eq!(stream.response().await.0.status, 503);
    let ping = Message::Request(Request::new(Id::number(1), "ping", None));
    stream.post(2, &[], &ping).await;
    assert_eq!(stream.response().await.0.status, 400, "it has no session");
}

#[tokio::test]
async fn a_connection_that_has_not_presented_its_token_sends_little() {
    let scene = Scene::new();
    let notes = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&notes]).await;
    let mut stream = FrameStream::connect(&scene.home()).await;
    stream.write(&prefix(FrameKind::Hello, 0, 100_000)).await;
    assert!(stream.next().await.is_none(), "it is closed before the rest arrives");
    survives(&gateway).await;
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
