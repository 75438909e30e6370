//! What Evermoor does to an app without asking, and when it stops.
//!
//! # Theory of operation
//! Nobody wants a crash, but a quit may be what the user wants. So the default policy restarts an
//! app after a crash and only offers a restart otherwise. Automatic restarts can do harm too: after
//! three in ten minutes they stop until the user acts, or until the app has run for ten minutes. A
//! [`RestartRecord`] keeps the count for the next gateway.
//!
//! If memory use is over the alarm, the app is first asked to free memory. If that does not help
//! and the user allowed it, the app is restarted while it is idle, at most once an hour. Otherwise
//! the restart is offered.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::evidence::ExitCause;

/// What Evermoor may do to an app.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppPolicy {
    pub restart: RestartPolicy,
    pub recycle: RecyclePolicy,
    /// In bytes; overrides the preset's.
    pub memory_alarm: Option<u64>,
}

/// When an app that exited is restarted automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestartPolicy {
    /// After a crash; after any other exit, a restart is offered.
    #[default]
    OnCrash,
    /// Never; a restart is offered.
    Ask,
    /// After every exit.
    Always,
    /// Never, and a restart is not offered.
    Never,
}

/// When an app that uses too much memory is restarted automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecyclePolicy {
    #[default]
    Never,
    WhenIdle,
}

/// What to do after an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitResponse {
    Restart,
    Offer,
    /// It exited too often: tell the user once and offer a restart.
    Stop,
    Nothing,
}

/// What to do about memory use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryAction {
    Nothing,
    /// Ask the app to free memory.
    Relieve,
    /// Restart it now, while it is idle.
    Recycle,
    /// Nothing yet: the app is in use, was restarted recently, or needs time to free memory.
    Wait,
    /// Tell the user and offer a restart.
    Offer,
}

/// Automatic restarts stop after `MAX_RESTARTS` within `RESTART_WINDOW`.
pub const RESTART_WINDOW: Duration = Duration::from_secs(600);
pub const MAX_RESTARTS: usize = 3;
/// The time between two restarts to free memory.
pub const RECYCLE_INTERVAL: Duration = Duration::from_secs(3600);
/// The time between two requests to free memory.
pub const RELIEF_INTERVAL: Duration = Duration::from_secs(1800);
/// How long alerts are muted after a wake, when everything is down for a moment.
pub const MUTE_AFTER_WAKE: Duration = Duration::from_secs(45);

/// What was done automatically so far, which limits what may be done next.
#[derive(Debug, Default)]
pub struct AutoRestart {
    restarts: VecDeque<Instant>,
    stopped: bool,
    recycled: Option<Instant>,
    relieved: Option<Instant>,
    /// A restart to free memory was offered during this run.
    offered: bool,
    woke: Option<Instant>,
}

/// The automatic restarts of an app, as they are kept for the next gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RestartRecord {
    /// When each of them was made, in Unix milliseconds.
    restarts: Vec<u64>,
    /// There were too many.
    stopped: bool,
}

/// An app's memory use and load.
#[derive(Clone, Copy, Debug)]
pub struct MemoryPressure {
    pub used: u64,
    pub alarm: u64,
    /// How long a request to free memory takes to have an effect, if the app has one.
    pub relief: Option<Duration>,
    /// For how long it has not been called; `None` while a call is in flight.
    pub idle: Option<Duration>,
    /// It is idle if it has not been called for this long.
    pub idle_after: Duration,
}

impl AutoRestart {
    /// Continues where an earlier gateway stopped. `now` and `wall` are the same moment, the latter in
    /// Unix milliseconds.
    pub fn from_record(record: &RestartRecord, now: Instant, wall: u64) -> Self {
        let restarts = record.restarts.iter().map(|at| {
            let age = Duration::from_millis(wall.saturating_sub(*at));
            // A clock that started less than `age` ago cannot tell the time of the restart.
            now.checked_sub(age.min(RESTART_WINDOW)).unwrap_or(now)
        });
        Self { restarts: restarts.collect(), stopped: record.stopped, ..Self::default() }
    }

    /// What the next gateway must know.
    pub fn record(&self, now: Instant, wall: u64) -> RestartRecord {
        let restarts = self.restarts.iter().map(|then| {
            let age = now.saturating_duration_since(*then).as_millis();
            wall.saturating_sub(u64::try_from(age).unwrap_or(u64::MAX))
        });
        RestartRecord { restarts: restarts.collect(), stopped: self.stopped }
    }

