//! A server in memory with one tool, and what waits for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Id, Message, Notification, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{Handshake, method};

use super::context;
use crate::system::clock::ClockAndRandom;
use crate::upstream::transport::connection::{Connected, Connection};
use crate::upstream::transport::connector::Connect;
use crate::upstream::transport::duplex;
use crate::upstream::transport::duplex::{Inbox, Outgoing};
use crate::upstream::{LinkState, UpstreamHandle};

/// A server with one tool, which is named after how often it was changed.
#[derive(Clone)]
pub(super) struct Server {
    connects: Arc<AtomicU32>,
    /// Why it refuses connections, if it does.
    refuses: Arc<Mutex<Option<Code>>>,
    /// How often the list was read.
    listed: watch::Sender<u32>,
    tool: Arc<AtomicU32>,
    /// The methods that it does not answer.
    silent: Arc<Mutex<Vec<&'static str>>>,
    /// The requests that it has not answered, with where their answers go.
    unanswered: Arc<Mutex<Vec<(Request, Inbox)>>>,
    inbox: Arc<Mutex<Option<Inbox>>>,
    tasks: TaskTracker,
}

impl Server {
    pub(super) fn new() -> Self {
        Self {
            connects: Arc::default(),
            refuses: Arc::default(),
            listed: watch::Sender::new(0),
            tool: Arc::default(),
            silent: Arc::default(),
            unanswered: Arc::default(),
            inbox: Arc::default(),
            tasks: TaskTracker::new(),
        }
    }

    /// An upstream that is connected to this server, over HTTP as far as its configuration says.
    pub(super) async fn connected(&self) -> UpstreamHandle {
        self.connected_as("url = \"http://127.0.0.1:1/mcp\"").await
    }

    /// An upstream with these settings that is connected to this server.
    pub(super) async fn connected_as(&self, settings: &str) -> UpstreamHandle {
        let config = Config::parse(&format!("[upstreams.a]\n{settings}\n")).unwrap();
        let began = Instant::now();
        let now = move || SystemTime::UNIX_EPOCH + began.elapsed();
        let context = context(&config, self.tasks.clone(), ClockAndRandom::new(|| 0, now));
        let upstream = config.upstreams[0].clone();
        let (connector, stop) = (self.clone(), CancellationToken::new());
        let handle = UpstreamHandle::start_with(upstream, connector, None, &context, stop);
        handle.until_ready().await;
        handle
    }

    pub(super) fn stop_answering(&self, method: &'static str) {
        self.silent.lock().push(method);
    }

    pub(super) fn answer_everything(&self) {
        self.silent.lock().clear();
    }

    /// Answers what it has not answered, in the order in which it came, and everything from now on.
    pub(super) fn catch_up(&self) {
        self.answer_everything();
        for (request, inbox) in std::mem::take(&mut *self.unanswered.lock()) {
            self.answer(request, &inbox);
        }
    }

    /// Waits until it has received a request that it does not answer.
    pub(super) async fn until_unanswered(&self, method: &str) {
        while !self.unanswered.lock().iter().any(|(request, _)| request.method == method) {
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// Reports progress of the calls that it has not answered.
    pub(super) fn report_progress(&self) {
        for (request, inbox) in self.unanswered.lock().iter() {
            let params = serde_json::json!({ "progressToken": request.id.raw(), "progress": 1 });
            let progress = Notification::new(method::PROGRESS, Some(Raw::of(&params)));
            inbox.deliver(progress.into(), None);
        }
    }

    /// The current connection, as the server has it.
    pub(super) fn inbox(&self) -> Inbox {
        self.inbox.lock().clone().expect("it is connected")
    }

    /// Breaks the connection and refuses others.
    pub(super) fn refuse(&self, code: Code) {
        *self.refuses.lock() = Some(code);
        let gone = Failure::new(Code::ConnectionLost, "It went away.", "Wait.");
        self.inbox.lock().as_ref().expect("it is connected").close(gone);
    }

    /// Changes the tool without saying so.
    pub(super) fn change_tool_silently(&self) {
        self.tool.fetch_add(1, Ordering::SeqCst);
    }

    /// Changes the tool and says so.
    pub(super) fn change_tool(&self) {
        self.change_tool_silently();
        let changed = Notification::new("notifications/tools/list_changed", None);
        self.inbox.lock().as_ref().expect("it is connected").deliver(changed.into(), None);
    }

    pub(super) async fn until_listed(&self, times: u32) {
        self.listed.subscribe().wait_for(|listed| *listed >= times).await.unwrap();
    }

    pub(super) fn lists(&self) -> u32 {
        *self.listed.borrow()
    }

    pub(super) fn connects(&self) -> u32 {
        self.connects.load(Ordering::SeqCst)
    }

    async fn serve(self, mut received: mpsc::Receiver<Outgoing>, inbox: Inbox) {
        while let Some(Outgoing { text, receipt }) = received.recv().await {
            receipt.send(Ok(()));
            let Ok(Message::Request(request)) = Message::parse(&text) else { continue };
            if request.method == method::TOOLS_LIST {
                self.listed.send_modify(|listed| *listed += 1);
            }
            if self.silent.lock().contains(&request.method.as_str()) {
                self.unanswered.lock().push((request, inbox.clone()));
                continue;
            }
            self.answer(request, &inbox);
        }
    }

    fn answer(&self, request: Request, inbox: &Inbox) {
        let tool = format!("tool-{}", self.tool.load(Ordering::SeqCst));
        let result = serde_json::json!({ "tools": [{ "name": tool }] });
        inbox.deliver(Message::Response(Response::result(request.id, Raw::of(&result))), None);
    }
}

impl Connect for Server {
    async fn connect(&mut self) -> Result<Connected, Failure> {
        self.connects.fetch_add(1, Ordering::SeqCst);
        if let Some(code) = *self.refuses.lock() {
            return Err(Failure::new(code, "It refuses the connection.", "Wait."));
        }
        let (channel, inbox, received, incoming) = duplex::channel();
        *self.inbox.lock() = Some(inbox.clone());
        self.tasks.spawn(self.clone().serve(received, inbox));
        let result = serde_json::json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "s" },
        });
        let handshake = Handshake::read(&Raw::of(&result)).expect("a handshake");
        Ok(Connected { connection: Connection::Duplex(Box::new(channel)), handshake, incoming })
    }
}

impl UpstreamHandle {
    pub(super) async fn until_ready(&self) {
        let mut state = self.state.clone();
        let ready = state.wait_for(|state| matches!(state.link, LinkState::Ready(_)));
        ready.await.expect("the supervisor lives");
    }

    pub(super) async fn until_tool(&self, name: &str) {
        let mut state = self.state.clone();
        let listed = state.wait_for(|state| {
            let known = state.known.as_ref().expect("it was connected");
            known.catalog.tools[0].text_member("name").as_deref() == Some(name)
        });
        listed.await.expect("the supervisor lives");
    }

    pub(super) async fn until_down(&self) {
        let mut state = self.state.clone();
        let down = state.wait_for(|state| matches!(state.link, LinkState::Down { .. }));
        down.await.expect("the supervisor lives");
    }

    pub(super) fn is_ready(&self) -> bool {
        matches!(self.state().link, LinkState::Ready(_))
    }
}

pub(super) fn call() -> Request {
    let meta = serde_json::json!({ "progressToken": "mine" });
    let params = serde_json::json!({ "name": "tool-0", "arguments": {}, "_meta": meta });
    Request::new(Id::number(1), method::TOOLS_CALL, Some(Raw::of(&params)))
}
