//! A connection in use: the state that its calls and its supervisor share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore, SetOnce, mpsc};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::envelope::{Id, Request};
use evermoor_core::protocol::mcp::method;
use evermoor_platform::process::descriptors;

use super::connection::{CallError, Connection};
use super::outbound::OutboundCall;
use crate::upstream::delivery::in_flight::{CallGuard, InFlightCalls};

/// How many calls may be in flight; further calls wait. Over HTTP each call takes a TCP connection,
/// and sockets are the first thing that a machine runs out of: one upstream gets at most an eighth.
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
    late_calls: mpsc::Sender<LateCall>,
}

/// A call whose editor has been answered that the outcome is unknown. It returns whether the upstream
/// replied after all. At most as many as may be in flight.
pub(crate) type LateCall = BoxFuture<'static, bool>;

/// A connected upstream does not respond.
#[derive(Clone, Debug)]
pub struct Stall {
    pub since: SystemTime,
    pub failure: Failure,
}

impl LiveConnection {
    /// A connection, and the calls on it that outlive it.
    pub(crate) fn new(
        generation: u64,
        connection: Connection,
        since: SystemTime,
    ) -> (Self, mpsc::Receiver<LateCall>) {
        let opened = Instant::now();
        let (late_calls, late) = mpsc::channel(MAX_IN_FLIGHT);
        let live = Self {
            since,
            generation,
            connection,
            opened,
            last_activity: AtomicU64::new(0),
            calls: Arc::new(InFlightCalls::new(opened)),
            permits: Arc::new(Semaphore::new(MAX_IN_FLIGHT.min(descriptors::limit() / 8))),
            stalled: Mutex::new(None),
            broken: SetOnce::new(),
            refresh: Notify::new(),
            abandoned: CancellationToken::new(),
            late_calls,
        };
        (live, late)
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

    /// Waits for a request to read the lists again. Cancel-safe.
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

    /// Hands over a call that was given up, as its reply may still come. If the connection is not kept,
    /// the call is dropped, which cancels it at the upstream.
    pub(crate) fn keep_call(&self, call: LateCall) {
        // There is room: each of them still counts as a call in flight.
        let _ = self.late_calls.try_send(call);
    }
}
