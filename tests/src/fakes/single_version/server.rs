//! The state and the answers of an upstream that speaks one MCP version.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::{Id, Message, Notification, Outcome, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{SessionVersion, meta, method};
use evermoor_core::protocol::stateless::SUBSCRIPTIONS_ACKNOWLEDGED;
use evermoor_core::protocol::version::ProtocolVersion;

use super::replies;
use super::tasks::Tasks;
use crate::oracle::ledger::Ledger;

/// Its only resource.
pub const NOTE: &str = "note:1";

/// Carries the messages that belong to one request.
pub type MessageSender = mpsc::UnboundedSender<Message>;

/// The server, independent of the transport.
pub struct SingleVersionServer {
    pub protocol_version: ProtocolVersion,
    pub ledger: Ledger,
    /// Notifications for all clients.
    pub notifications: broadcast::Sender<Notification>,
    pub(super) tasks: Tasks,
    pub(super) client: Mutex<ClientState>,
    numbers: AtomicU64,
    /// Whether to refuse the first `server/discover` although the requested version is supported.
    refuses_discover: AtomicBool,
    /// Work that continues even if nobody waits for it.
    pub(super) work: TaskTracker,
}

#[derive(Default)]
pub(super) struct ClientState {
    pub(super) subscribed: BTreeSet<String>,
    pub(super) level: Option<String>,
    /// Whether the additional tool exists.
    pub(super) grown: bool,
    asked: HashMap<Id, oneshot::Sender<Outcome>>,
    under_way: HashMap<Id, CancellationToken>,
}

impl SingleVersionServer {
    pub fn new(protocol_version: ProtocolVersion, ledger: Ledger) -> Arc<Self> {
        let (notifications, _) = broadcast::channel(64);
        let (tasks, client, numbers) = (Tasks::default(), Mutex::default(), AtomicU64::new(1));
        let refuses_discover = AtomicBool::new(ledger.path().with_extension("hesitates").exists());
        let work = TaskTracker::new();
        Arc::new(Self {
            protocol_version,
            ledger,
            notifications,
            tasks,
            client,
            numbers,
            refuses_discover,
            work,
        })
    }

    /// The answer to a request, unless it is cancelled. `headers` are the request's headers.
    pub async fn answer(
        self: Arc<Self>,
        request: Request,
        headers: Value,
        messages: MessageSender,
    ) -> Option<Response> {
        let cancelled = CancellationToken::new();
        self.client.lock().under_way.insert(request.id.clone(), cancelled.clone());
        let id = request.id.clone();
        let outcome =
            cancelled.run_until_cancelled(self.outcome(&request, &headers, &messages)).await;
        self.client.lock().under_way.remove(&id);
        Some(Response { id: Some(id), outcome: outcome? })
    }

    /// Handles a message that needs no answer.
    pub fn receive(&self, message: Message) {
        match message {
            Message::Notification(notification) if notification.method == method::CANCELLED => {
                let named =
                    notification.params.as_ref().and_then(|params| params.member("requestId"));
                let call = named.and_then(Id::from_raw);
                let call = call.and_then(|id| self.client.lock().under_way.remove(&id));
                call.inspect(CancellationToken::cancel);
            }
            Message::Response(Response { id: Some(id), outcome }) => {
                let asked = self.client.lock().asked.remove(&id);
                let _ = asked.map(|asked| asked.send(outcome));
            }
            Message::Notification(_) | Message::Response(_) | Message::Request(_) => {}
        }
    }

    /// Sends a request to the client, as the session versions do.
    pub async fn ask(&self, messages: &MessageSender, called: &str, params: Value) -> Outcome {
        let id = Id::number(1000 + self.numbers.fetch_add(1, Ordering::Relaxed));
        let (send, answered) = oneshot::channel();
        self.client.lock().asked.insert(id.clone(), send);
        let _ = messages.send(Request::new(id, called, Some(Raw::of(&params))).into());
        answered.await.unwrap_or_else(|_| replies::error(-32603, "nobody answered"))
    }

    /// Notifies all clients.
    pub fn notify(&self, method: &str, params: Option<Value>) {
        let params = params.map(|params| Raw::of(&params));
        let _ = self.notifications.send(Notification::new(method, params));
    }

    /// Whether a client with this subscription receives a notification.
    pub fn is_wanted(&self, notification: &Notification, wanted: Option<&Value>) -> bool {
        let uri = notification.params.as_ref().and_then(|params| params.text_member("uri"));
        match (wanted, uri) {
            (None, Some(uri)) => self.client.lock().subscribed.contains(&uri),
            (Some(wanted), Some(uri)) => {
                let asked = wanted["resourceSubscriptions"].as_array();
                asked.is_some_and(|all| all.iter().any(|one| *one == uri.as_str()))
            }
            (Some(wanted), None) if notification.method == List::TOOLS => {
                wanted["toolsListChanged"] == true
            }
            (_, None) => true,
        }
    }

    /// Sends notifications to a 2026-07-28 subscription.
    pub async fn listen(&self, request: &Request, messages: &MessageSender) {
        let mut notifications = self.notifications.subscribe();
        let wanted = replies::params(request)["notifications"].clone();
        self.ledger.record(&format!("listens {}", wanted["resourceSubscriptions"]));
        let marked = |mut params: Value| {
            params["_meta"] = json!({ meta::SUBSCRIPTION: request.id.raw() });
            Some(Raw::of(&params))
        };
        let first = Notification::new(
            SUBSCRIPTIONS_ACKNOWLEDGED,
            marked(json!({ "notifications": wanted })),
        );
        let _ = messages.send(first.into());
        while let Ok(notification) = notifications.recv().await {
            if !self.is_wanted(&notification, Some(&wanted)) {
                continue;
            }
            let params =
                notification.params.map_or(json!({}), |params| params.read().expect("JSON"));
            let notification = Notification { params: marked(params), ..notification };
            if messages.send(notification.into()).is_err() {
                return;
            }
        }
    }

