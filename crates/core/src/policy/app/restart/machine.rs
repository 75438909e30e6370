//! The restart state machine: its phases, and what each event does in each of them.

use std::collections::VecDeque;
use std::time::Instant;

use super::super::AppRun;
use super::super::command::StopMode;
use super::{
    RestartAction, RestartDeadlines, RestartEvent, RestartOutcome, RestartStage, RestartTarget,
    text,
};

/// A restart in progress.
#[derive(Debug)]
pub struct RestartMachine {
    title: String,
    old: Option<AppRun>,
    /// The old run exited, or there was none.
    gone: bool,
    unsaved_work: bool,
    launch_methods: usize,
    limits: RestartDeadlines,
    began: Instant,
    next: VecDeque<RestartStep>,
    phase: RestartPhase,
    /// The user was told that the old process still responds.
    reported_old_run: bool,
}

/// A way to make the old run end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RestartStep {
    SelfRestart,
    Quit,
    End,
}

#[derive(Debug)]
enum RestartPhase {
    Draining { until: Instant },
    SelfRestart { until: Instant },
    Ending { step: RestartStep, stop_mode: StopMode, until: Instant },
    Launching { way: usize, until: Instant },
    Answering { until: Instant },
    Over,
}

impl RestartMachine {
    /// Begins a restart. Only one may be in progress at a time.
    pub fn begin(
        subject: RestartTarget<'_>,
        limits: RestartDeadlines,
        now: Instant,
    ) -> (Self, Vec<RestartAction>) {
        let preset = subject.preset;
        let mut restart = Self {
            title: preset.title.clone(),
            old: subject.old.filter(|_| subject.up),
            gone: !subject.up,
            unsaved_work: preset.unsaved_work,
            launch_methods: subject.launch_methods,
            limits,
            began: now,
            next: steps(&subject),
            phase: RestartPhase::Over,
            reported_old_run: false,
        };
        let mut actions = Vec::new();
        // Calls to an app that does not respond would never finish.
        if subject.calls > 0 && subject.up && subject.answers {
            restart.phase = RestartPhase::Draining { until: now + limits.drain };
            actions.push(RestartAction::Progress(text::draining(subject.calls)));
            actions.push(RestartAction::Drain);
        } else {
            restart.advance(now, &mut actions);
        }
        (restart, actions)
    }

    /// Handles an event and returns what to do.
    pub fn on(&mut self, event: RestartEvent, now: Instant) -> Vec<RestartAction> {
        let mut actions = Vec::new();
        match event {
            RestartEvent::Drained => {
                if let RestartPhase::Draining { .. } = self.phase {
                    self.advance(now, &mut actions);
                }
            }
            RestartEvent::Refused(why) => self.refused(&why, now, &mut actions),
            RestartEvent::Gone => self.old_run_exited(now, &mut actions),
            RestartEvent::Seen(run) => self.seen(run, now, &mut actions),
            RestartEvent::HandshakeCompleted(run) => {
                self.handshake_completed(run, now, &mut actions)
            }
            RestartEvent::Tick => {
                if self.deadline().is_some_and(|deadline| now >= deadline) {
                    self.timed_out(now, &mut actions);
                }
            }
        }
        actions
    }

    /// When to send the next [`RestartEvent::Tick`]; `None` when the restart is over.
    pub fn deadline(&self) -> Option<Instant> {
        match self.phase {
            RestartPhase::Draining { until }
            | RestartPhase::SelfRestart { until }
            | RestartPhase::Ending { until, .. }
            | RestartPhase::Launching { until, .. }
            | RestartPhase::Answering { until } => Some(until),
            RestartPhase::Over => None,
        }
    }

    /// Whether the old run exited, or there was none.
    pub fn old_run_ended(&self) -> bool {
        self.gone
    }

    pub fn is_over(&self) -> bool {
        matches!(self.phase, RestartPhase::Over)
    }

