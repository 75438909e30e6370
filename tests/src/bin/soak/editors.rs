//! Ten editors call without a pause, each call with its own nonce.

use std::sync::Arc;
use std::time::Duration;

use evermoor_tests::editor::answer::CallAnswer;
use evermoor_tests::gateway::Gateway;
use parking_lot::Mutex;
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::clients::{BrokenConnection, CallingEditor, HttpEditor, SseEditor};

/// The pause between two calls of an editor: ten editors leave a small machine some time for the gateway.
const PACE: Duration = Duration::from_millis(10);
/// How long the calls in flight may take when the editors are to rest.
const LAST_CALLS: Duration = Duration::from_secs(60);
/// The upstream that is never broken.
pub(crate) const STEADY: &str = "steady";
pub(crate) const UPSTREAMS: [&str; 6] =
    [STEADY, "first", "second", "stateless", "events", "program"];

/// A call and how it ended.
pub(crate) struct EndedCall {
    pub(crate) nonce: CallNonce,
    pub(crate) end: Result<CallAnswer, BrokenConnection>,
    pub(crate) began: Instant,
    pub(crate) took: Duration,
}

/// What a call records: its upstream, its editor, and which of the editor's calls it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallNonce {
    pub(crate) upstream: String,
    pub(crate) editor: usize,
    pub(crate) call: usize,
}

impl CallNonce {
    /// The nonce in a line of a ledger, if it is one.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let upstream = words.next()?.to_owned();
        let (editor, call) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        words.next().is_none().then_some(Self { upstream, editor, call })
    }
}

impl std::fmt::Display for CallNonce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.upstream, self.editor, self.call)
    }
}

/// All editors, and their calls since the last check.
pub(crate) struct SoakEditors {
    ended: Arc<Mutex<Vec<EndedCall>>>,
    tasks: JoinSet<()>,
    /// Each call holds it for reading. Whoever holds it for writing lets the editors rest.
    calling: Arc<RwLock<()>>,
}

impl SoakEditors {
    /// Three editors with a session, three 2026-07-28 editors, two over HTTP+SSE and two through the shim; for
    /// one upstream and for all of them.
    pub(crate) async fn attach(gateway: &Gateway) -> Self {
        let mut editors =
            Self { ended: Arc::default(), tasks: JoinSet::new(), calling: Arc::default() };
        for name in [STEADY, "program"] {
            let editor = HttpEditor::with_session(gateway, &format!("/mcp/{name}"), true).await;
            editors.add(CallingEditor::Http(editor), &alone(name));
        }
        let without_keepalive = HttpEditor::with_session(gateway, "/mcp", false).await;
        editors.add(CallingEditor::Http(without_keepalive), &merged());
        for name in [STEADY, "second"] {
            let editor = HttpEditor::stateless(gateway, &format!("/mcp/{name}"));
            editors.add(CallingEditor::Http(editor), &alone(name));
        }
        editors.add(CallingEditor::Http(HttpEditor::stateless(gateway, "/mcp")), &merged());
        editors.add(CallingEditor::Sse(SseEditor::to(gateway, "/sse/first")), &alone("first"));
        editors.add(CallingEditor::Sse(SseEditor::to(gateway, "/sse")), &merged());
        let shim = gateway.editor_over_shim(Some("second")).await;
        editors.add(CallingEditor::Shim(shim), &alone("second"));
        editors.add(CallingEditor::Shim(gateway.editor_over_shim(None).await), &merged());
        editors
    }

    fn add(&mut self, mut editor: CallingEditor, tools: &[(&'static str, String)]) {
        let (number, tools) = (self.tasks.len(), tools.to_vec());
        let (ended, calling) = (Arc::clone(&self.ended), Arc::clone(&self.calling));
        self.tasks.spawn(async move {
            for (call, (upstream, tool)) in tools.iter().cycle().enumerate() {
                let permission = calling.read().await;
                let nonce = CallNonce { upstream: (*upstream).to_owned(), editor: number, call };
                let began = Instant::now();
                let end = editor.attempt(tool, &nonce.to_string()).await;
                ended.lock().push(EndedCall { nonce, end, began, took: began.elapsed() });
                drop(permission);
                sleep(PACE).await;
            }
        });
    }

    /// Lets the calls in flight end and the editors rest until the value is dropped. `None` if a call does
    /// not end.
    pub(crate) async fn rest(&self) -> Option<OwnedRwLockWriteGuard<()>> {
        timeout(LAST_CALLS, Arc::clone(&self.calling).write_owned()).await.ok()
    }

    /// The calls since the last time.
    pub(crate) fn ended_calls(&self) -> Vec<EndedCall> {
        std::mem::take(&mut *self.ended.lock())
    }

    /// How many editors gave up: a call through the shim was not answered, or an answer was not for its call.
    pub(crate) fn given_up(&mut self) -> usize {
        std::iter::from_fn(|| self.tasks.try_join_next()).count()
    }
}

fn alone(upstream: &'static str) -> [(&'static str, String); 1] {
    [(upstream, tool(upstream).to_owned())]
}

fn merged() -> [(&'static str, String); 6] {
    UPSTREAMS.map(|name| (name, format!("{name}__{}", tool(name))))
}

/// The tool that records its call, as the two kinds of fake upstreams name it.
fn tool(upstream: &str) -> &'static str {
    match upstream {
        "stateless" | "events" => "echo",
        _ => "record",
    }
}