    /// The one refusal of a server that hesitates.
    pub fn discover_refusal(&self, request: &Request) -> Option<Raw> {
        let refuses_discover =
            request.method == method::DISCOVER && self.protocol_version.is_stateless();
        let refuses_discover =
            refuses_discover && self.refuses_discover.swap(false, Ordering::Relaxed);
        let data = json!({ "supported": ["2026-07-28"], "requested": "2026-07-28" });
        let error = json!({ "code": -32022, "message": "not this version", "data": data });
        refuses_discover.then(|| Raw::of(&error))
    }

    async fn outcome(
        &self,
        request: &Request,
        headers: &Value,
        messages: &MessageSender,
    ) -> Outcome {
        if let Some(refusal) = self.refusal(request) {
            self.ledger.record(&format!("refused {}", request.method));
            return refusal;
        }
        if let Some(discover_refusal) = self.discover_refusal(request) {
            return Outcome::Error(discover_refusal);
        }
        let params = replies::params(request);
        let done = |result: Value| Outcome::Result(self.formatted(&request.method, result));
        match request.method.as_str() {
            method::INITIALIZE => Outcome::Result(self.initialize_result()),
            method::DISCOVER => done(replies::discovery()),
            method::PING => done(json!({})),
            method::TOOLS_LIST => done(super::tools::list(self)),
            method::TOOLS_CALL => match self.call(request, headers, messages).await {
                Outcome::Result(result) => done(result.read().expect("JSON")),
                error @ Outcome::Error(_) => error,
            },
            method::RESOURCES_LIST => {
                done(json!({ "resources": [{ "uri": NOTE, "name": "note" }] }))
            }
            method::TEMPLATES_LIST => done(json!({ "resourceTemplates": [] })),
            method::RESOURCES_READ if params["uri"] == NOTE => {
                done(json!({ "contents": [{ "uri": NOTE, "text": "a note" }] }))
            }
            method::RESOURCES_READ => replies::error(
                if self.protocol_version.is_stateless() { -32602 } else { -32002 },
                "no such resource",
            ),
            method::PROMPTS_LIST => done(json!({ "prompts": [{ "name": "greet" }] })),
            method::PROMPTS_GET => {
                let content = json!({ "type": "text", "text": "Hello!" });
                done(json!({ "messages": [{ "role": "user", "content": content }] }))
            }
            method::COMPLETE => {
                let context =
                    if params.get("context").is_some() { "context" } else { "no context" };
                done(json!({ "completion": { "values": [context] } }))
            }
            method::SUBSCRIBE | method::UNSUBSCRIBE => {
                let uri = params["uri"].as_str().unwrap_or_default().to_owned();
                self.ledger.record(&format!("{} {uri}", request.method));
                let mut client = self.client.lock();
                match request.method == method::SUBSCRIBE {
                    true => client.subscribed.insert(uri),
                    false => client.subscribed.remove(&uri),
                };
                done(json!({}))
            }
            method::SET_LEVEL => {
                let level = params["level"].as_str().unwrap_or_default();
                self.ledger.record(&format!("level {level}"));
                self.client.lock().level = Some(level.to_owned());
                done(json!({}))
            }
            method::LISTEN => {
                self.listen(request, messages).await;
                done(json!({}))
            }
            called if called.starts_with("tasks/") => self.about_task(request, messages).await,
            "vendor/echo" => done(params),
            _ => replies::error(-32601, "no such method"),
        }
    }

    /// Refuses a request in another version.
    fn refusal(&self, request: &Request) -> Option<Outcome> {
        let said = replies::params(request)["_meta"].clone();
        let claimed = said[meta::PROTOCOL_VERSION].as_str();
        let older = matches!(
            request.method.as_str(),
            method::INITIALIZE
                | method::PING
                | method::SUBSCRIBE
                | method::UNSUBSCRIBE
                | method::SET_LEVEL
        );
        let newer = matches!(request.method.as_str(), method::DISCOVER | method::LISTEN);
        match self.protocol_version {
            ProtocolVersion::Stateless if older => {
                Some(replies::error(-32601, "not in this version"))
            }
            ProtocolVersion::Stateless if claimed != Some("2026-07-28") => {
                Some(replies::error(-32602, "`_meta` does not say which version"))
            }
            ProtocolVersion::Session(_) if newer => {
                Some(replies::error(-32601, "not in this version"))
            }
            ProtocolVersion::Session(_) if claimed.is_some() => {
                Some(replies::error(-32602, "`_meta` is of another version"))
            }
            ProtocolVersion::Stateless | ProtocolVersion::Session(_) => None,
        }
    }

    fn initialize_result(&self) -> Raw {
        let mut capabilities = replies::capabilities();
        if self.protocol_version == ProtocolVersion::Session(SessionVersion::V2025_11_25) {
            capabilities["tasks"] =
                json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
        }
        Raw::of(&json!({
            "protocolVersion": self.protocol_version.as_str(),
            "capabilities": capabilities,
            "serverInfo": { "name": "era", "version": self.protocol_version.as_str() },
        }))
    }

    /// A result in the format of its version.
    pub(super) fn formatted(&self, called: &str, result: Value) -> Raw {
        Raw::of(&match self.protocol_version {
            ProtocolVersion::Stateless => replies::marked(called, result),
            ProtocolVersion::Session(_) => result,
        })
    }
}

/// Notifications of changed lists.
pub struct List;

impl List {
    pub const TOOLS: &'static str = "notifications/tools/list_changed";
}
