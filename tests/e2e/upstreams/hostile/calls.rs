//! Servers that attack when a tool is called.

use evermoor_core::failure::outcome::META_KEY;
use evermoor_tests::Scene;
use evermoor_tests::gateway::{Gateway, http};
use evermoor_tests::oracle::measure::resources;
use evermoor_tests::scene::entry;
use evermoor_tests::scene::programs::{Process, built};
use serde_json::{Value, json};

use super::{hostile, peak_memory};

/// A hostile server over standard input and output, or over HTTP, beside another server.
struct Attack {
    _scene: Scene,
    _server: Option<Process>,
    gateway: Gateway,
}

impl Attack {
    async fn over_stdio(tricks: &[&str]) -> Self {
        let scene = Scene::new();
        let gateway = scene.gateway_of("", &(hostile(tricks) + &calm())).await;
        Self::begin(scene, None, gateway).await
    }

    async fn over_http(tricks: &[&str]) -> Self {
        let scene = Scene::new();
        let (server, entry) = listening(tricks).await;
        let gateway = scene.gateway_of("", &(entry + &calm())).await;
        Self::begin(scene, Some(server), gateway).await
    }

    async fn begin(scene: Scene, server: Option<Process>, gateway: Gateway) -> Self {
        gateway.until_connected("hostile").await;
        gateway.until_connected("calm").await;
        Self { _scene: scene, _server: server, gateway }
    }

    /// Calls the tool of the hostile server, then one of the other server.
    async fn result(&self) -> Value {
        let mut editor = self.gateway.editor("/mcp").await;
        let result = editor.call("hostile__tool1", &json!({})).await;
        let calm = editor.call("calm__tool1", &json!({})).await;
        assert_eq!(calm["content"][0]["text"], "answer");
        result
    }
}

/// A server that does nothing wrong.
fn calm() -> String {
    entry::program("calm", &built("hostile-server"), &[])
}

/// A hostile server over HTTP, and its entry.
pub(super) async fn listening(tricks: &[&str]) -> (Process, String) {
    listening_as("hostile", tricks).await
}

/// The same under another name.
pub(super) async fn listening_as(name: &str, tricks: &[&str]) -> (Process, String) {
    let mut server = Process::start(&built("hostile-server"), |command| {
        command.arg("--listen").args(tricks);
    });
    let url = server.line().await;
    (server, entry::at(name, &url))
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// Why an answer was discarded.
fn code(result: &Value) -> &Value {
    &result["_meta"][META_KEY]["code"]
}

#[tokio::test]
async fn the_largest_answer_is_passed_on() {
    for attack in [
        Attack::over_stdio(&["huge-answer"]).await,
        Attack::over_http(&["huge-answer"]).await,
        Attack::over_http(&["huge-answer", "json"]).await,
    ] {
        assert_eq!(text(&attack.result().await).len(), 15 << 20);
    }
}

#[tokio::test]
async fn an_answer_without_end_is_discarded_and_the_call_is_told_that_it_ran() {
    for attack in [
        Attack::over_http(&["endless-answer"]).await,
        Attack::over_http(&["endless-answer", "json"]).await,
    ] {
        let result = attack.result().await;
        assert_eq!(*code(&result), -33021, "{result}");
    }
}

#[tokio::test]
async fn notifications_before_an_answer_do_not_keep_it_back() {
    for tricks in [["flood"], ["progress"], ["list-changes"]] {
        for attack in [Attack::over_stdio(&tricks).await, Attack::over_http(&tricks).await] {
            assert_eq!(text(&attack.result().await), "answer", "{tricks:?}");
        }
    }
}

#[tokio::test]
async fn questions_without_number_are_refused() {
    for attack in
        [Attack::over_stdio(&["questions"]).await, Attack::over_http(&["questions"]).await]
    {
        let before = descriptors(&attack.gateway);
        let mut most = before;
        let mut result = std::pin::pin!(attack.result());
        let result = loop {
            tokio::select! {
                biased;
                result = &mut result => break result,
                answer = http().get(format!("{}/healthz", attack.gateway.origin)).send() => {
                    assert!(answer.unwrap().status().is_success());
                    most = most.max(descriptors(&attack.gateway));
                }
            }
        };
        assert_eq!(text(&result), "answer");
        // A question needs one for its answer, and there are at most 64 questions.
        assert!(most < before + 150, "{most} descriptors, {before} before");
    }
}

/// How many descriptors the gateway has open; 0 where the system does not tell.
fn descriptors(gateway: &Gateway) -> usize {
    resources(gateway.process.pid()).map_or(0, |(open, _)| open)
}

#[tokio::test]
async fn an_answer_with_too_many_members_or_too_deep_is_answered_at_once() {
    for trick in ["members", "depth"] {
        let attack = Attack::over_stdio(&[trick]).await;
        let mut editor = attack.gateway.editor("/mcp/hostile").await;
        let params = json!({ "name": "tool1", "arguments": {} });
        let params = evermoor_core::protocol::json::Raw::of(&params);
        // Whether it is an error or is passed on, there is one answer, in linear time.
        editor.request("tools/call", Some(params)).await;
        attack.gateway.until_connected("calm").await;
    }
}

#[tokio::test]
async fn a_line_break_within_an_answer_does_not_end_it() {
    let attack = Attack::over_stdio(&["bare-cr", "one-progress"]).await;
    let mut editor = attack.gateway.editor("/mcp").await;
    // An answer with progress is a stream of events, whose lines a bare carriage return ends.
    let meta = json!({ "progressToken": "token" });
    let params = json!({ "name": "hostile__tool1", "arguments": {}, "_meta": meta });
    assert_eq!(text(&editor.ask("tools/call", &params).await), "answer");
    assert_eq!(editor.notifications.len(), 1);
}

#[tokio::test]
async fn a_long_event_id_is_not_kept_for_each_event() {
    let attack = Attack::over_http(&["event-id"]).await;
    let before = peak_memory(&attack.gateway);
    assert_eq!(text(&attack.result().await), "answer");
    let grown = peak_memory(&attack.gateway).saturating_sub(before);
    assert!(grown < 100 << 20, "the gateway grew by {} MB", grown >> 20);
}

#[tokio::test]
async fn an_answer_that_is_sent_three_times_is_passed_on_once() {
    for attack in [Attack::over_stdio(&["twice"]).await, Attack::over_http(&["twice"]).await] {
        assert_eq!(text(&attack.result().await), "answer");
    }
}
