//! The list of calls that people see: who, what, outcome and duration, but never the content.

use evermoor_core::api::{CallOutcome, Latency, RecentCall, RecentCalls};
use evermoor_tests::Scene;
use evermoor_tests::editor::Editor;
use evermoor_tests::editor::wire::{Wire, WireEvents};
use evermoor_tests::gateway::{Gateway, http};
use http::Method;
use serde_json::{Value, json};

async fn calls(gateway: &Gateway, query: &str) -> Vec<RecentCall> {
    let found = gateway.control(Method::GET, &format!("/api/activity{query}")).await;
    assert!(!found.to_string().contains("words of mine"), "what was said is nobody's business");
    serde_json::from_value::<RecentCalls>(found).unwrap().calls
}

async fn followed(gateway: &Gateway) -> WireEvents {
    let request = http().get(format!("{}/api/events?calls=1", gateway.origin));
    let events = request.bearer_auth(&gateway.control_token).send().await.unwrap();
    let mut events = WireEvents::of(events);
    assert!(events.next().await.unwrap().1["upstreams"].is_array(), "the state comes first");
    events
}

/// The next call on the live stream.
async fn next_call(events: &mut WireEvents) -> RecentCall {
    loop {
        let (_, event) = events.next().await.unwrap();
        if event["outcome"].is_string() {
            return serde_json::from_value(event).unwrap();
        }
    }
}

#[tokio::test]
async fn every_call_is_listed_with_its_editor_upstream_and_outcome() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let token = gateway.add_editor("zed").await;
    let mut zed = Editor::over_http(&gateway.origin, "/mcp", &token).await;
    zed.call("notes__record", &json!({ "nonce": "words of mine" })).await;
    let refused = json!({ "name": "notes__nothing", "arguments": { "x": "words of mine" } });
    let params = evermoor_core::protocol::json::Raw::of(&refused);
    zed.request("tools/call", Some(params)).await;
    let mut local = gateway.editor("/mcp/notes").await;
    let answer = local.attempt("unheard of", "words of mine").await;
    assert!(answer.text.contains("no such tool"), "{answer:?}");
    zed.ask("tools/list", &json!({})).await;

    let all = calls(&gateway, "").await;
    let seen: Vec<_> =
        all.iter().map(|call| (call.editor.as_str(), call.tool.as_str(), call.outcome)).collect();
    let wanted = [
        ("local", "unheard of", CallOutcome::ToolError),
        ("zed", "notes__nothing", CallOutcome::Refused),
        ("zed", "record", CallOutcome::Ok),
    ];
    assert_eq!(seen, wanted, "the newest first, and a list is no call");
    assert_eq!(all[2].upstream.as_deref(), Some("notes"));
    assert_eq!(all[1].upstream, None);
    assert_eq!(all[0].client.as_deref(), Some("scenario"));
    assert_eq!(calls(&gateway, "?editor=zed&limit=1").await, all[1..2]);
    assert_eq!(calls(&gateway, "?outcome=ok&upstream=notes").await, all[2..]);
    assert_eq!(calls(&gateway, &format!("?before={}", all[1].number)).await, all[2..]);
    let latency = gateway.control(Method::GET, "/api/upstreams/notes/latency").await;
    let points = serde_json::from_value::<Latency>(latency).unwrap().points;
    assert_eq!(points.iter().map(|point| point.calls).sum::<u32>(), 2, "{points:?}");
}

#[tokio::test]
async fn calls_are_streamed_as_they_end_with_the_time_they_were_held() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway(&[&upstream]).await;
    gateway.until_connected("notes").await;
    let mut events = followed(&gateway).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    editor.call("record", &json!({ "nonce": "quick" })).await;
    let quick = next_call(&mut events).await;
    assert_eq!((quick.outcome, quick.held_ms), (CallOutcome::Ok, 0));
    upstream.kill().await;
    gateway.until_down("notes").await;
    let held = editor.attempt("record", "held");
    let (answer, ()) = tokio::join!(held, upstream.start_again());
    assert_eq!(answer.text, "held");
    let held = next_call(&mut events).await;
    assert_eq!(held.outcome, CallOutcome::Ok);
    assert!(held.held_ms > 0 && held.held_ms <= held.ms, "{held:?}");
    assert_eq!(held.number, quick.number + 1);
}

#[tokio::test]
async fn lost_unsent_and_cancelled_calls_are_listed_as_such() {
    let scene = Scene::new();
    let mut upstream = scene.upstream("notes").await;
    let gateway = scene.gateway_with("hold = 0\n", &[&upstream]).await;
    gateway.until_connected("notes").await;
    let mut events = followed(&gateway).await;
    let wire = Wire::to(&gateway, "/mcp/notes");
    let params = json!({ "name": "hang", "arguments": { "nonce": "cancelled" } });
    let (wire, message) = wire.stating(1, "tools/call", params);
    let hanging = wire.post(&message);
    tokio::select! {
        _ = hanging => panic!("it hangs"),
        () = upstream.until_executed("cancelled") => {}
    }
    let cancelled = next_call(&mut events).await;
    assert_eq!((cancelled.outcome, cancelled.tool.as_str()), (CallOutcome::Cancelled, "hang"));
    let mut editor = gateway.editor("/mcp/notes").await;
    let losing = editor.attempt("hang", "lost");
    let killing = async {
        upstream.until_executed("lost").await;
        upstream.kill().await;
    };
    tokio::join!(losing, killing);
    assert_eq!(next_call(&mut events).await.outcome, CallOutcome::Unknown);
    gateway.until_down("notes").await;
    editor.attempt("record", "not sent").await;
    assert_eq!(next_call(&mut events).await.outcome, CallOutcome::NotSent);
    let none: Vec<Value> = vec![];
    let elsewhere = gateway.control(Method::GET, "/api/activity?upstream=nobody").await;
    assert_eq!(elsewhere["calls"], json!(none));
}
