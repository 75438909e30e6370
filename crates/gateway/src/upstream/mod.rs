//! One upstream: a supervised connection, and the delivery of calls over it.
//!
//! # Theory of operation
//! One task, the [`supervisor`], owns the connection. It connects, watches, notices when the
//! connection dies and makes another one, for ever. Everybody else holds a [`Handle`]: a `watch`
//! on the state, and a way to report that a connection is broken. A call takes the connection of
//! the moment from the watch and uses it directly ([`delivery`]), so that the supervisor is never
//! in its way; while there is none, the call is held.

pub mod catalog_cache;
pub(crate) mod delivery;
pub mod notification_log;
mod per_client;
mod scope;
mod server_requests;
#[cfg(test)]
mod simulation;
mod start;
pub mod subscriptions;
mod supervisor;
pub(crate) mod transport;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use evermoor_core::catalog::cache::Memory;
use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::config;
use evermoor_core::failure::Failure;
use evermoor_core::policy::pause::Paused;
use evermoor_core::protocol::mcp::Revision;
use evermoor_core::protocol::version::Spoken;

use crate::apps::Apps;
use crate::config::secrets::Secrets;
use crate::history::{History, Tallies};
use crate::system::environment::Chance;
use crate::upstream::notification_log::Newsroom;
use crate::upstream::subscriptions::Interests;
use delivery::retry_budget::Budget;
use per_client::Privates;
pub use scope::{Lane, Owner};
pub use server_requests::{Caller, Question};
pub use transport::connection::{Reply, ReplyStream};
pub use transport::live::Ready;

/// An upstream, as everybody but its supervisor sees it.
#[derive(Clone)]
pub struct Handle {
    pub config: Arc<config::Upstream>,
    lane: Lane,
    /// Where editors have it to themselves; `None` if this is such a one.
    privates: Option<Arc<Privates>>,
    state: watch::Receiver<State>,
    commands: mpsc::Sender<Command>,
    /// How many calls wait for the connection to come back.
    held: Arc<watch::Sender<usize>>,
    /// How many bytes they hold together.
    held_bytes: Arc<AtomicUsize>,
    /// How often calls may be sent again.
    budget: Arc<Mutex<Budget>>,
    settings: watch::Receiver<config::Gateway>,
    /// Where calls that an outage touches count themselves.
    tallies: Tallies,
    chance: Chance,
}

/// What all upstreams of a gateway share.
#[derive(Clone)]
pub struct Surroundings {
    /// The gateway's own settings, as they are at the moment.
    pub settings: watch::Receiver<config::Gateway>,
    /// Notified of every change of state.
    pub changed: Arc<Notify>,
    /// Counts how often the machine woke up.
    pub wakes: watch::Receiver<u64>,
    pub chance: Chance,
    pub tasks: TaskTracker,
    pub news: Newsroom,
    pub interests: Interests,
    pub history: History,
    /// What a person paused.
    pub paused: watch::Receiver<Paused>,
    /// What is known of applications.
    pub apps: Apps,
    /// Where the secrets of upstreams are looked for.
    pub secrets: Secrets,
}

/// What is known of an upstream at one moment.
#[derive(Clone)]
pub struct State {
    pub link: Link,
    /// What the upstream last said of itself. It outlives the connection.
    pub known: Option<Arc<Known>>,
}

/// Whether there is a connection, with what exists only in that state.
#[derive(Clone)]
pub enum Link {
    /// The first connection is being made.
    Connecting,
    /// Calls can be sent.
    Ready(Arc<Ready>),
    /// There is none; the next attempt is made at `retry_at`.
    Down { since: SystemTime, retry_at: SystemTime, attempts: u32, failure: Failure },
    /// A person paused it.
    Paused { since: SystemTime },
}

/// What an upstream last said of itself.
pub type Known = Memory;

