//! The way from one run of an application to the next, step by step, with its proof.
//!
//! # Theory of operation
//! The application's own way comes first, then it is asked to quit and launched, then it is ended
//! and launched. Each step has a deadline, and a step that fails leads to the next. Calls under way
//! may end first.
//!
//! A restart is proven by an MCP handshake with a run that is not the old one: another process, or
//! another moment of start. The old process still answering proves nothing, however well it does.
//! Where nobody can see the process, the old run must have been seen to go away.
//!
//! This machine owns no clock and does nothing: it is told what happened and when, and says what to
//! do. Whoever drives it tells it of every end, sighting and handshake, and calls at the deadline.

mod steps;
#[cfg(test)]
mod tests;
mod text;

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::Run;
use super::command::Firmness;
use crate::failure::Failure;
use crate::preset::Preset;

/// What is to be restarted, and how it stands.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    pub preset: &'a Preset,
    /// The run that is to end, where its process can be seen.
    pub old: Option<Run>,
    /// Whether there is something that must end.
    pub up: bool,
    /// Whether it still answers: who does not is not asked for anything.
    pub answers: bool,
    /// Calls under way.
    pub calls: usize,
    /// In how many ways it can be launched.
    pub ways: usize,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// No call is under way any more.
    Drained,
    /// What was asked of it, or the launch, failed at once, and why.
    Refused(String),
    /// The old run ended, or its port closed where no process can be seen.
    Gone,
    /// A process of the application was seen.
    Seen(Run),
    /// An MCP handshake succeeded, with this run if the process can be seen.
    Shook(Option<Run>),
    /// Time passed.
    Tick,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Let no new call through, and tell when none is under way.
    Drain,
    /// Send the preset's own request to restart.
    AskToRestart,
    /// Send the preset's own request to quit, or ask as the system does.
    AskToQuit,
    End(Firmness),
    /// Launch it, in this way of those that are known.
    Launch {
        way: usize,
    },
    /// Tell a person how far it is.
    Say(String),
    /// It is over, one way or the other.
    Finish(Outcome),
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It runs anew and answers MCP.
    Proven {
        run: Option<Run>,
        took: Duration,
    },
    Failed {
        at: Stage,
        failure: Failure,
    },
}

/// Where a restart can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It was asked to restart itself.
    OwnWay,
    /// It was asked to quit.
    Quit,
    /// It was ended.
    End,
    /// It was launched.
    Launch,
    /// It runs anew, and was to answer.
    Answer,
}

/// How long each part may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub drain: Duration,
    pub own_way: Duration,
    /// After it ended by its own way, until it must be seen again.
    pub comes_back: Duration,
    pub quit: Duration,
    /// Until who was asked to end is ended by force.
    pub end: Duration,
    pub force: Duration,
    /// From the launch to the first process.
    pub launch: Duration,
    /// From the first process to the handshake.
    pub answer: Duration,
}

/// A restart under way.
#[derive(Debug)]
pub struct Restart {
    title: String,
    old: Option<Run>,
    /// There is nothing left that must end.
    gone: bool,
    unsaved_work: bool,
    ways: usize,
    limits: Limits,
    began: Instant,
    next: VecDeque<Step>,
    phase: Phase,
    /// It was said that the old process still answers.
    doubted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    OwnWay,
    Quit,
    End,
}

#[derive(Debug)]
enum Phase {
    Draining { until: Instant },
    OwnWay { until: Instant },
    Ending { step: Step, firmness: Firmness, until: Instant },
    Launching { way: usize, until: Instant },
    Answering { until: Instant },
    Over,
}

impl Limits {
    pub fn of(preset: &Preset) -> Self {
        let seconds = Duration::from_secs;
        let own = |request: Option<&crate::preset::Request>, usual: u64| {
            request.map_or(seconds(usual), |request| request.within)
        };
        Self {
            drain: seconds(10),
            own_way: own(preset.restart.as_ref(), 15),
            comes_back: seconds(8),
            quit: own(preset.quit.as_ref(), 10),
            end: seconds(10),
            force: seconds(5),
            launch: seconds(20),
            answer: seconds(60),
        }
    }
}

impl Restart {
    /// Begins. Restarts are one at a time: who asks during one waits for it.
    pub fn begin(subject: Subject<'_>, limits: Limits, now: Instant) -> (Self, Vec<Action>) {
        let preset = subject.preset;
        let mut restart = Self {
            title: preset.title.clone(),
            old: subject.old.filter(|_| subject.up),
            gone: !subject.up,
            unsaved_work: preset.unsaved_work,
            ways: subject.ways,
            limits,
            began: now,
            next: steps(&subject),
            phase: Phase::Over,
            doubted: false,
        };
        let mut actions = Vec::new();
        // Calls to who does not answer would never end.
        if subject.calls > 0 && subject.up && subject.answers {
            restart.phase = Phase::Draining { until: now + limits.drain };
            actions.push(Action::Say(text::draining(subject.calls)));
            actions.push(Action::Drain);
        } else {
            restart.advance(now, &mut actions);
        }
        (restart, actions)
    }

    /// Takes what happened, and says what to do.
    pub fn on(&mut self, event: Event, now: Instant) -> Vec<Action> {
        let mut actions = Vec::new();
        match event {
            Event::Drained => {
                if let Phase::Draining { .. } = self.phase {
                    self.advance(now, &mut actions);
                }
            }
            Event::Refused(why) => self.refused(&why, now, &mut actions),
            Event::Gone => self.went(now, &mut actions),
            Event::Seen(run) => self.seen(run, now, &mut actions),
            Event::Shook(run) => self.shook(run, now, &mut actions),
            Event::Tick => {
                if self.deadline().is_some_and(|deadline| now >= deadline) {
                    self.late(now, &mut actions);
                }
            }
        }
        actions
    }

    /// When it must be called next; `None` when it is over.
    pub fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Draining { until }
            | Phase::OwnWay { until }
            | Phase::Ending { until, .. }
            | Phase::Launching { until, .. }
            | Phase::Answering { until } => Some(until),
            Phase::Over => None,
        }
    }

    /// Whether the old run is gone, or there was none.
    pub fn has_gone(&self) -> bool {
        self.gone
    }

    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Whether a run that answers proves that the application restarted.
    fn proves(&self, run: Option<Run>) -> bool {
        match (self.old, run) {
            (Some(old), Some(run)) => run != old,
            (Some(_) | None, None) | (None, Some(_)) => self.gone,
        }
    }
}

/// The steps that can be taken, in their order.
fn steps(subject: &Subject<'_>) -> VecDeque<Step> {
    let preset = subject.preset;
    let mut steps = VecDeque::new();
    if !subject.up {
        return steps;
    }
    if preset.restart.is_some() && subject.answers {
        steps.push_back(Step::OwnWay);
    }
    // Who cannot be launched again is not ended.
    if subject.ways > 0 {
        if subject.answers || preset.quit.is_none() {
            steps.push_back(Step::Quit);
        }
        if !preset.unsaved_work {
            steps.push_back(Step::End);
        }
    }
    steps
}
