//! The editors: they call without a pause, and their answers are compared with the ledgers.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use evermoor_tests::editor::Editor;
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::gateway::Gateway;
use evermoor_tests::oracle::ledger::Ledger;
use evermoor_tests::oracle::{self, RecordedCall};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The pause between two calls of an editor: ten editors leave a small machine some time for the gateway.
const PACE: Duration = Duration::from_millis(10);
/// The upstream that is never broken.
const STEADY: &str = "steady";

/// All editors, and their answers since the last check.
pub(crate) struct SoakEditors {
    calls: Arc<Mutex<Vec<RecordedCall>>>,
    ledgers: [Ledger; 6],
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
    figures: Figures,
}

/// The result.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) faults: usize,
    pub(crate) calls: usize,
    done: usize,
    not_sent: usize,
    unknown: usize,
    /// Answers that contradict the ledger.
    wrong: Vec<String>,
    doubled: usize,
    /// Answers with the nonce of another call.
    swapped: usize,
    pub(crate) unanswered: usize,
    slowest_steady: Duration,
    /// Descriptors, and memory in KiB.
    pub(crate) at_start: Option<(usize, u64)>,
    pub(crate) at_end: Option<(usize, u64)>,
}

impl SoakEditors {
    /// Ten editors: over HTTP and through the shim, for one upstream and for all of them.
    pub(crate) async fn attach(gateway: &Gateway, ledgers: [Ledger; 6]) -> Self {
        let mut editors = Self {
            calls: Arc::default(),
            ledgers,
            tasks: JoinSet::new(),
            stop: watch::Sender::new(false),
            figures: Figures::default(),
        };
        let alone = ["steady", "first", "second", "stateless", "events", "program"];
        for name in alone {
            let editor = gateway.editor(&format!("/mcp/{name}")).await;
            editors.add(editor, &[(name, tool(name).to_owned())]);
        }
        for name in ["first", "program"] {
            let editor = gateway.editor_over_shim(Some(name)).await;
            editors.add(editor, &[(name, tool(name).to_owned())]);
        }
        let merged = alone.map(|name| (name, format!("{name}__{}", tool(name))));
        let over_http = gateway.editor("/mcp").await.without_keepalive();
        editors.add(over_http, &merged);
        editors.add(gateway.editor_over_shim(None).await, &merged);
        editors
    }

    fn add(&mut self, mut editor: Editor, tools: &[(&'static str, String)]) {
        let (number, tools) = (self.tasks.len(), tools.to_vec());
        let (calls, stop) = (Arc::clone(&self.calls), self.stop.subscribe());
        self.tasks.spawn(async move {
            for (count, (upstream, tool)) in tools.iter().cycle().enumerate() {
                if *stop.borrow() {
                    return;
                }
                let nonce = format!("{upstream} editor {number} call {count}");
                let began = Instant::now();
                let answer = editor.attempt(tool, &nonce).await;
                calls.lock().push(RecordedCall { nonce, answer, took: began.elapsed() });
                tokio::time::sleep(PACE).await;
            }
        });
    }

    /// Compares the answers so far with the ledgers, and forgets them.
    pub(crate) fn check(&mut self) {
        let calls = std::mem::take(&mut *self.calls.lock());
        let mut executed: HashMap<String, usize> = HashMap::new();
        for ledger in &self.ledgers {
            executed.extend(ledger.all());
        }
        let figures = &mut self.figures;
        for call in &calls {
            let executions = executed.get(&call.nonce).copied().unwrap_or_default();
            figures.wrong.extend(oracle::contradiction(&call.nonce, &call.answer, executions));
            figures.doubled += usize::from(executions > 1);
            match call.answer.verdict {
                Verdict::Done => {
                    figures.done += 1;
                    figures.swapped += usize::from(call.answer.text != call.nonce);
                }
                Verdict::NotSent { .. } => figures.not_sent += 1,
                Verdict::Unknown { .. } => figures.unknown += 1,
                Verdict::Executed { .. } | Verdict::Refused { .. } => {}
            }
            if call.nonce.starts_with(STEADY) {
                figures.slowest_steady = figures.slowest_steady.max(call.took);
            }
        }
        figures.calls += calls.len();
    }

    /// Lets every editor finish its call. An editor whose call is never answered panics.
    pub(crate) async fn stop(&mut self) {
        self.stop.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            self.figures.unanswered += usize::from(ended.is_err());
        }
    }

    pub(crate) fn figures(mut self) -> Figures {
        self.check();
        self.figures
    }
}

/// The tool that records its call, as the two kinds of fake upstreams name it.
fn tool(upstream: &str) -> &'static str {
    match upstream {
        "stateless" | "events" => "echo",
        _ => "record",
    }
}

impl Figures {
    /// Whether every promise held. Memory is judged by the reader: it depends on the length of the run.
    pub(crate) fn are_good(&self) -> bool {
        let descriptors = self.at_start.zip(self.at_end);
        self.wrong.is_empty()
            && self.doubled + self.swapped + self.unanswered == 0
            && self.done > 0
            && descriptors.is_none_or(|((start, _), (end, _))| end <= start + 2)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for wrong in self.wrong.iter().take(20) {
            writeln!(f, "WRONG: {wrong}")?;
        }
        let Self { calls, done, not_sent, unknown, faults, .. } = self;
        write!(
            f,
            "calls {calls} (done {done}, not sent {not_sent}, unknown {unknown}), faults {faults}: "
        )?;
        let lost = self.wrong.len();
        let (doubled, swapped, unanswered) = (self.doubled, self.swapped, self.unanswered);
        write!(f, "lost {lost}, doubled {doubled}, swapped {swapped}, unanswered {unanswered}; ")?;
        if let Some(((open, memory), (open_after, memory_after))) = self.at_start.zip(self.at_end) {
            write!(f, "descriptors {open} at start, {open_after} at end; ")?;
            write!(f, "memory {memory} KiB at start, {memory_after} KiB at end; ")?;
        }
        write!(f, "slowest call to the upstream that never failed: {:?}", self.slowest_steady)
    }
}
