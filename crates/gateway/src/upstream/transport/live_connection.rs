//! A connection in use: the state that its calls and its supervisor share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, SetOnce};
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
    stalled: Mutex<Option<Stall>>,
    /// Why it broke, if a call noticed that.
    broken: SetOnce<Failure>,
    /// Notified when the lists must be read again.
    refresh: Notify,
    abandoned: CancellationToken,
}

/// A connected upstream does not respond.
#[derive(Clone, Debug)]
pub struct Stall {
    pub since: SystemTime,
    pub failure: Failure,
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
            broken: SetOnce::new(),
            refresh: Notify::new(),
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

    /// Since when and why the upstream is considered not responding, if it is.
    pub fn stalled(&self) -> Option<Stall> {
        self.stalled.lock().clone()
    }

    /// Returns whether this began or ended a stall. One that lasts keeps its beginning.
    pub(crate) fn set_stalled(&self, stalled: Option<Failure>, now: SystemTime) -> bool {
        let mut current = self.stalled.lock();
        let since = current.as_ref().map_or(now, |stall| stall.since);
        let before =
            std::mem::replace(&mut *current, stalled.map(|failure| Stall { since, failure }));
        before.is_some() != current.is_some()
    }

    /// Reports that a call found the connection broken. The first report counts.
    pub(crate) fn report_broken(&self, failure: Failure) {
        let _ = self.broken.set(failure);
    }

    /// Waits until a call finds the connection broken. Cancel-safe.
    pub(crate) async fn broken(&self) -> Failure {
        self.broken.wait().await.clone()
    }

    /// Asks the supervisor to read the lists again.
    pub(crate) fn request_refresh(&self) {
        self.refresh.notify_one();
    }

    /// Waits until somebody asks for the lists to be read again. Cancel-safe.
    pub(crate) async fn refresh_requested(&self) {
        self.refresh.notified().await;
    }

    /// Gives up the calls in flight, because the upstream no longer answers.
    pub(crate) fn abandon(&self) {
        self.abandoned.cancel();
    }

    pub(crate) async fn abandoned(&self) {
        self.abandoned.cancelled().await;
    }
}
