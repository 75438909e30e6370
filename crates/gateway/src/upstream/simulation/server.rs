//! A server in memory that records what it executes and fails on command.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Message, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{SessionVersion, initialize_result, method};

use super::random::SeededRandom;
use crate::upstream::transport::connection::{Connected, Connection};
use crate::upstream::transport::connector::Connect;
use crate::upstream::transport::duplex;
use crate::upstream::transport::duplex::handshake;
use crate::upstream::transport::duplex::{Inbox, Outgoing, SendError};

/// What a server does with the calls that reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    Healthy,
    /// Refuses connections.
    Down,
    /// Accepts connections but answers nothing, not even the handshake.
    Hung,
    /// Executes each call and crashes before it answers.
    CrashesAfterExecuting,
    /// Crashes before it executes a call.
    CrashesBeforeExecuting,
    /// The pipe breaks before a call is sent.
    BreaksBeforeSending,
    /// Answers twice, and once with an unknown id.
    DuplicateAnswers,
    /// Answers everything, late.
    Slow,
}

impl Behaviour {
    pub(super) const FAULTS: [Self; 7] = [
        Self::Down,
        Self::Hung,
        Self::CrashesAfterExecuting,
        Self::CrashesBeforeExecuting,
        Self::BreaksBeforeSending,
        Self::DuplicateAnswers,
        Self::Slow,
    ];
}

/// A server, as the day and the connector hold it.
#[derive(Clone)]
pub(super) struct SimulatedServer {
    state: Arc<Mutex<ServerState>>,
    seed: u64,
    tasks: TaskTracker,
}

struct ServerState {
    behaviour: Behaviour,
    /// How often each call was executed.
    executed: BTreeMap<String, u32>,
    /// Breaks the current connections.
    connections: CancellationToken,
}

impl SimulatedServer {
    pub(super) fn new(seed: u64, tasks: TaskTracker) -> Self {
        let state = ServerState {
            behaviour: Behaviour::Healthy,
            executed: BTreeMap::new(),
            connections: CancellationToken::new(),
        };
        Self { state: Arc::new(Mutex::new(state)), seed, tasks }
    }

    /// Changes the behaviour and, if `breaks`, breaks every connection.
    pub(super) fn set(&self, behaviour: Behaviour, breaks: bool) {
        let mut state = self.state.lock();
        state.behaviour = behaviour;
        if behaviour == Behaviour::Down || breaks {
            std::mem::take(&mut state.connections).cancel();
        }
    }

    pub(super) fn executions(&self, nonce: &str) -> u32 {
        self.state.lock().executed.get(nonce).copied().unwrap_or(0)
    }

    fn behaviour(&self) -> Behaviour {
        self.state.lock().behaviour
    }

    /// Serves one connection until it is broken.
    async fn serve(
        self,
        inbox: Inbox,
        mut outgoing: mpsc::Receiver<Outgoing>,
        broken: CancellationToken,
    ) {
        loop {
            let next = tokio::select! {
                next = outgoing.recv() => next,
                () = broken.cancelled() => None,
                () = inbox.closed() => None,
            };
            let Some(Outgoing { text, receipt }) = next else { break };
            if receipt.is_closed() {
                continue;
            }
            if self.behaviour() == Behaviour::BreaksBeforeSending {
                let _ = receipt.send(Err(SendError::NotSent("the pipe broke".into())));
                break;
            }
            let _ = receipt.send(Ok(()));
            let Ok(Message::Request(request)) = Message::parse(&text) else { continue };
            let handling = self.clone().handle(request, inbox.clone(), broken.clone());
            self.tasks.spawn(broken.clone().run_until_cancelled_owned(handling));
        }
        inbox.close(Failure::new(Code::ConnectionLost, "It went away.", "Wait."));
    }

    async fn handle(self, request: Request, inbox: Inbox, broken: CancellationToken) {
        let nonce = nonce(&request);
        let mut random = SeededRandom::of(self.seed, &nonce);
        // Calls of different editors take different times, so that no two events coincide.
        let offset = nonce.split('-').next().and_then(|editor| editor.parse().ok()).unwrap_or(0);
        sleep(Duration::from_millis(1 + 8 * random.below(5) as u64 + offset)).await;
        let id = request.id.clone();
        let behaviour = self.behaviour();
        let called = request.method == method::TOOLS_CALL;
        match behaviour {
            Behaviour::Hung | Behaviour::Down => return std::future::pending().await,
            Behaviour::CrashesBeforeExecuting if called => return broken.cancel(),
            Behaviour::Slow => {
                sleep(Duration::from_millis(2000 + 8 * random.below(1000) as u64 + offset)).await
            }
            Behaviour::Healthy
            | Behaviour::CrashesBeforeExecuting
            | Behaviour::CrashesAfterExecuting
            | Behaviour::BreaksBeforeSending
            | Behaviour::DuplicateAnswers => {}
        }
        let result = match request.method.as_str() {
            method::INITIALIZE => initialize(),
            method::TOOLS_LIST => Raw::of(&serde_json::json!({ "tools": [{ "name": "record" }] })),
            method::TOOLS_CALL => {
                *self.state.lock().executed.entry(nonce.clone()).or_default() += 1;
                Raw::of(&serde_json::json!({ "nonce": nonce }))
            }
            _ => Raw::of(&serde_json::json!({})),
        };
        if behaviour == Behaviour::CrashesAfterExecuting && called {
            return broken.cancel();
        }
        let answer = Response::result(id, result);
        if behaviour == Behaviour::DuplicateAnswers {
            inbox.deliver(Message::Response(answer.clone()), None);
            let unknown = Response {
                id: Some(evermoor_core::protocol::envelope::Id::number(u64::MAX)),
                ..answer.clone()
            };
            inbox.deliver(Message::Response(unknown), None);
        }
        inbox.deliver(Message::Response(answer), None);
    }
}

impl Connect for SimulatedServer {
    async fn connect(&mut self) -> Result<Connected, Failure> {
        if self.behaviour() == Behaviour::Down {
            return Err(Failure::new(Code::ConnectionRefused, "Connection refused.", "Wait."));
        }
        let (mut channel, inbox, outgoing, incoming) = duplex::channel();
        let broken = self.state.lock().connections.child_token();
        self.tasks.spawn(self.clone().serve(inbox, outgoing, broken));
        let handshake = handshake::initialize(&mut channel).await?;
        Ok(Connected { connection: Connection::Duplex(Box::new(channel)), handshake, incoming })
    }
}

fn nonce(request: &Request) -> String {
    let arguments = request.params.as_ref().and_then(|params| params.member("arguments"));
    arguments.and_then(|arguments| arguments.text_member("nonce")).unwrap_or_default()
}

fn initialize() -> Raw {
    initialize_result(
        SessionVersion::LATEST,
        &Raw::of(&serde_json::json!({ "tools": {} })),
        &Raw::of(&serde_json::json!({ "name": "simulated", "version": "1" })),
        None,
    )
}
