//! What an editor does with a server, whatever versions the two speak.

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_tests::fakes::program::until_gone;
use evermoor_tests::fakes::single_version::{FakeTransport, SingleVersionUpstream};
use evermoor_tests::scene::wait::until;
use serde_json::{Value, json};

use super::editor::{MatrixEditor, reply};
use super::table::Feature;

/// An editor of one version and a server of one version, with the gateway between them.
pub(crate) struct Cell {
    pub(crate) upstream: SingleVersionUpstream,
    pub(crate) editor: MatrixEditor,
}

impl Cell {
    pub(crate) async fn has(&mut self, feature: Feature) {
        match feature {
            Feature::Lists => self.lists().await,
            Feature::Call => self.call().await,
            Feature::Progress => self.progress().await,
            Feature::Cancel => self.cancel().await,
            Feature::Logging => self.logging().await,
            Feature::Completion => self.completion().await,
            Feature::Subscription => self.subscription().await,
            Feature::Sampling => self.question("sample", "sampling/createMessage").await,
            Feature::Form => self.question("ask", "elicitation/create").await,
            Feature::Url => self.question("link", "elicitation/create").await,
            Feature::Roots => self.question("roots", "roots/list").await,
            Feature::Tasks => self.tasks().await,
            Feature::Kill => self.kill().await,
        }
    }

    async fn lists(&mut self) {
        if self.editor.protocol_version.is_stateless() {
            let found = self.editor.ask("server/discover", json!({})).await;
            assert!(found["capabilities"].get("tools").is_some(), "{found}");
        }
        for (list, member, key, one) in [
            ("tools/list", "tools", "name", "echo"),
            ("prompts/list", "prompts", "name", "greet"),
            ("resources/list", "resources", "uri", "note:1"),
        ] {
            let listed = self.editor.ask(list, json!({})).await;
            let all = listed[member].as_array().unwrap_or_else(|| panic!("{list}: {listed}"));
            assert!(all.iter().any(|entry| entry[key] == one), "{list}: {listed}");
        }
        let templates = self.editor.ask("resources/templates/list", json!({})).await;
        assert_eq!(templates["resourceTemplates"], json!([]));
        let read = self.editor.ask("resources/read", json!({ "uri": "note:1" })).await;
        assert_eq!(read["contents"][0]["text"], "a note", "{read}");
        let got = self.editor.ask("prompts/get", json!({ "name": "greet" })).await;
        assert_eq!(got["messages"][0]["content"]["text"], "Hello!", "{got}");
    }

    async fn call(&mut self) {
        let result = self.editor.call("echo", "called").await;
        assert_eq!(text(&result), "called");
        assert_eq!(self.upstream.ledger.executions("called"), 1);
    }

    async fn progress(&mut self) {
        let meta = json!({ "progressToken": "mine" });
        let result = self.editor.ask("tools/call", json!({ "name": "steps", "_meta": meta })).await;
        assert_eq!(text(&result), "stepped");
        for step in 1..=3 {
            let notification = self
                .editor
                .receive(|notification| notification["method"] == "notifications/progress")
                .await;
            let (token, seen) =
                (&notification["params"]["progressToken"], &notification["params"]["progress"]);
            assert_eq!(
                (token, seen.as_f64()),
                (&json!("mine"), Some(f64::from(step))),
                "{notification}"
            );
        }
    }

    async fn cancel(&mut self) {
        let params = json!({ "name": "wait", "arguments": { "nonce": "unwanted" } });
        let id = self.editor.begin("tools/call", params).await;
        self.upstream.ledger.until_executed("unwanted").await;
        self.editor.cancel(id).await;
        self.upstream.ledger.until_executed("cancelled unwanted").await;
    }

    async fn logging(&mut self) {
        let mut params = json!({ "name": "log", "arguments": { "nonce": "told" } });
        if self.editor.protocol_version.is_stateless() {
            params["_meta"] = json!({ "io.modelcontextprotocol/logLevel": "info" });
        } else {
            self.editor.ask("logging/setLevel", json!({ "level": "info" })).await;
        }
        self.editor.ask("tools/call", params).await;
        let notification = self
            .editor
            .receive(|notification| notification["method"] == "notifications/message")
            .await;
        assert_eq!(notification["params"]["data"], "told", "{notification}");
    }

    /// With the arguments filled in before, if both versions support that.
    async fn completion(&mut self) {
        let reference = json!({ "type": "ref/prompt", "name": "greet" });
        let mut params = json!({ "ref": reference, "argument": { "name": "x", "value": "" } });
        if self.editor.protocol_version.knows(SessionVersion::V2025_06_18) {
            params["context"] = json!({ "arguments": {} });
        }
        let both = self
            .editor
            .protocol_version
            .min(self.upstream.protocol_version)
            .knows(SessionVersion::V2025_06_18);
        let seen = if both { "context" } else { "no context" };
        let result = self.editor.ask("completion/complete", params).await;
        assert_eq!(result["completion"]["values"], json!([seen]));
    }