    /// Takes the next step: ends the old run, or launches the app if there is none.
    fn advance(&mut self, now: Instant, actions: &mut Vec<RestartAction>) {
        if self.gone {
            return self.launch(0, now, actions);
        }
        let Some(step) = self.next.pop_front() else {
            let stage = match &self.phase {
                RestartPhase::SelfRestart { .. } => RestartStage::SelfRestart,
                RestartPhase::Ending { step: RestartStep::Quit, .. } => RestartStage::Quit,
                RestartPhase::Draining { .. }
                | RestartPhase::Ending { .. }
                | RestartPhase::Launching { .. }
                | RestartPhase::Answering { .. }
                | RestartPhase::Over => RestartStage::End,
            };
            return self.fail(stage, None, actions);
        };
        let limits = self.limits;
        match step {
            RestartStep::SelfRestart => {
                self.phase = RestartPhase::SelfRestart { until: now + limits.self_restart };
                actions.push(RestartAction::Progress(text::self_restart(&self.title)));
                actions.push(RestartAction::AskToRestart);
            }
            RestartStep::Quit => {
                let stop_mode = StopMode::Graceful;
                self.phase = RestartPhase::Ending { step, stop_mode, until: now + limits.quit };
                actions.push(RestartAction::Progress(text::quit(&self.title)));
                actions.push(RestartAction::AskToQuit);
            }
            RestartStep::End => {
                let stop_mode = StopMode::Graceful;
                self.phase = RestartPhase::Ending { step, stop_mode, until: now + limits.stop };
                actions.push(RestartAction::Progress(text::stop(&self.title)));
                actions.push(RestartAction::End(stop_mode));
            }
        }
    }

    /// The deadline of the phase has passed.
    fn timed_out(&mut self, now: Instant, actions: &mut Vec<RestartAction>) {
        match self.phase {
            RestartPhase::Draining { .. } => {
                actions.push(RestartAction::Progress(text::not_drained()));
                self.advance(now, actions);
            }
            RestartPhase::SelfRestart { .. } if !self.gone => {
                actions.push(RestartAction::Progress(text::self_restart_failed(&self.title, None)));
                self.advance(now, actions);
            }
            RestartPhase::SelfRestart { .. } => self.launch(0, now, actions),
            RestartPhase::Ending {
                step: RestartStep::End, stop_mode: StopMode::Graceful, ..
            } => {
                let (step, stop_mode) = (RestartStep::End, StopMode::Forced);
                self.phase =
                    RestartPhase::Ending { step, stop_mode, until: now + self.limits.kill };
                actions.push(RestartAction::Progress(text::kill(&self.title)));
                actions.push(RestartAction::End(stop_mode));
            }
            RestartPhase::Ending { .. } => self.advance(now, actions),
            RestartPhase::Launching { .. } => self.fail(RestartStage::Launch, None, actions),
            RestartPhase::Answering { .. } => self.fail(RestartStage::Answer, None, actions),
            RestartPhase::Over => {}
        }
    }

    fn refused(&mut self, why: &str, now: Instant, actions: &mut Vec<RestartAction>) {
        match self.phase {
            RestartPhase::SelfRestart { .. } if !self.gone => {
                actions.push(RestartAction::Progress(text::self_restart_failed(
                    &self.title,
                    Some(why),
                )));
                self.advance(now, actions);
            }
            RestartPhase::Ending { step: RestartStep::Quit, .. } if !self.gone => {
                actions.push(RestartAction::Progress(text::quit_failed(&self.title, why)));
                self.advance(now, actions);
            }
            // The process could not be asked to stop, so it is killed.
            RestartPhase::Ending {
                step: RestartStep::End, stop_mode: StopMode::Graceful, ..
            } => {
                self.timed_out(now, actions);
            }
            RestartPhase::Launching { way, .. } if way + 1 < self.launch_methods => {
                self.launch(way + 1, now, actions);
            }
            RestartPhase::Launching { .. } => self.fail(RestartStage::Launch, Some(why), actions),
            RestartPhase::Ending { .. } => self.fail(RestartStage::End, Some(why), actions),
            // After the exit, a failed request means only that the connection broke.
            RestartPhase::SelfRestart { .. }
            | RestartPhase::Draining { .. }
            | RestartPhase::Answering { .. }
            | RestartPhase::Over => {}
        }
    }

