//! Detects a dead connection before a call does.
//!
//! # Theory of operation
//! While the upstream sends anything, it is not probed. After a silence it gets a `ping`, or
//! `server/discover` in versions without `ping`. Any answer counts, including an error. Without an
//! answer, the result depends on the calls in flight. With none, the upstream is dead and the
//! connection is replaced. With at least one, it may be a server that handles one request at a time,
//! so it is shown as not responding. It is considered dead only after several missed pings, and only
//! if it has answered a ping during a call before or the user configured a keepalive interval.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use evermoor_core::config::{KeepaliveConfig, UpstreamConfig};
use evermoor_core::failure::{Code, Failure};

use crate::upstream::LiveConnection;
use crate::upstream::desired_state::DesiredState;

/// The result of a probe.
pub(crate) enum ProbeResult {
    Alive,
    /// It does not answer, but may be busy.
    Silent(Failure),
    /// The connection must be replaced.
    Dead(Failure),
}

pub(crate) struct KeepaliveProbe {
    /// Its configuration may change while the connection is kept.
    desired: watch::Receiver<DesiredState>,
    /// Ping at once, because the machine slept.
    suspected: bool,
    /// Consecutive pings without an answer.
    missed: u32,
    /// It has answered a ping during a call before.
    answers_during_calls: bool,
}

/// Interval and patience. Their sum is how long a frozen server goes unnoticed: 20 s.
const LOCAL: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(5));
const REMOTE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(10));
/// The longest interval while a call is in flight.
const BUSY_INTERVAL: Duration = Duration::from_secs(15);
/// After a wake-up, a dead connection must be replaced quickly.
const WAKE_PATIENCE: Duration = Duration::from_secs(2);
/// How many pings must be missed before calls in flight are given up.
const MAX_MISSED: u32 = 3;

impl KeepaliveProbe {
    pub(crate) fn new(desired: watch::Receiver<DesiredState>) -> Self {
        Self { desired, suspected: false, missed: 0, answers_during_calls: false }
    }

    /// Makes the next probe immediate: the machine slept, and the connection may not have survived.
    pub(crate) fn suspect(&mut self) {
        self.suspected = true;
    }

    /// Waits for the next silence and sends a ping. Cancel-safe.
    pub(crate) async fn probe(&mut self, ready: &LiveConnection) -> ProbeResult {
        self.silence(ready).await;
        let (patience, must_answer) = {
            let config = &self.desired.borrow().config;
            let patience = if self.suspected { WAKE_PATIENCE } else { usual(config).1 };
            // Missed pings count even during a call if the user configured an interval.
            let configured = matches!(config.keepalive, KeepaliveConfig::Every(_));
            (patience, configured || self.answers_during_calls)
        };
        let busy = ready.in_flight() > 0;
        let answered = timeout(patience, ready.ping()).await;
        let woke = std::mem::take(&mut self.suspected);
        match answered {
            Ok(Ok(())) => {
                self.missed = 0;
                self.answers_during_calls |= busy;
                ready.record_activity();
                ProbeResult::Alive
            }
            Ok(Err(failure)) => ProbeResult::Dead(failure),
            Err(_) if woke || !busy => ProbeResult::Dead(unanswered(patience)),
            Err(_) => {
                self.missed += 1;
                match must_answer && self.missed >= MAX_MISSED {
                    true => ProbeResult::Dead(unanswered(patience * self.missed)),
                    false => ProbeResult::Silent(unanswered(patience)),
                }
            }
        }
    }

    /// Returns when the upstream has been silent for too long.
    async fn silence(&mut self, ready: &LiveConnection) {
        loop {
            if self.suspected || self.missed > 0 {
                return;
            }
            let interval = interval(&self.desired.borrow_and_update().config);
            let interval = match (interval, ready.in_flight() > 0) {
                (Some(interval), true) => interval.min(BUSY_INTERVAL),
                (Some(interval), false) => interval,
                (None, _) => Duration::MAX,
            };
            let silent = ready.silent_for();
            if silent >= interval {
                return;
            }
            let wait = (interval - silent).min(BUSY_INTERVAL);
            if let Ok(Err(_)) = timeout(wait, self.desired.changed()).await {
                // Nobody can want anything of the upstream any more.
                return std::future::pending().await;
            }
        }
    }
}

/// How long a silence may last before a ping; `None` if pings are disabled.
fn interval(config: &UpstreamConfig) -> Option<Duration> {
    match config.keepalive {
        // A process that exits is noticed at once, so it is pinged only during calls.
        KeepaliveConfig::Usual if config.transport.is_stdio() => Some(Duration::MAX),
        KeepaliveConfig::Usual => Some(usual(config).0),
        KeepaliveConfig::Every(interval) => Some(interval),
        KeepaliveConfig::Never => None,
    }
}

/// Interval and patience, unless the user configured something else.
fn usual(config: &UpstreamConfig) -> (Duration, Duration) {
    if config.transport.is_local() { LOCAL } else { REMOTE }
}

fn unanswered(patience: Duration) -> Failure {
    let what = format!("No reply for {} s.", patience.as_secs());
    Failure::new(Code::Timeout, what, "If this continues, restart it. Evermoor keeps trying.")
}
