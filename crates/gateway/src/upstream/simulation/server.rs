//! A server in memory that keeps a ledger and misbehaves on command.

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
use evermoor_core::protocol::mcp::{Revision, initialize_result, method};

use super::dice::Dice;
use crate::upstream::transport::connection::{Connected, Connection};
use crate::upstream::transport::connector::Connect;
use crate::upstream::transport::duplex;
use crate::upstream::transport::duplex::{Inbox, Outgoing, SendError};
use crate::upstream::transport::handshake;

/// What a server does with the calls that reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mood {
    Well,
    /// Nothing listens.
    Down,
    /// Accepts connections and says nothing, not even who it is.
    Hung,
    /// Takes each call, executes it, and dies before it answers.
    DiesAfterExecuting,
    /// Takes each call and dies before it executes it.
    DiesBeforeExecuting,
    /// The pipe breaks before a call gets through it.
    BreaksBeforeSending,
    /// Answers twice, and once to nobody.
    Babbles,
    /// Answers everything, late.
    Slow,
}

impl Mood {
    pub(super) const BAD: [Self; 7] = [
        Self::Down,
        Self::Hung,
        Self::DiesAfterExecuting,
        Self::DiesBeforeExecuting,
        Self::BreaksBeforeSending,
        Self::Babbles,
        Self::Slow,
    ];
}

/// A server, as the day and the connector hold it.
#[derive(Clone)]
pub(super) struct Server {
    state: Arc<Mutex<State>>,
    seed: u64,
    tasks: TaskTracker,
}

struct State {
    mood: Mood,
    /// How often each call was executed.
    ledger: BTreeMap<String, u32>,
    /// Ends the connections of now.
    connections: CancellationToken,
}

impl Server {
    pub(super) fn new(seed: u64, tasks: TaskTracker) -> Self {
        let state = State {
            mood: Mood::Well,
            ledger: BTreeMap::new(),
            connections: CancellationToken::new(),
        };
        Self { state: Arc::new(Mutex::new(state)), seed, tasks }
    }

    /// Changes what it does, and breaks every connection if it is to.
    pub(super) fn be(&self, mood: Mood, breaks: bool) {
        let mut state = self.state.lock();
        state.mood = mood;
        if mood == Mood::Down || breaks {
            std::mem::take(&mut state.connections).cancel();
        }
    }

    pub(super) fn executions(&self, nonce: &str) -> u32 {
        self.state.lock().ledger.get(nonce).copied().unwrap_or(0)
    }

    fn mood(&self) -> Mood {
        self.state.lock().mood
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
            let Some(Outgoing { text, fate }) = next else { break };
            if fate.is_closed() {
                continue;
            }
            if self.mood() == Mood::BreaksBeforeSending {
                let _ = fate.send(Err(SendError::NotSent("the pipe broke".into())));
                break;
            }
            let _ = fate.send(Ok(()));
            let Ok(Message::Request(request)) = Message::parse(&text) else { continue };
            let handling = self.clone().handle(request, inbox.clone(), broken.clone());
            self.tasks.spawn(broken.clone().run_until_cancelled_owned(handling));
        }
        inbox.close(Failure::new(Code::ConnectionLost, "It went away.", "Wait."));
    }

    async fn handle(self, request: Request, inbox: Inbox, broken: CancellationToken) {
        let nonce = nonce(&request);
        let mut dice = Dice::of(self.seed, &nonce);
        // No two calls of different editors take the same time, so that none tie.
        let place = nonce.split('-').next().and_then(|editor| editor.parse().ok()).unwrap_or(0);
        sleep(Duration::from_millis(1 + 8 * dice.below(5) as u64 + place)).await;
        let id = request.id.clone();
        let mood = self.mood();
        let called = request.method == method::TOOLS_CALL;
        match mood {
            Mood::Hung | Mood::Down => return std::future::pending().await,
            Mood::DiesBeforeExecuting if called => return broken.cancel(),
            Mood::Slow => {
                sleep(Duration::from_millis(2000 + 8 * dice.below(1000) as u64 + place)).await
            }
            Mood::Well
            | Mood::DiesBeforeExecuting
            | Mood::DiesAfterExecuting
            | Mood::BreaksBeforeSending
            | Mood::Babbles => {}
        }
        let result = match request.method.as_str() {
            method::INITIALIZE => initialize(),
            method::TOOLS_LIST => Raw::of(&serde_json::json!({ "tools": [{ "name": "record" }] })),
            method::TOOLS_CALL => {
                *self.state.lock().ledger.entry(nonce.clone()).or_default() += 1;
                Raw::of(&serde_json::json!({ "nonce": nonce }))
            }
            _ => Raw::of(&serde_json::json!({})),
        };
        if mood == Mood::DiesAfterExecuting && called {
            return broken.cancel();
        }
        let answer = Response::result(id, result);
        if mood == Mood::Babbles {
            inbox.deliver(Message::Response(answer.clone()));
            let nobody = Response {
                id: Some(evermoor_core::protocol::envelope::Id::number(u64::MAX)),
                ..answer.clone()
            };
            inbox.deliver(Message::Response(nobody));
        }
        inbox.deliver(Message::Response(answer));
    }
}

impl Connect for Server {
    async fn connect(&mut self) -> Result<Connected, Failure> {
        if self.mood() == Mood::Down {
            return Err(Failure::new(Code::ConnectionRefused, "Nothing listens.", "Wait."));
        }
        let (channel, inbox, outgoing, incoming) = duplex::channel();
        let broken = self.state.lock().connections.child_token();
        self.tasks.spawn(self.clone().serve(inbox, outgoing, broken));
        let handshake = handshake::initialize(&channel).await?;
        Ok(Connected { connection: Connection::Duplex(Box::new(channel)), handshake, incoming })
    }
}

fn nonce(request: &Request) -> String {
    let arguments = request.params.as_ref().and_then(|params| params.member("arguments"));
    arguments.and_then(|arguments| arguments.text_member("nonce")).unwrap_or_default()
}

fn initialize() -> Raw {
    initialize_result(
        Revision::LATEST,
        &Raw::of(&serde_json::json!({ "tools": {} })),
        &Raw::of(&serde_json::json!({ "name": "simulated", "version": "1" })),
        None,
    )
}
