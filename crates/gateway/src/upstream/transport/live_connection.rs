//! A connection in use: the state that its calls and its supervisor share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Id, Request};
use evermoor_core::protocol::mcp::method;

use super::connection::{CallError, Connection};
use super::outbound::OutboundCall;
use crate::upstream::delivery::in_flight::{CallGuard, InFlightCalls};

/// How many calls may be in flight; further calls wait. Over HTTP each call takes a TCP connection,
/// and sockets are the first thing that a machine runs out of.
const MAX_IN_FLIGHT: usize = 1024;

/// A connection in use.
pub struct LiveConnection {
    pub since: SystemTime,
    /// Counts the connections of this upstream.
    pub(crate) generation: u64,
    pub(crate) connection: Connection,
    opened: Instant,
    /// When the upstream last sent anything, in milliseconds since the connection was made.
    last_activity: AtomicU64,
    calls: Arc<InFlightCalls>,
    permits: Arc<Semaphore>,
    stalled: Mutex<Option<Failure>>,
    abandoned: CancellationToken,
}

impl LiveConnection {
    pub(crate) fn new(generation: u64, connection: Connection, since: SystemTime) -> Self {
        let opened = Instant::now();
        Self {
            since,
            generation,
            connection,
            opened,
            last_activity: AtomicU64::new(0),
            calls: Arc::new(InFlightCalls::new(opened)),
            permits: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            stalled: Mutex::new(None),
            abandoned: CancellationToken::new(),
        }
    }

    pub(crate) fn record_activity(&self) {
        let now = u64::try_from(self.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.last_activity.fetch_max(now, Ordering::Relaxed);
    }

    /// How long the upstream has sent nothing.
    pub(crate) fn silent_for(&self) -> Duration {
        self.opened
            .elapsed()
            .saturating_sub(Duration::from_millis(self.last_activity.load(Ordering::Relaxed)))
    }

    /// How many calls are in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.calls.count()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn calls(&self) -> &Arc<InFlightCalls> {
        &self.calls
    }

    /// Waits if too many calls are in flight, and counts the call while the guard lives. `None` if
    /// the connection was given up meanwhile.
    pub(crate) async fn begin_call(&self) -> Option<CallGuard> {
        let permit = tokio::select! {
            biased;
            permit = Arc::clone(&self.permits).acquire_owned() => permit.ok()?,
            () = self.abandoned() => return None,
        };
        Some(self.calls.begin(permit))
    }

    /// Sends a `ping`, or `server/discover` where there is no `ping`. Any answer counts, including an
    /// error. If the upstream is too busy to accept the request, this never returns.
    pub(crate) async fn ping(&self) -> Result<(), Failure> {
        let method = if self.connection.has_ping() { method::PING } else { method::DISCOVER };
        let request = Request::new(Id::number(0), method, None);
        match self.connection.call(OutboundCall::of_gateway(&request)).await {
            Ok(_) | Err(CallError::AuthRequired(_)) => Ok(()),
            Err(CallError::NotSent(failure)) => Err(failure),
            Err(CallError::Busy { .. } | CallError::Unavailable { .. }) => {
                std::future::pending().await
            }
            Err(CallError::Unknown { connection_broke: false, .. }) => Ok(()),
            Err(CallError::Unknown { detail, .. }) => {
                let what = format!("The connection broke ({detail}).");
                Err(Failure::new(Code::ConnectionLost, what, "Evermoor reconnects automatically."))
            }
        }
    }

    /// Why the upstream is considered not responding, if it is.
    pub fn stalled(&self) -> Option<Failure> {
        self.stalled.lock().clone()
    }

    /// Returns whether this changed.
    pub(crate) fn set_stalled(&self, stalled: Option<Failure>) -> bool {
        let mut current = self.stalled.lock();
        let changed = current.is_some() != stalled.is_some();
        *current = stalled;
        changed
    }

    /// Gives up the calls in flight, because the upstream no longer answers.
    pub(crate) fn abandon(&self) {
        self.abandoned.cancel();
    }

    pub(crate) async fn abandoned(&self) {
        self.abandoned.cancelled().await;
    }
}
