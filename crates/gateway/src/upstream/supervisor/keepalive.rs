//! Finds out that a connection is dead before a call does.
//!
//! # Theory of operation
//! Nothing is asked while the upstream is heard. After a silence it is asked for a sign of life:
//! `ping`, or `server/discover` where there is no `ping`. Any answer will do, an error too. No
//! answer makes the connection *silent*, which people are shown; how silence ends depends on what
//! the upstream is doing. While it works on no call of ours, it is dead and the connection is made
//! anew. While it does, it may be a server that does one thing at a time, so it is only taken for
//! stalled if it has answered during a call before, or if a person says how often it must.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use evermoor_core::config;
use evermoor_core::failure::{Code, Failure};

use crate::upstream::Ready;

/// What a look at the connection came to.
pub(crate) enum Verdict {
    /// It answers.
    Alive,
    /// It does not answer, and may be busy.
    Silent(Failure),
    /// It must be replaced.
    Dead(Failure),
}

pub(crate) struct Keepalive {
    /// How long a silence may be; `None` if the upstream wants to be left alone.
    interval: Option<Duration>,
    /// How long a sign of life may take.
    patience: Duration,
    /// The connection is to be looked at now: the machine slept.
    suspected: bool,
    /// Signs of life that did not come, one after the other.
    missed: u32,
    /// Silence during a call counts against it: it has answered during a call before, or a person
    /// says that it must.
    must_answer: bool,
}

/// Interval and patience together are how long a frozen server goes unnoticed: 20 s.
const LOCAL: (Duration, Duration) = (Duration::from_secs(15), Duration::from_secs(5));
const REMOTE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(10));
/// With a call under way, silence is looked into after this long, whatever the interval.
const BUSY_INTERVAL: Duration = Duration::from_secs(15);
/// After a sleep there is no time to lose.
const WAKE_PATIENCE: Duration = Duration::from_secs(2);
/// So many signs of life must be missing before a call is given up.
const MOST_MISSED: u32 = 3;

impl Keepalive {
    pub(crate) fn new(config: &config::Upstream) -> Self {
        let (usual, patience) = if config.transport.is_local() { LOCAL } else { REMOTE };
        Self {
            interval: match config.keepalive {
                // A program's end is seen at once; only one that works on a call is asked.
                config::Keepalive::Usual if config.transport.is_process() => Some(Duration::MAX),
                config::Keepalive::Usual => Some(usual),
                config::Keepalive::Every(interval) => Some(interval),
                config::Keepalive::Never => None,
            },
            must_answer: matches!(config.keepalive, config::Keepalive::Every(_)),
            patience,
            suspected: false,
            missed: 0,
        }
    }

    /// The machine slept: nothing that was known of the connection counts any more.
    pub(crate) fn suspect(&mut self) {
        self.suspected = true;
    }

    /// Waits for the next silence, looks into it, and says what it means. May be dropped and
    /// called again at any time.
    pub(crate) async fn watch(&mut self, ready: &Ready) -> Verdict {
        self.silence(ready).await;
        let patience = if self.suspected { WAKE_PATIENCE } else { self.patience };
        let busy = ready.in_flight() > 0;
        let answered = timeout(patience, ready.sign_of_life()).await;
        let woke = std::mem::take(&mut self.suspected);
        match answered {
            Ok(Ok(())) => {
                self.missed = 0;
                self.must_answer |= busy;
                ready.heard_now();
                Verdict::Alive
            }
            Ok(Err(failure)) => Verdict::Dead(failure),
            Err(_) if woke || !busy => Verdict::Dead(unanswered(patience)),
            Err(_) => {
                self.missed += 1;
                match self.must_answer && self.missed >= MOST_MISSED {
                    true => Verdict::Dead(unanswered(patience * self.missed)),
                    false => Verdict::Silent(unanswered(patience)),
                }
            }
        }
    }

    /// Returns when the upstream has not been heard for too long.
    async fn silence(&self, ready: &Ready) {
        loop {
            if self.suspected || self.missed > 0 {
                return;
            }
            let interval = match (self.interval, ready.in_flight() > 0) {
                (Some(interval), true) => interval.min(BUSY_INTERVAL),
                (Some(interval), false) => interval,
                (None, _) => return std::future::pending().await,
            };
            let silent = ready.silent_for();
            if silent >= interval {
                return;
            }
            sleep((interval - silent).min(BUSY_INTERVAL)).await;
        }
    }
}

fn unanswered(patience: Duration) -> Failure {
    let what = format!("It has not answered for {} s.", patience.as_secs());
    Failure::new(Code::Timeout, what, "Restart it if it stays like this; Evermoor keeps trying.")
}