/// What the supervisor can be told.
enum Command {
    /// The connection of this generation failed a call.
    Broken { generation: u64, failure: Failure },
    /// A person wants the connection made anew.
    Restart,
    /// Who was away answers again.
    IsThere,
    /// The entry in the configuration is another one now.
    Configure(Configure),
}

/// What an upstream is to be from now on.
struct Configure {
    config: Arc<config::Upstream>,
    /// What is known of it before it has spoken.
    known: Option<Arc<Known>>,
    /// Where to say that it is so.
    done: oneshot::Sender<()>,
}

/// How long a supervisor may take to look up from what it does.
const CHANGE_OVER: Duration = Duration::from_secs(2);

impl Handle {
    pub fn name(&self) -> &UpstreamName {
        &self.config.name
    }

    pub fn lane(&self) -> &Lane {
        &self.lane
    }

    pub fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// What it last said of itself, waiting a little if it has never been heard of.
    pub async fn known(&self, patience: Duration) -> Option<Arc<Known>> {
        let mut state = self.state.clone();
        let settled = state
            .wait_for(|state| state.known.is_some() || !matches!(state.link, Link::Connecting));
        let _ = tokio::time::timeout(patience, settled).await;
        self.state().known
    }

    /// Waits until it has been reached or found to be away.
    pub async fn tried(&self) {
        let mut state = self.state.clone();
        let _ = state.wait_for(|state| !matches!(state.link, Link::Connecting)).await;
    }

    /// Waits until its supervisor is gone.
    pub async fn stopped(&self) {
        let mut state = self.state.clone();
        while state.changed().await.is_ok() {}
    }

    /// Which revision it speaks, as far as it is known.
    pub fn spoken(&self) -> Spoken {
        let known = self.state.borrow().known.clone();
        known.map_or(Spoken::Session(Revision::LATEST), |known| known.spoken())
    }

    /// Whether it is spoken to in the revision without sessions.
    pub fn is_stateless(&self) -> bool {
        match &self.state.borrow().link {
            Link::Ready(ready) => !ready.connection.has_ping(),
            Link::Connecting | Link::Down { .. } | Link::Paused { .. } => false,
        }
    }

    /// How many calls wait for its answer, those that are held included.
    pub fn calls_under_way(&self) -> usize {
        let working = match &self.state.borrow().link {
            Link::Ready(ready) => ready.in_flight(),
            Link::Connecting | Link::Down { .. } | Link::Paused { .. } => 0,
        };
        let private = self
            .privates
            .as_ref()
            .map_or(0, |privates| privates.handles().iter().map(Self::calls_under_way).sum());
        working + *self.held.borrow() + private
    }

    /// Whether a person paused it.
    pub fn is_paused(&self) -> bool {
        matches!(self.state.borrow().link, Link::Paused { .. })
    }

    /// Waits a little until it shows that it is paused, or that it is not.
    pub async fn until_paused(&self, paused: bool) {
        let mut state = self.state.clone();
        let shown = state.wait_for(|state| matches!(state.link, Link::Paused { .. }) == paused);
        let _ = timeout(CHANGE_OVER, shown).await;
    }

    /// The same upstream as another entry wants it, with the calls that wait for it. The connection
    /// is kept if the entry leads to where it led before.
    pub async fn configure(&self, config: config::Upstream, known: Option<Arc<Known>>) -> Self {
        if let Some(privates) = &self.privates {
            privates.configure(&config, known.as_ref()).await;
        }
        let config = Arc::new(config);
        let (done, is_done) = oneshot::channel();
        let order = Configure { config: Arc::clone(&config), known, done };
        if self.commands.send(Command::Configure(order)).await.is_ok() {
            let _ = timeout(CHANGE_OVER, is_done).await;
        }
        Self { config, ..self.clone() }
    }

    pub async fn restart(&self) {
        // A supervisor that is gone is one whose gateway is being stopped.
        let _ = self.commands.send(Command::Restart).await;
        if let Some(privates) = &self.privates {
            privates.restart().await;
        }
    }
}