    /// The app exited at `now` after running for `lived`. A returned restart counts towards the
    /// limit.
    pub fn ended(
        &mut self,
        policy: AppPolicy,
        cause: &ExitCause,
        lived: Duration,
        now: Instant,
    ) -> ExitResponse {
        if lived >= RESTART_WINDOW {
            self.reset();
        }
        self.run_started();
        let automatic = match policy.restart {
            RestartPolicy::Never => return ExitResponse::Nothing,
            RestartPolicy::Ask => false,
            RestartPolicy::Always => true,
            RestartPolicy::OnCrash => cause.is_crash(),
        };
        if !automatic {
            return ExitResponse::Offer;
        }
        while self
            .restarts
            .front()
            .is_some_and(|then| now.saturating_duration_since(*then) >= RESTART_WINDOW)
        {
            self.restarts.pop_front();
        }
        if self.stopped {
            return ExitResponse::Offer;
        }
        if self.restarts.len() >= MAX_RESTARTS {
            self.stopped = true;
            return ExitResponse::Stop;
        }
        self.restarts.push_back(now);
        ExitResponse::Restart
    }

    /// The app stopped responding. It may be busy, so only `always` restarts it.
    pub fn hung(&mut self, policy: AppPolicy, lived: Duration, now: Instant) -> ExitResponse {
        self.ended(policy, &ExitCause::Hung, lived, now)
    }

    /// Decides what to do about this memory use.
    pub fn memory(
        &mut self,
        policy: AppPolicy,
        pressure: MemoryPressure,
        now: Instant,
    ) -> MemoryAction {
        if pressure.used < pressure.alarm {
            return MemoryAction::Nothing;
        }
        let elapsed = |since: Option<Instant>, time: Duration| {
            since.is_none_or(|since| now.saturating_duration_since(since) >= time)
        };
        if pressure.relief.is_some() && elapsed(self.relieved, RELIEF_INTERVAL) {
            self.relieved = Some(now);
            return MemoryAction::Relieve;
        }
        if pressure.relief.is_some_and(|effect| !elapsed(self.relieved, effect)) {
            return MemoryAction::Wait;
        }
        let may_restart = match policy.restart {
            RestartPolicy::Never => false,
            RestartPolicy::OnCrash | RestartPolicy::Ask | RestartPolicy::Always => !self.stopped,
        };
        match policy.recycle {
            RecyclePolicy::WhenIdle if may_restart => {
                let idle = pressure.idle.is_some_and(|idle| idle >= pressure.idle_after);
                if idle && elapsed(self.recycled, RECYCLE_INTERVAL) {
                    self.recycled = Some(now);
                    return MemoryAction::Recycle;
                }
                MemoryAction::Wait
            }
            RecyclePolicy::WhenIdle | RecyclePolicy::Never if self.offered => MemoryAction::Wait,
            RecyclePolicy::WhenIdle | RecyclePolicy::Never => {
                self.offered = true;
                MemoryAction::Offer
            }
        }
    }

    /// A new run began, so what was done about the memory of the last one no longer counts.
    pub fn run_started(&mut self) {
        self.offered = false;
        self.relieved = None;
    }

    /// The user restarted or resumed it, so earlier restarts no longer count.
    pub fn reset(&mut self) {
        self.restarts.clear();
        self.stopped = false;
    }

    /// Whether it exited too often to be restarted automatically.
    pub fn has_given_up(&self) -> bool {
        self.stopped
    }

    pub fn woke(&mut self, now: Instant) {
        self.woke = Some(now);
    }

    /// Whether alerts are muted.
    pub fn is_muted(&self, now: Instant) -> bool {
        self.woke.is_some_and(|woke| now.saturating_duration_since(woke) < MUTE_AFTER_WAKE)
    }
}

impl ExitResponse {
    /// The text for the user, if there is one.
    pub fn sentence(self, title: &str) -> Option<String> {
        match self {
            Self::Offer => Some(format!("You can start {title} again with one click.")),
            Self::Stop => Some(format!(
                "{title} keeps crashing. Evermoor stopped restarting it after {MAX_RESTARTS} attempts in ten minutes."
            )),
            // A restart reports its own progress.
            Self::Restart | Self::Nothing => None,
        }
    }
}

#[cfg(test)]
mod tests;
