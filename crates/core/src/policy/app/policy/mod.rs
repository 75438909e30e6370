//! What may be done to an application without asking, and when to stop.
//!
//! # Theory of operation
//! A crash is evidence that nobody wanted this; a quit may be just what a person wanted. So the
//! usual policy restarts after a crash and offers otherwise. What restarts by itself can also do
//! harm by itself: three restarts in ten minutes stop it until a person acts, or until the
//! application has run well for as long.
//!
//! Memory over the alarm is met with the application's own relief first. Only if that did not help,
//! and only if the person allowed it, is the application restarted, while nobody uses it, and at
//! most once an hour. Otherwise the restart is offered.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::evidence::Cause;

/// How Evermoor looks after an application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub restart: Restart,
    pub recycle: Recycle,
    /// In bytes, in place of the preset's.
    pub memory_alarm: Option<u64>,
}

/// When an application that ended is started again by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// After a crash. Anything else is offered.
    #[default]
    OnCrash,
    /// Never; it is offered.
    Ask,
    /// Whatever ended it.
    Always,
    /// Never, and nothing is offered.
    Never,
}

/// When an application that uses too much memory is restarted by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recycle {
    #[default]
    Never,
    WhenIdle,
}

/// What to do about an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    Restart,
    Offer,
    /// It ended too often; a person is told once, and asked.
    Stop,
    Nothing,
}

/// What to do about memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    Nothing,
    /// Ask it to use less.
    Relieve,
    /// Restart it, now that nobody uses it.
    Recycle,
    /// It would be restarted, if it were idle or the hour were over.
    Wait,
    /// Tell a person and offer a restart.
    Offer,
}

/// Three restarts in this time are too many.
pub const WINDOW: Duration = Duration::from_secs(600);
pub const MOST: usize = 3;
/// Between two restarts for memory.
pub const RECYCLE_PAUSE: Duration = Duration::from_secs(3600);
/// Relief is not asked for all the time.
pub const RELIEF_PAUSE: Duration = Duration::from_secs(1800);
/// Nobody is told anything right after a wake: everything is down for a moment then.
pub const MUTED: Duration = Duration::from_secs(45);

/// What was done by itself, and what follows for the next time.
#[derive(Debug, Default)]
pub struct Guard {
    restarts: VecDeque<Instant>,
    stopped: bool,
    recycled: Option<Instant>,
    relieved: Option<Instant>,
    /// The offer about memory was made for this run.
    offered: bool,
    woke: Option<Instant>,
}

/// What is known when memory is looked at.
#[derive(Clone, Copy, Debug)]
pub struct Pressure {
    pub used: u64,
    pub alarm: u64,
    /// How long the application's own relief takes until it shows, if it has one.
    pub relief: Option<Duration>,
    /// For how long nobody has used it; `None` while a call is under way.
    pub idle: Option<Duration>,
    /// Who has not been called for this long is idle.
    pub idle_after: Duration,
}

impl Guard {
    /// The application ended at `now` after it had run for `lived`. A restart that is told here
    /// counts.
    pub fn ended(
        &mut self,
        policy: Policy,
        cause: &Cause,
        lived: Duration,
        now: Instant,
    ) -> Response {
        if lived >= WINDOW {
            self.forgive();
        }
        self.begins();
        let by_itself = match policy.restart {
            Restart::Never => return Response::Nothing,
            Restart::Ask => false,
            Restart::Always => true,
            Restart::OnCrash => cause.is_crash(),
        };
        if !by_itself {
            return Response::Offer;
        }
        while self
            .restarts
            .front()
            .is_some_and(|then| now.saturating_duration_since(*then) >= WINDOW)
        {
            self.restarts.pop_front();
        }
        if self.stopped {
            return Response::Offer;
        }
        if self.restarts.len() >= MOST {
            self.stopped = true;
            return Response::Stop;
        }
        self.restarts.push_back(now);
        Response::Restart
    }

    /// The application stopped answering. It may be busy, so only `always` restarts it by itself.
    pub fn hung(&mut self, policy: Policy, lived: Duration, now: Instant) -> Response {
        self.ended(policy, &Cause::Hung, lived, now)
    }

    /// Memory was looked at.
    pub fn memory(&mut self, policy: Policy, pressure: Pressure, now: Instant) -> Care {
        if pressure.used < pressure.alarm {
            return Care::Nothing;
        }
        let past = |then: Option<Instant>, pause: Duration| {
            then.is_none_or(|then| now.saturating_duration_since(then) >= pause)
        };
        if pressure.relief.is_some() && past(self.relieved, RELIEF_PAUSE) {
            self.relieved = Some(now);
            return Care::Relieve;
        }
        if pressure.relief.is_some_and(|shows| !past(self.relieved, shows)) {
            return Care::Wait;
        }
        let may_restart = match policy.restart {
            Restart::Never => false,
            Restart::OnCrash | Restart::Ask | Restart::Always => !self.stopped,
        };
        match policy.recycle {
            Recycle::WhenIdle if may_restart => {
                let idle = pressure.idle.is_some_and(|idle| idle >= pressure.idle_after);
                if idle && past(self.recycled, RECYCLE_PAUSE) {
                    self.recycled = Some(now);
                    return Care::Recycle;
                }
                Care::Wait
            }
            Recycle::WhenIdle | Recycle::Never if self.offered => Care::Wait,
            Recycle::WhenIdle | Recycle::Never => {
                self.offered = true;
                Care::Offer
            }
        }
    }

    /// A new run begins: what was done about the memory of the last one says nothing of it.
    pub fn begins(&mut self) {
        self.offered = false;
        self.relieved = None;
    }

    /// A person restarted or resumed it: what was held against it is forgotten.
    pub fn forgive(&mut self) {
        self.restarts.clear();
        self.stopped = false;
    }

    /// Whether it ended too often to be restarted by itself.
    pub fn has_stopped(&self) -> bool {
        self.stopped
    }

    pub fn woke(&mut self, now: Instant) {
        self.woke = Some(now);
    }

    /// Whether nobody is to be told anything now.
    pub fn is_muted(&self, now: Instant) -> bool {
        self.woke.is_some_and(|woke| now.saturating_duration_since(woke) < MUTED)
    }
}

impl Response {
    /// What a person is told; `None` if nothing is to be said.
    pub fn sentence(self, title: &str) -> Option<String> {
        match self {
            Self::Offer => Some(format!("{title} can be started again with one click.")),
            Self::Stop => Some(format!(
                "{title} keeps crashing. Evermoor stopped restarting it after {MOST} tries in ten minutes."
            )),
            // A restart tells its own steps.
            Self::Restart | Self::Nothing => None,
        }
    }
}

#[cfg(test)]
mod tests;
