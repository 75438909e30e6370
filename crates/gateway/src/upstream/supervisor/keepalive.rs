//! Detects a connection that died or hangs before a call does, and within two seconds after the machine wakes.
//!
//! # Theory of operation
//! While the upstream sends anything, it is not probed. After a silence it gets a `ping`, or
//! `server/discover` in versions without `ping`. Any answer counts, including an error.
//! [`silence`](evermoor_core::policy::silence) decides what happens without one. Pings stay open until
//! they are answered or the connection is replaced, because a late answer shows that the upstream does
//! one thing at a time. All state is in [`KeepaliveProbe`], so an event on the connection interrupts
//! nothing.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use evermoor_core::config::UpstreamConfig;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::silence::{AnsweredPing, Concurrency, Situation, Step, Timing};

use crate::upstream::LiveConnection;
use crate::upstream::desired_state::DesiredState;

/// The result of a probe.
pub(crate) enum ProbeResult {
    Alive,
    /// It does not answer, but may be busy.
    Silent(Failure),
    /// The connection must be replaced.
    Dead(Failure),
    /// The connection must be replaced, although it is open: calls in flight are not answered.
    Hung(Failure),
}

pub(crate) struct KeepaliveProbe {
    ready: Arc<LiveConnection>,
    /// Its configuration may change while the connection is kept.
    desired: watch::Receiver<DesiredState>,
    /// What the preset says about its concurrency.
    preset: Option<bool>,
    /// What was seen of its concurrency. It outlives the connection.
    observed: Arc<watch::Sender<Option<bool>>>,
    /// Ping at once, because the machine slept.
    suspected: bool,
    /// The pings without an answer.
    pings: FuturesUnordered<OpenPing>,
    /// When the last of them was sent.
    pinged: Option<Instant>,
    /// The last ping was found unanswered, and nothing more is done about it.
    shown: bool,
}

/// A ping that waits for its answer.
pub(super) type OpenPing = BoxFuture<'static, PingEnd>;

/// How a ping ended: what its answer shows, or why there is none.
pub(super) type PingEnd = Result<AnsweredPing, Failure>;

/// Answers that a server sends at the same time may arrive in any order, within this long.
const REORDERING: Duration = Duration::from_millis(100);
/// How many pings are open at most.
const MOST_OPEN: usize = 8;
/// How often the situation is looked at if nothing happens.
const LONGEST_LOOK: Duration = Duration::from_secs(15);

impl KeepaliveProbe {
    pub(crate) fn new(
        ready: &Arc<LiveConnection>,
        desired: watch::Receiver<DesiredState>,
        preset: Option<bool>,
        observed: Arc<watch::Sender<Option<bool>>>,
    ) -> Self {
        Self {
            ready: Arc::clone(ready),
            desired,
            preset,
            observed,
            suspected: false,
            pings: FuturesUnordered::new(),
            pinged: None,
            shown: false,
        }
    }

    /// Makes the next probe immediate: the machine slept, and the connection may not have survived.
    pub(crate) fn suspect(&mut self) {
        (self.suspected, self.pinged, self.shown) = (true, None, false);
    }

    /// The pings that are still open.
    pub(super) fn into_open_pings(self) -> FuturesUnordered<OpenPing> {
        self.pings
    }

    /// Pings the upstream when it has been silent for too long, and returns what came of it.
    /// Cancel-safe.
    pub(crate) async fn probe(&mut self) -> ProbeResult {
        loop {
            let timing = Timing::of(&self.desired.borrow_and_update().config);
            let wait = match self.situation().await.next_step(timing) {
                Step::Wait(wait) => wait.min(LONGEST_LOOK),
                Step::Alive => {
                    self.answered();
                    return ProbeResult::Alive;
                }
                Step::Ping => {
                    self.ping();
                    continue;
                }
                Step::PingAgain => {
                    self.ping();
                    return ProbeResult::Silent(unanswered(self.ready.silent_for()));
                }
                Step::Silent if !self.shown => {
                    self.shown = true;
                    return ProbeResult::Silent(unanswered(self.ready.silent_for()));
                }
                Step::Silent => LONGEST_LOOK,
                Step::Replace if self.ready.in_flight() > 0 => {
                    return ProbeResult::Hung(unanswered(self.ready.silent_for()));
                }
                Step::Replace => return ProbeResult::Dead(unanswered(self.ready.silent_for())),
            };
            tokio::select! {
                biased;
                Some(end) = self.pings.next() => return self.ended(end, timing),
                changed = self.desired.changed() => if changed.is_err() {
                    // Nobody can want anything of the upstream any more.
                    return std::future::pending().await;
                },
                () = self.ready.calls().drained(), if self.waits_for_calls() => {}
                () = sleep(wait) => {}
            }
        }
    }

    async fn situation(&mut self) -> Situation {
        let calls = self.ready.calls();
        let config = Arc::clone(&self.desired.borrow().config);
        let unanswered = self.pinged.map(|pinged| pinged.elapsed());
        let timing = Timing::of(&config);
        let may_be_stopped = unanswered.is_some_and(|pinged| pinged >= timing.patience);
        let stopped = may_be_stopped && self.ready.connection.is_stopped().await;
        Situation {
            silent: self.ready.silent_for(),
            oldest_call: calls.oldest(),
            idle: calls.none_for(),
            pinged: unanswered,
            woke: self.suspected,
            stopped,
            concurrency: self.concurrency(&config),
        }
    }

    fn concurrency(&self, config: &UpstreamConfig) -> Concurrency {
        Concurrency::of(config, self.preset, *self.observed.borrow())
    }

    /// Whether the end of the calls in flight changes anything.
    fn waits_for_calls(&self) -> bool {
        self.pinged.is_some() && self.ready.in_flight() > 0
    }

    fn ping(&mut self) {
        (self.pinged, self.shown) = (Some(Instant::now()), false);
        if self.pings.len() < MOST_OPEN {
            self.pings.push(ping(Arc::clone(&self.ready)).boxed());
        }
    }

    fn answered(&mut self) {
        (self.suspected, self.pinged, self.shown) = (false, None, false);
    }

    fn ended(&mut self, end: PingEnd, timing: Timing) -> ProbeResult {
        self.answered();
        match end {
            Ok(answered) => {
                if let Some(concurrent) = answered.shows(timing) {
                    observe(&self.observed, concurrent);
                }
                ProbeResult::Alive
            }
            Err(failure) => ProbeResult::Dead(failure),
        }
    }
}

/// Remembers what was seen of an upstream.
pub(super) fn observe(observed: &watch::Sender<Option<bool>>, concurrent: bool) {
    observed.send_if_modified(|seen| seen.replace(concurrent) != Some(concurrent));
}

async fn ping(ready: Arc<LiveConnection>) -> PingEnd {
    let (before, sent_during_call) = (ready.calls().mark(), ready.in_flight() > 0);
    let sent = Instant::now();
    ready.ping().await?;
    let took = sent.elapsed();
    ready.record_activity();
    if ready.calls().any_before(before) {
        sleep(REORDERING).await;
    }
    let answered_during_call = ready.calls().any_before(before);
    Ok(AnsweredPing { took, sent_during_call, answered_during_call })
}

fn unanswered(silent: Duration) -> Failure {
    let what = format!("No reply for {} s.", silent.as_secs());
    Failure::new(Code::Timeout, what, "If this continues, restart it. Evermoor keeps trying.")
}
