//! What each event means in each phase of a restart.

use std::time::Instant;

use super::super::Run;
use super::super::command::Firmness;
use super::{Action, Outcome, Phase, Restart, Stage, Step, text};

impl Restart {
    /// Takes the next step: the application is up and must end, or is gone and must be launched.
    pub(super) fn advance(&mut self, now: Instant, actions: &mut Vec<Action>) {
        if self.gone {
            return self.launch(0, now, actions);
        }
        let Some(step) = self.next.pop_front() else {
            let stage = match &self.phase {
                Phase::OwnWay { .. } => Stage::OwnWay,
                Phase::Ending { step: Step::Quit, .. } => Stage::Quit,
                Phase::Draining { .. }
                | Phase::Ending { .. }
                | Phase::Launching { .. }
                | Phase::Answering { .. }
                | Phase::Over => Stage::End,
            };
            return self.fail(stage, None, actions);
        };
        let limits = self.limits;
        match step {
            Step::OwnWay => {
                self.phase = Phase::OwnWay { until: now + limits.own_way };
                actions.push(Action::Say(text::own_way(&self.title)));
                actions.push(Action::AskToRestart);
            }
            Step::Quit => {
                let firmness = Firmness::Asked;
                self.phase = Phase::Ending { step, firmness, until: now + limits.quit };
                actions.push(Action::Say(text::quit(&self.title)));
                actions.push(Action::AskToQuit);
            }
            Step::End => {
                let firmness = Firmness::Asked;
                self.phase = Phase::Ending { step, firmness, until: now + limits.end };
                actions.push(Action::Say(text::end(&self.title)));
                actions.push(Action::End(firmness));
            }
        }
    }

    /// The deadline of the phase has passed.
    pub(super) fn late(&mut self, now: Instant, actions: &mut Vec<Action>) {
        match self.phase {
            Phase::Draining { .. } => {
                actions.push(Action::Say(text::not_drained()));
                self.advance(now, actions);
            }
            Phase::OwnWay { .. } if !self.gone => {
                actions.push(Action::Say(text::own_way_failed(&self.title, None)));
                self.advance(now, actions);
            }
            Phase::OwnWay { .. } => self.launch(0, now, actions),
            Phase::Ending { step: Step::End, firmness: Firmness::Asked, .. } => {
                let (step, firmness) = (Step::End, Firmness::Forced);
                self.phase = Phase::Ending { step, firmness, until: now + self.limits.force };
                actions.push(Action::Say(text::force(&self.title)));
                actions.push(Action::End(firmness));
            }
            Phase::Ending { .. } => self.advance(now, actions),
            Phase::Launching { .. } => self.fail(Stage::Launch, None, actions),
            Phase::Answering { .. } => self.fail(Stage::Answer, None, actions),
            Phase::Over => {}
        }
    }

    pub(super) fn refused(&mut self, why: &str, now: Instant, actions: &mut Vec<Action>) {
        match self.phase {
            Phase::OwnWay { .. } if !self.gone => {
                actions.push(Action::Say(text::own_way_failed(&self.title, Some(why))));
                self.advance(now, actions);
            }
            Phase::Ending { step: Step::Quit, .. } if !self.gone => {
                actions.push(Action::Say(text::quit_failed(&self.title, why)));
                self.advance(now, actions);
            }
            // Asking failed, and force does not ask.
            Phase::Ending { step: Step::End, firmness: Firmness::Asked, .. } => {
                self.late(now, actions);
            }
            Phase::Launching { way, .. } if way + 1 < self.ways => {
                self.launch(way + 1, now, actions);
            }
            Phase::Launching { .. } => self.fail(Stage::Launch, Some(why), actions),
            Phase::Ending { .. } => self.fail(Stage::End, Some(why), actions),
            // A connection that broke because it ended says nothing more.
            Phase::OwnWay { .. }
            | Phase::Draining { .. }
            | Phase::Answering { .. }
            | Phase::Over => {}
        }
    }

    /// The old run is gone.
    pub(super) fn went(&mut self, now: Instant, actions: &mut Vec<Action>) {
        if self.gone {
            return;
        }
        self.gone = true;
        match self.phase {
            Phase::OwnWay { until } => {
                let until = until.min(now + self.limits.comes_back);
                self.phase = Phase::OwnWay { until };
                actions.push(Action::Say(text::gone(&self.title)));
            }
            Phase::Draining { .. } | Phase::Ending { .. } => {
                actions.push(Action::Say(text::gone(&self.title)));
                self.launch(0, now, actions);
            }
            Phase::Launching { .. } | Phase::Answering { .. } | Phase::Over => {}
        }
    }

    /// Before the old run is gone, another process says nothing: an application may have several.
    pub(super) fn seen(&mut self, run: Run, now: Instant, actions: &mut Vec<Action>) {
        if !self.gone || self.old == Some(run) {
            return;
        }
        match self.phase {
            // It came back, or somebody else started it: there is nothing left to launch.
            Phase::OwnWay { .. } | Phase::Launching { .. } => self.answering(now, actions),
            Phase::Ending { .. }
            | Phase::Draining { .. }
            | Phase::Answering { .. }
            | Phase::Over => {}
        }
    }

    pub(super) fn shook(&mut self, run: Option<Run>, now: Instant, actions: &mut Vec<Action>) {
        if self.is_over() {
            return;
        }
        if self.proves(run) {
            let took = now.saturating_duration_since(self.began);
            self.phase = Phase::Over;
            actions.push(Action::Say(text::proven(&self.title, took)));
            actions.push(Action::Finish(Outcome::Proven { run, took }));
        } else if !self.doubted && !matches!(self.phase, Phase::Draining { .. }) {
            self.doubted = true;
            actions.push(Action::Say(text::still_the_old(&self.title)));
        }
    }

    fn launch(&mut self, way: usize, now: Instant, actions: &mut Vec<Action>) {
        if self.ways == 0 {
            return self.fail(Stage::Launch, None, actions);
        }
        self.phase = Phase::Launching { way, until: now + self.limits.launch };
        if way == 0 {
            actions.push(Action::Say(text::launch(&self.title)));
        }
        actions.push(Action::Launch { way });
    }

    fn answering(&mut self, now: Instant, actions: &mut Vec<Action>) {
        self.phase = Phase::Answering { until: now + self.limits.answer };
        actions.push(Action::Say(text::answering(&self.title)));
    }

    fn fail(&mut self, at: Stage, why: Option<&str>, actions: &mut Vec<Action>) {
        let failure = text::failed(&self.title, at, why, self.unsaved_work, self.ways);
        self.phase = Phase::Over;
        actions.push(Action::Say(failure.what.clone()));
        actions.push(Action::Finish(Outcome::Failed { at, failure }));
    }
}