    fn old_run_exited(&mut self, now: Instant, actions: &mut Vec<RestartAction>) {
        if self.gone {
            return;
        }
        self.gone = true;
        match self.phase {
            RestartPhase::SelfRestart { until } => {
                let until = until.min(now + self.limits.reappear);
                self.phase = RestartPhase::SelfRestart { until };
                actions.push(RestartAction::Progress(text::exited(&self.title)));
            }
            RestartPhase::Draining { .. } | RestartPhase::Ending { .. } => {
                actions.push(RestartAction::Progress(text::exited(&self.title)));
                self.launch(0, now, actions);
            }
            RestartPhase::Launching { .. }
            | RestartPhase::Answering { .. }
            | RestartPhase::Over => {}
        }
    }

    /// An app may have several processes, so another one means nothing until the old run exits.
    fn seen(&mut self, run: AppRun, now: Instant, actions: &mut Vec<RestartAction>) {
        if !self.gone || self.old == Some(run) {
            return;
        }
        match self.phase {
            // It came back, or another program started it: there is nothing left to launch.
            RestartPhase::SelfRestart { .. } | RestartPhase::Launching { .. } => {
                self.phase = RestartPhase::Answering { until: now + self.limits.handshake };
                actions.push(RestartAction::Progress(text::running(&self.title)));
            }
            RestartPhase::Ending { .. }
            | RestartPhase::Draining { .. }
            | RestartPhase::Answering { .. }
            | RestartPhase::Over => {}
        }
    }

    fn handshake_completed(
        &mut self,
        run: Option<AppRun>,
        now: Instant,
        actions: &mut Vec<RestartAction>,
    ) {
        if self.is_over() {
            return;
        }
        if self.proves(run) {
            let took = now.saturating_duration_since(self.began);
            self.phase = RestartPhase::Over;
            actions.push(RestartAction::Progress(text::restarted(&self.title, took)));
            actions.push(RestartAction::Finish(RestartOutcome::Restarted { run, took }));
        } else if !self.reported_old_run && !matches!(self.phase, RestartPhase::Draining { .. }) {
            self.reported_old_run = true;
            actions.push(RestartAction::Progress(text::still_the_old_run(&self.title)));
        }
    }

    /// Whether a handshake with this run proves that the app restarted.
    fn proves(&self, run: Option<AppRun>) -> bool {
        match (self.old, run) {
            (Some(old), Some(run)) => run != old,
            (Some(_) | None, None) | (None, Some(_)) => self.gone,
        }
    }

    fn launch(&mut self, way: usize, now: Instant, actions: &mut Vec<RestartAction>) {
        if self.launch_methods == 0 {
            return self.fail(RestartStage::Launch, None, actions);
        }
        self.phase = RestartPhase::Launching { way, until: now + self.limits.launch };
        if way == 0 {
            actions.push(RestartAction::Progress(text::launch(&self.title)));
        }
        actions.push(RestartAction::Launch { way });
    }

    fn fail(&mut self, at: RestartStage, why: Option<&str>, actions: &mut Vec<RestartAction>) {
        let failure = text::failed(&self.title, at, why, self.unsaved_work, self.launch_methods);
        self.phase = RestartPhase::Over;
        actions.push(RestartAction::Progress(failure.what.clone()));
        actions.push(RestartAction::Finish(RestartOutcome::Failed { at, failure }));
    }
}

/// The steps that are possible, in order.
fn steps(subject: &RestartTarget<'_>) -> VecDeque<RestartStep> {
    let preset = subject.preset;
    let mut steps = VecDeque::new();
    if !subject.up {
        return steps;
    }
    if preset.restart.is_some() && subject.answers {
        steps.push_back(RestartStep::SelfRestart);
    }
    // An app that Evermoor cannot launch is not stopped either.
    if subject.launch_methods > 0 {
        if subject.answers || preset.quit.is_none() {
            steps.push_back(RestartStep::Quit);
        }
        if !preset.unsaved_work {
            steps.push_back(RestartStep::End);
        }
    }
    steps
}
