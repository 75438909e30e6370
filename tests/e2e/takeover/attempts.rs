//! Takeovers that fail: the running gateway continues.

use std::path::Path;

use evermoor_core::lifecycle::handover_messages::{
    HANDOVER_VERSION, PredecessorMessage, SuccessorMessage,
};
use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_platform::ipc::handover::{HandoverConnection, HandoverListener};
use evermoor_tests::Scene;
use evermoor_tests::gateway::{Gateway, runtime, written};
use evermoor_tests::scene::freezing;
use evermoor_tests::scene::programs::evermoor;
use serde_json::json;

/// A process that begins a takeover and dies in the middle.
pub(super) struct Taker {
    line: HandoverConnection,
}

impl Taker {
    pub(super) async fn come(home: &Path) -> Self {
        let pid = runtime(home).pid;
        let line = HandoverConnection::connect(&home.join("run/handover.sock"), pid).await.unwrap();
        let mut taker = Self { line };
        assert_eq!(taker.receive().await, Some(PredecessorMessage::Welcome));
        taker
    }

    pub(super) async fn send(&mut self, message: &SuccessorMessage) {
        self.line.sender.say(&serde_json::to_vec(message).unwrap()).await.unwrap();
    }

    pub(super) async fn ask(&mut self, conversation: u32) {
        let (version, acknowledges, shim_socket) = ("9.9.9".into(), false, false);
        let pid = 1;
        let ask = SuccessorMessage::Ask { conversation, version, pid, acknowledges, shim_socket };
        self.send(&ask).await;
    }

    pub(super) async fn receive(&mut self) -> Option<PredecessorMessage> {
        let packet = self.line.receiver.next().await.unwrap()?;
        Some(serde_json::from_slice(&packet.payload).unwrap())
    }
}

#[tokio::test]
async fn a_takeover_that_dies_midway_leaves_the_old_gateway_serving() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut gateway = scene.gateway(&[&upstream]).await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let before = runtime(&scene.home());
    for words in 0..4 {
        let mut taker = Taker::come(&scene.home()).await;
        if words > 0 {
            taker.ask(HANDOVER_VERSION).await;
        }
        if words > 1 {
            // It holds the socket and the lock when it dies.
            assert_eq!(taker.receive().await, Some(PredecessorMessage::Granted));
        }
        if words > 2 {
            taker.send(&SuccessorMessage::Ready).await;
            assert!(matches!(taker.receive().await, Some(PredecessorMessage::Go { .. })));
        }
        drop(taker);
        let nonce = format!("after {words} words");
        editor.call("record", &json!({ "nonce": nonce })).await;
        gateway.editor("/mcp").await;
        assert_eq!(upstream.ledger.executions(&nonce), 1);
        assert_eq!(runtime(&scene.home()), before);
        assert!(gateway.process.is_running());
    }
    let next = Gateway::take_over(&scene.home()).await;
    assert!(gateway.process.ended().await.success(), "a whole one still succeeds");
    assert_eq!(next.origin, before.origin);
}

#[tokio::test]
async fn a_takeover_that_dies_late_leaves_the_old_gateway_its_files() {
    let scene = Scene::new();
    let mut gateway = scene.gateway(&[]).await;
    let before = runtime(&scene.home());
    let mut taker = Taker::come(&scene.home()).await;
    taker.ask(HANDOVER_VERSION).await;
    taker.receive().await;
    taker.send(&SuccessorMessage::Ready).await;
    taker.receive().await;
    let file = scene.home().join("run/gateway.json");
    let other = serde_json::to_vec(&RuntimeFile { pid: 1, ..before.clone() }).unwrap();
    evermoor_platform::fs::private::write_private(&file, &other).unwrap();
    let stand = HandoverListener::open(&scene.home().join("run/handover.sock")).unwrap();
    drop((stand, taker));
    written(&file, &other).await;
    assert_eq!(runtime(&scene.home()), before);
    gateway.editor("/mcp").await;
    let _next = Gateway::take_over(&scene.home()).await;
    assert!(gateway.process.ended().await.success());
}

#[tokio::test]
async fn a_subscription_made_during_a_failed_takeover_is_kept() {
    let scene = Scene::new();
    let program = evermoor_tests::fakes::program::Program::new(
        "notes",
        scene.path("notes.ledger"),
        &["social"],
    );
    let mut gateway = scene.gateway_of("", &program.entry()).await;
    gateway.until_connected("notes").await;
    let mut editor = gateway.editor("/mcp/notes").await;
    let mut taker = Taker::come(&scene.home()).await;
    taker.ask(HANDOVER_VERSION).await;
    taker.receive().await;
    taker.send(&SuccessorMessage::Ready).await;
    taker.receive().await;
    // The gateway may not write anything now, and the editor does not notice.
    editor.ask("resources/subscribe", &json!({ "uri": "note:1" })).await;
    let file = scene.home().join("data/sessions.json");
    assert!(!file.exists());
    drop(taker);
    written(&file, b"").await;
    assert!(std::fs::read_to_string(&file).unwrap().contains("note:1"));
    assert!(gateway.process.is_running());
}

#[tokio::test]
async fn two_concurrent_takeovers_are_handled_one_after_the_other() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    let mut old = scene.gateway(&[&upstream]).await;
    let mut editor = old.editor("/mcp/notes").await;
    let home = scene.home();
    let (mut one, mut other) = tokio::join!(Gateway::take_over(&home), Gateway::take_over(&home));
    assert!(old.process.ended().await.success());
    let last = runtime(&home).pid;
    let (first, second) = match one.process.pid() == last {
        true => (&mut other, &mut one),
        false => (&mut one, &mut other),
    };
    assert!(first.process.ended().await.success());
    assert!(second.process.is_running());
    editor.call("record", &json!({ "nonce": "after" })).await;
    assert_eq!(upstream.ledger.executions("after"), 1);
}

#[tokio::test]
async fn a_takeover_with_another_handover_version_is_refused() {
    let scene = Scene::new();
    let gateway = scene.gateway(&[]).await;
    let mut taker = Taker::come(&scene.home()).await;
    taker.ask(HANDOVER_VERSION + 1).await;
    let refused = taker.receive().await;
    assert!(
        matches!(&refused, Some(PredecessorMessage::Refused { why }) if why.contains("9.9.9")),
        "{refused:?}"
    );
    gateway.editor("/mcp").await;
}

#[tokio::test]
async fn a_gateway_that_does_not_answer_is_left_alone_and_a_person_is_told_what_to_do() {
    let scene = Scene::new();
    let mut gateway = scene.gateway(&[]).await;
    gateway.until_connected("demo").await;
    let mut editor = gateway.editor("/mcp").await;
    freezing::freeze(gateway.process.pid());
    let mut command = evermoor(&scene.home());
    let refused = command.args(["serve", "--takeover"]).output().await.unwrap();
    freezing::thaw(gateway.process.pid());
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(
        said.contains("Taking over from the running gateway failed: it did not answer in time."),
        "{said}"
    );
    assert!(said.contains("It keeps serving."), "{said}");
    editor.call("demo__echo", &json!({ "text": "still here" })).await;
    assert!(gateway.process.is_running());
}