    /// The subscription stays active.
    async fn subscription(&mut self) {
        if self.editor.protocol_version.is_stateless() {
            let wanted = json!({ "toolsListChanged": true, "resourceSubscriptions": ["note:1"] });
            let params = json!({ "notifications": wanted });
            self.editor.begin("subscriptions/listen", params).await;
            let first = "notifications/subscriptions/acknowledged";
            let notification =
                self.editor.receive(|notification| notification["method"] == first).await;
            assert_eq!(notification["params"]["notifications"], wanted, "{notification}");
        } else {
            self.editor.ask("resources/subscribe", json!({ "uri": "note:1" })).await;
        }
        self.until_subscribed((0, 0)).await;
        self.touched("touched").await;
        self.editor.call("grow", "grown").await;
        let changed = "notifications/tools/list_changed";
        self.editor.receive(|notification| notification["method"] == changed).await;
    }

    async fn touched(&mut self, nonce: &str) {
        self.editor.call("touch", nonce).await;
        let updated = "notifications/resources/updated";
        let notification =
            self.editor.receive(|notification| notification["method"] == updated).await;
        assert_eq!(notification["params"]["uri"], "note:1", "{notification}");
    }

    /// How often the server received a subscription to the resource, and a request for a
    /// notification stream.
    fn subscriptions(&self) -> (usize, usize) {
        let ledger = &self.upstream.ledger;
        match self.upstream.protocol_version.is_stateless() {
            true => (ledger.executions("listens [\"note:1\"]"), usize::MAX),
            false => {
                let streams = match self.upstream.transport {
                    FakeTransport::Http => ledger.executions("notification stream"),
                    FakeTransport::Sse | FakeTransport::Stdio => usize::MAX,
                };
                (ledger.executions("resources/subscribe note:1"), streams)
            }
        }
    }

    async fn until_subscribed(&self, before: (usize, usize)) {
        until("a subscription at the server", || {
            let (subscriptions, streams) = self.subscriptions();
            subscriptions > before.0 && (streams > before.1 || streams == usize::MAX)
        })
        .await;
    }

    /// The server asks for input in the middle of a call, and the same call continues with the
    /// answer.
    async fn question(&mut self, tool: &str, method: &str) {
        self.editor.questions.clear();
        let result = self.editor.call(tool, tool).await;
        let [asked] = &self.editor.questions[..] else { panic!("{:?}", self.editor.questions) };
        assert_eq!(asked["method"], method, "{asked}");
        let said: Value = serde_json::from_str(text(&result)).expect("the answer, as text");
        assert_eq!(said, reply(asked));
        assert_eq!(self.upstream.ledger.executions(tool), 1, "the call was made once");
    }

    async fn tasks(&mut self) {
        let made = self.task("followed").await;
        self.upstream.ledger.release("followed");
        let result = if self.editor.protocol_version.is_stateless() {
            let mut state = json!({});
            while state["status"] != "completed" {
                state = self.editor.ask("tasks/get", made.clone()).await;
            }
            state["result"].clone()
        } else {
            self.editor.ask("tasks/result", made).await
        };
        assert_eq!(text(&result), "followed");
        let made = self.task("given up").await;
        self.editor.ask("tasks/cancel", made).await;
        self.upstream.ledger.until_executed("cancelled given up").await;
    }

    /// A call that became a task and is running.
    async fn task(&mut self, nonce: &str) -> Value {
        let mut params = json!({ "name": "slow", "arguments": { "nonce": nonce } });
        if !self.editor.protocol_version.is_stateless() {
            params["task"] = json!({ "ttl": 60_000 });
        }
        let made = self.editor.ask("tools/call", params).await;
        let task = if self.editor.protocol_version.is_stateless() { &made } else { &made["task"] };
        assert_eq!(task["status"], "working", "{made}");
        let about = json!({ "taskId": task["taskId"] });
        let state = self.editor.ask("tasks/get", about.clone()).await;
        assert_eq!(state["status"], "working", "{state}");
        about
    }

    /// The server dies during one call and is down for the next. The outcome of the first is
    /// unknown, the second is held, and the subscription survives.
    async fn kill(&mut self) {
        let params =
            |tool: &str, nonce: &str| json!({ "name": tool, "arguments": { "nonce": nonce } });
        let cut = self.editor.begin("tools/call", params("wait", "cut")).await;
        self.upstream.ledger.until_executed("cut").await;
        let before = self.subscriptions();
        if self.upstream.transport == FakeTransport::Stdio {
            let life = *self.upstream.pids().last().expect("it lives");
            evermoor_platform::process::spawn::kill(life).expect("it is ours");
            until_gone(life).await;
        } else {
            self.upstream.kill().await;
        }
        let result = self.editor.answer(cut).await;
        assert_eq!(result["_meta"]["dev.evermoor/outcome"]["outcome"], "unknown", "{result}");
        let held = self.editor.begin("tools/call", params("echo", "held")).await;
        if self.upstream.transport != FakeTransport::Stdio {
            self.upstream.start_again().await;
        }
        assert_eq!(text(&self.editor.answer(held).await), "held");
        let ledger = &self.upstream.ledger;
        assert_eq!((ledger.executions("cut"), ledger.executions("held")), (1, 1));
        self.until_subscribed(before).await;
        self.touched("touched again").await;
    }
}

/// The text of a tool's result.
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}
