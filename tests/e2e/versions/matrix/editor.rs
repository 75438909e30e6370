//! An editor of one MCP version: it sends requests in its version, and answers the server's
//! requests.

use std::collections::{HashMap, VecDeque};

use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_tests::editor::wire::request;
use evermoor_tests::gateway::Gateway;
use serde_json::{Value, json};

use super::connection::{MatrixConnection, MatrixRoute};

const META: &str = "io.modelcontextprotocol/";

pub(crate) struct MatrixEditor {
    pub(crate) protocol_version: ProtocolVersion,
    connection: MatrixConnection,
    number: u64,
    /// Sent requests, to be repeated with the input they need.
    sent: HashMap<u64, (String, Value)>,
    answers: HashMap<u64, Value>,
    notifications: VecDeque<Value>,
    /// The requests it received, in order.
    pub(crate) questions: Vec<Value>,
}

impl MatrixEditor {
    pub(crate) async fn open(
        gateway: &Gateway,
        upstream: &str,
        protocol_version: ProtocolVersion,
        route: MatrixRoute,
    ) -> Self {
        let connection = match route {
            MatrixRoute::Sse => MatrixConnection::sse(gateway, upstream).await,
            MatrixRoute::Http => {
                MatrixConnection::http(
                    gateway,
                    upstream,
                    protocol_version,
                    capabilities(protocol_version),
                )
                .await
            }
            MatrixRoute::Shim => MatrixConnection::shim(gateway, upstream),
        };
        let (sent, answers, notifications) = (HashMap::new(), HashMap::new(), VecDeque::new());
        let questions = Vec::new();
        let mut editor = Self {
            protocol_version,
            connection,
            number: 0,
            sent,
            answers,
            notifications,
            questions,
        };
        if route != MatrixRoute::Http && !protocol_version.is_stateless() {
            let params = json!({
                "protocolVersion": protocol_version.as_str(),
                "capabilities": capabilities(protocol_version),
                "clientInfo": { "name": "matrix", "version": "1" },
            });
            let introduced = editor.ask("initialize", params).await;
            assert_eq!(introduced["protocolVersion"], protocol_version.as_str());
            editor.tell("notifications/initialized", json!({})).await;
        }
        editor
    }

    /// Sends a request and returns its id for [`answer`](Self::answer).
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.number += 1;
        let mut worded = params.clone();
        if self.protocol_version.is_stateless() {
            worded["_meta"][format!("{META}protocolVersion")] =
                self.protocol_version.as_str().into();
            worded["_meta"][format!("{META}clientCapabilities")] =
                capabilities(self.protocol_version);
            let client = json!({ "name": "matrix", "version": "1" });
            worded["_meta"][format!("{META}clientInfo")] = client;
        }
        self.sent.insert(self.number, (method.to_owned(), params));
        self.connection.send(&request(self.number, method, worded)).await;
        self.number
    }

    /// The result of a request, after all the input it needed was given.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        let mut id = id;
        loop {
            let (method, mut params) = self.sent[&id].clone();
            while !self.answers.contains_key(&id) {
                self.take().await;
            }
            let answer = self.answers.remove(&id).expect("it was just seen");
            let result = answer.get("result").unwrap_or_else(|| panic!("{method}: {answer}"));
            let marked = result.get("resultType").is_some();
            assert_eq!(marked, self.protocol_version.is_stateless(), "{method}: {answer}");
            if result["resultType"] != "input_required" {
                return result.clone();
            }
            let needed = result["inputRequests"].as_object().cloned().unwrap_or_default();
            self.questions.extend(needed.values().cloned());
            let given = needed.iter().map(|(key, asked)| (key.clone(), reply(asked)));
            params["inputResponses"] = given.collect();
            params["requestState"] = result["requestState"].clone();
            id = self.begin(&method, params).await;
        }
    }

    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// Calls a tool with a nonce.
    pub(crate) async fn call(&mut self, tool: &str, nonce: &str) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": { "nonce": nonce } })).await
    }

    /// The next notification that satisfies `wanted`. Others are kept.
    pub(crate) async fn receive(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(index) = self.notifications.iter().position(&wanted) {
                return self.notifications.remove(index).expect("it was just seen");
            }
            self.take().await;
        }
    }

    /// Cancels a request in the way of its version.
    pub(crate) async fn cancel(&mut self, id: u64) {
        let closes = self.protocol_version.is_stateless() && self.connection.hang_up(id);
        if !closes {
            self.tell("notifications/cancelled", json!({ "requestId": id })).await;
        }
    }

    async fn tell(&mut self, method: &str, params: Value) {
        let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.connection.send(&notification).await;
    }

    /// Handles the next message.
    async fn take(&mut self) {
        let message = self.connection.next().await;
        if message.get("method").is_none() {
            let id = message["id"].as_u64();
            let id = id.unwrap_or_else(|| panic!("an answer to nothing: {message}"));
            self.answers.insert(id, message);
        } else if let Some(id) = message.get("id") {
            let reply_message = json!({ "jsonrpc": "2.0", "id": id, "result": reply(&message) });
            self.connection.send(&reply_message).await;
            self.questions.push(message);
        } else {
            self.notifications.push_back(message);
        }
    }
}

/// The capabilities of an editor of this version.
fn capabilities(protocol_version: ProtocolVersion) -> Value {
    let mut capabilities = json!({ "sampling": {}, "roots": {} });
    if protocol_version.knows(SessionVersion::V2025_11_25) {
        capabilities["elicitation"] = json!({ "form": {}, "url": {} });
    } else if protocol_version.knows(SessionVersion::V2025_06_18) {
        capabilities["elicitation"] = json!({});
    }
    if protocol_version.is_stateless() {
        capabilities["extensions"] = json!({ format!("{META}tasks"): {} });
    }
    capabilities
}

/// The editor's answer to a server's request.
pub(crate) fn reply(asked: &Value) -> Value {
    match asked["method"].as_str() {
        Some("sampling/createMessage") => {
            let content = json!({ "type": "text", "text": "Something." });
            json!({ "role": "assistant", "model": "m", "content": content })
        }
        Some("elicitation/create") if asked["params"]["mode"] == "url" => {
            json!({ "action": "accept" })
        }
        Some("elicitation/create") => json!({ "action": "accept", "content": { "name": "Ada" } }),
        Some("roots/list") => json!({ "roots": [{ "uri": "file:///here" }] }),
        Some("ping") => json!({}),
        other => panic!("asked for {other:?}: {asked}"),
    }
}
