//! Bringing an application back: the restart that `evermoor_core::policy::app::restart` describes, carried
//! out.
//!
//! # Theory of operation
//! The supervisor steps aside, so that new calls wait and calls under way may end. Then the machine
//! is told what happens (the end of the old process, a new one that is seen, a handshake) and what
//! it says is done. The supervisor may connect again as soon as a run that is not the old one is
//! there; its handshake is the proof.

pub(crate) mod actions;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::FutureExt as _;
use tokio::time::{Instant, sleep_until};

use evermoor_core::api::RestartEnd;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::app::restart::{
    Action, Event, Limits, Outcome, Restart, Stage, Subject,
};

use super::process::Process;
use super::watcher::{Minder, end_of};
use super::{Desk, finder, observe};
use crate::history::millis;
use crate::upstream::Link;
use crate::upstream::delivery::in_flight::UnderWay;
use actions::{Begun, Came, Means};

/// Why it is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    Wished,
    Ended,
    Hung,
    Memory,
}

/// How often somebody looks whether it is there again.
const LOOK: Duration = Duration::from_millis(200);

/// The supervisor steps aside until this is dropped, whatever becomes of the restart.
struct Aside(Arc<Desk>);

impl Minder {
    /// Restarts it, or starts it if it does not run.
    pub(super) async fn bring_back(&mut self, why: Why) {
        let now = self.around.chance.now();
        self.desk.begin_restart(millis(now));
        let calls = self.upstream.under_way();
        let aside = Aside::step(Arc::clone(&self.desk));
        // Steps are written down with the outage that begins when the supervisor steps aside.
        self.upstream.stepped_aside().await;
        self.say(why.sentence(&self.preset.title));
        let outcome = self.drive(calls).await;
        let failure = match outcome {
            Outcome::Proven { .. } => None,
            Outcome::Failed { failure, .. } => Some(failure),
        };
        let at = millis(self.around.chance.now());
        if let Some(failure) = &failure {
            tracing::warn!(upstream = %self.upstream.name(), %failure, "not restarted");
        }
        self.desk.end_restart(RestartEnd { at, failure });
        self.desk.change(|seen| seen.launching = false);
        drop(aside);
        self.around.changed.notify_one();
    }

    async fn drive(&mut self, calls: Vec<Arc<UnderWay>>) -> Outcome {
        let Some(asker) = self.around.apps.asker().cloned() else {
            return self.cannot("No HTTP client can be made on this machine.");
        };
        let found = finder::find(&self.preset, &asker).next().await;
        if self.process.is_none() {
            self.process = match found {
                Some(port) => Process::behind(port).await,
                None => observe::processes(&self.preset).await.into_iter().find_map(Process::watch),
            };
        }
        let ways = observe::ways(&self.preset, self.process.as_ref().and_then(Process::executable));
        let old = self.process.as_ref().map(Process::run);
        let in_flight = calls.iter().map(|one| one.count()).sum();
        let subject = Subject {
            preset: &self.preset,
            old,
            up: old.is_some() || found.is_some(),
            answers: found.is_some(),
            calls: in_flight,
            ways: ways.len(),
        };
        self.desk.change(|seen| seen.leaving = old);
        let now = Instant::now().into_std();
        let begun = Restart::begin(subject, Limits::of(&self.preset), now);
        let means = Means {
            upstream: self.upstream.clone(),
            preset: Arc::clone(&self.preset),
            desk: Arc::clone(&self.desk),
            asker,
            ways,
            calls,
            port: found,
        };
        self.carry_out(begun, &means).await
    }

    /// Does what the machine says, and tells it what happens, until it is over.
    async fn carry_out(
        &mut self,
        (mut machine, mut actions): (Restart, Vec<Action>),
        means: &Means,
    ) -> Outcome {
        let (mut begun, mut state) = (Begun::new(), self.upstream.watch());
        begun.push(means.look(Duration::ZERO, machine.has_gone()).boxed());
        loop {
            for action in actions.drain(..) {
                match action {
                    Action::Say(what) => self.say(what),
                    Action::Finish(outcome) => return outcome,
                    doing @ (Action::Drain
                    | Action::AskToRestart
                    | Action::AskToQuit
                    | Action::End(_)
                    | Action::Launch { .. }) => {
                        begun.push(means.begin(&doing, self.process.as_ref()));
                    }
                }
            }
            let deadline = machine.deadline().map_or_else(Instant::now, Instant::from_std);
            let event = tokio::select! {
                biased;
                () = end_of(self.process.as_ref()) => {
                    self.process = None;
                    self.desk.change(|seen| {
                        (seen.pid, seen.served, seen.answered) = (None, false, None);
                    });
                    Some(Event::Gone)
                }
                Some(came) = begun.next() => match came {
                    Came::Of(event) => event,
                    Came::OfLooking(event) => {
                        begun.push(means.look(LOOK, machine.has_gone()).boxed());
                        event
                    }
                },
                Ok(()) = state.changed() => {
                    let link = state.borrow_and_update().link.clone();
                    match link {
                        Link::Ready(_) => Some(self.shook().await),
                        Link::Paused { .. } => return self.cannot("It was paused meanwhile."),
                        Link::Connecting | Link::Down { .. } => None,
                    }
                }
                () = sleep_until(deadline) => Some(Event::Tick),
            };
            if let Some(event) = event {
                actions = machine.on(event, Instant::now().into_std());
            }
        }
    }

    /// The supervisor has shaken hands: with whom?
    async fn shook(&mut self) -> Event {
        let met = match self.desk.seen().port {
            Some(port) => Process::behind(port).await,
            None => None,
        };
        let run = met.as_ref().map(Process::run);
        if run.is_some() && run != self.desk.leaving() {
            self.process = met;
        }
        Event::Shook(run)
    }

    fn say(&self, what: String) {
        tracing::info!(upstream = %self.upstream.name(), "{what}");
        self.tell(what.clone());
        self.desk.step(millis(self.around.chance.now()), what);
        self.around.changed.notify_one();
    }

    fn cannot(&self, what: &str) -> Outcome {
        self.say(what.to_owned());
        let remedy = "Start it yourself; Evermoor connects automatically.";
        let failure = Failure::new(Code::Internal, what, remedy);
        Outcome::Failed { at: Stage::Launch, failure }
    }
}

impl Why {
    fn sentence(self, title: &str) -> String {
        match self {
            Self::Wished => format!("A person asked for {title} to be restarted."),
            Self::Ended => format!("{title} is started again, because it ended."),
            Self::Hung => format!("{title} is restarted, because it stopped answering."),
            Self::Memory => format!("{title} is restarted while nobody uses it, to free memory."),
        }
    }
}

impl Aside {
    fn step(desk: Arc<Desk>) -> Self {
        desk.step_aside(true);
        Self(desk)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        self.0.step_aside(false);
        // Whoever looks after it next begins anew.
        self.0.change(|seen| seen.leaving = None);
        self.0.interrupt_restart();
    }
}
