//! A connection in use: what its calls and its supervisor know of it together.

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
use crate::upstream::delivery::in_flight::{CallGuard, UnderWay};

/// How many calls an upstream is given at once; more wait for their turn. Over HTTP each takes a
/// connection, and connections are what a machine runs out of first.
const MOST_IN_FLIGHT: usize = 1024;

/// A connection in use.
pub struct Ready {
    pub since: SystemTime,
    /// Counts the connections of this upstream.
    pub(crate) generation: u64,
    pub(crate) connection: Connection,
    born: Instant,
    /// When the upstream was last heard, in milliseconds since the connection was made.
    heard: AtomicU64,
    calls: Arc<UnderWay>,
    turns: Arc<Semaphore>,
    stalled: Mutex<Option<Failure>>,
    abandoned: CancellationToken,
}

impl Ready {
    pub(crate) fn new(generation: u64, connection: Connection, since: SystemTime) -> Self {
        let born = Instant::now();
        Self {
            since,
            generation,
            connection,
            born,
            heard: AtomicU64::new(0),
            calls: Arc::new(UnderWay::new(born)),
            turns: Arc::new(Semaphore::new(MOST_IN_FLIGHT)),
            stalled: Mutex::new(None),
            abandoned: CancellationToken::new(),
        }
    }

    pub(crate) fn heard_now(&self) {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard.fetch_max(now, Ordering::Relaxed);
    }

    /// For how long the upstream has not been heard.
    pub(crate) fn silent_for(&self) -> Duration {
        self.born
            .elapsed()
            .saturating_sub(Duration::from_millis(self.heard.load(Ordering::Relaxed)))
    }

    /// How many calls the upstream works on.
    pub(crate) fn in_flight(&self) -> usize {
        self.calls.count()
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    pub(crate) fn calls(&self) -> &Arc<UnderWay> {
        &self.calls
    }

    /// Waits for a turn if the upstream has all hands full, and counts the call for as long as the
    /// guard lives. `None` if the connection was given up meanwhile.
    pub(crate) async fn begin_call(&self) -> Option<CallGuard> {
        let turn = tokio::select! {
            biased;
            turn = Arc::clone(&self.turns).acquire_owned() => turn.ok()?,
            () = self.abandoned() => return None,
        };
        Some(self.calls.begin(turn))
    }

    /// Asks the upstream for a sign of life. An error is one, too: somebody said it. An upstream
    /// that is too busy to be asked has not answered yet.
    pub(crate) async fn sign_of_life(&self) -> Result<(), Failure> {
        let asked = if self.connection.has_ping() { method::PING } else { method::DISCOVER };
        let request = Request::new(Id::number(0), asked, None);
        match self.connection.call(&request, None).await {
            Ok(_) | Err(CallError::AuthRequired(_)) => Ok(()),
            Err(CallError::NotSent(failure)) => Err(failure),
            Err(CallError::Busy { .. } | CallError::Unavailable { .. }) => {
                std::future::pending().await
            }
            Err(CallError::Unknown { connection_broke: false, .. }) => Ok(()),
            Err(CallError::Unknown { detail, .. }) => {
                let what = format!("The connection broke ({detail}).");
                Err(Failure::new(Code::ConnectionLost, what, "Evermoor reconnects by itself."))
            }
        }
    }

    /// Why the upstream is shown as not responding, if it is.
    pub fn stalled(&self) -> Option<Failure> {
        self.stalled.lock().clone()
    }

    /// Says whether that is news.
    pub(crate) fn set_stalled(&self, stalled: Option<Failure>) -> bool {
        let mut shown = self.stalled.lock();
        let news = shown.is_some() != stalled.is_some();
        *shown = stalled;
        news
    }

    /// The upstream is there and answers nothing any more: its calls need not wait.
    pub(crate) fn abandon(&self) {
        self.abandoned.cancel();
    }

    pub(crate) async fn abandoned(&self) {
        self.abandoned.cancelled().await;
    }
}
