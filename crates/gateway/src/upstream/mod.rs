//! One upstream: a supervised connection, and the delivery of calls over it.
//!
//! # Theory of operation
//! One task, the [`supervisor`], owns the connection to an upstream. It connects, probes, notices
//! when the connection dies and replaces it, forever. Everyone else holds a [`UpstreamHandle`]: a
//! `watch` on the state, and a `watch` of the desired state ([`desired_state`]). A call
//! takes the current connection from the state and uses it directly ([`delivery`]), so it never
//! waits for the supervisor. While there is no connection, the call is held.
//!
//! - [`supervisor`]: owns the connection; [`handle`]: what everyone else holds
//! - [`desired_state`]: what the user and the configuration want of an upstream
//! - [`delivery`]: one call, from its request to exactly one answer
//! - [`transport`]: Streamable HTTP, HTTP+SSE and stdio, behind one `Connection`
//! - [`auth`]: signs in to servers that want it, and renews their tokens
//! - [`per_client`]: connections that one editor has to itself
//! - [`server_requests`]: sampling, elicitation and other requests that a server sends to an editor
//! - [`subscriptions`], [`notification_log`]: what editors subscribe to, and what they are sent
//! - [`catalog_cache`]: the last known catalog of each upstream, on disk
//! - [`demo`]: the built-in demo upstream
//! - `simulation`: a day of faults on a paused clock
//!
//! This folder uses `config::secrets`, `history`, `system`, `apps` (where an application listens)
//! and the types of `monitoring::status`. It does not know the sessions of editors (`mcp`) or
//! `routing`, which are built on it.

pub(crate) mod auth;
pub mod catalog_cache;
pub(crate) mod delivery;
pub mod demo;
pub(crate) mod desired_state;
mod handle;
pub mod notification_log;
mod per_client;
mod server_requests;
#[cfg(test)]
mod simulation;
pub mod subscriptions;
mod supervisor;
pub(crate) mod transport;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, watch};
use tokio_util::task::TaskTracker;

use evermoor_core::config;
use evermoor_core::failure::Failure;

use crate::apps::Apps;
use crate::config::secrets::Secrets;
use crate::history::History;
use crate::system::budget::Budgets;
use crate::system::clock::ClockAndRandom;
use crate::upstream::notification_log::NotificationLog;
use crate::upstream::subscriptions::Subscriptions;
pub use auth::Grants;
pub use auth::sign_in::SignIns;
pub use handle::UpstreamHandle;
pub use per_client::scope::{ConnectionScope, ScopeOwner};
pub use server_requests::{Caller, ServerRequest};
pub use transport::connection::{CallReply, ReplyPart, ReplyStream};
pub use transport::live_connection::{LiveConnection, Stall};

/// What all upstreams of a gateway share.
#[derive(Clone)]
pub struct UpstreamContext {
    /// The current settings of the gateway itself.
    pub settings: watch::Receiver<config::GatewayConfig>,
    /// Notified of every change of state.
    pub changed: Arc<Notify>,
    /// Counts how often the machine woke up.
    pub wakes: watch::Receiver<u64>,
    pub clock: ClockAndRandom,
    pub tasks: TaskTracker,
    pub notification_log: NotificationLog,
    pub upstream_subscriptions: Subscriptions,
    pub history: History,
    pub apps: Apps,
    /// Resolves the secrets that upstreams refer to.
    pub secrets: Secrets,
    /// The sign-ins of users to upstreams, and what they permitted Evermoor to do there.
    pub sign_ins: SignIns,
    pub budgets: Budgets,
}

/// The state of an upstream at one moment.
#[derive(Clone)]
pub struct UpstreamSnapshot {
    pub link: LinkState,
    /// The last known handshake and catalog. They outlive the connection.
    pub known: Option<Arc<KnownCatalog>>,
    /// The configuration in force, whose transport the link belongs to.
    pub config: Arc<config::UpstreamConfig>,
}

/// Whether there is a connection, with the data of that state.
#[derive(Clone)]
pub enum LinkState {
    /// The first attempt to connect is in progress.
    Connecting,
    /// Calls can be sent.
    Ready(Arc<LiveConnection>),
    /// There is no connection; the next attempt is made at `retry_at`.
    Down { since: SystemTime, retry_at: SystemTime, attempts: u32, failure: Failure },
    /// The user paused it.
    Paused { since: SystemTime },
}

/// The last known handshake and catalog of an upstream.
pub type KnownCatalog = evermoor_core::catalog::cache::LastKnownUpstream;

/// How long a supervisor may take to reach the desired state.
const REACTION_LIMIT: Duration = Duration::from_secs(2);
