//! Restarts an application: drives the state machine of `evermoor_core::policy::app::restart`.
//!
//! # Theory of operation
//! During a restart the supervisor does not connect, so that new calls are held and calls in flight
//! can finish. Then the driver reports events to the state machine (the old process exited, a new one
//! was seen, a handshake succeeded) and carries out the actions that it returns ([`actions`]). The
//! supervisor may connect again as soon as a run other than the old one exists; its handshake proves
//! the restart.

mod actions;

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::FutureExt as _;
use tokio::time::{Instant, sleep_until};

use evermoor_core::api::RestartResult;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::app::restart::{
    RestartAction, RestartDeadlines, RestartEvent, RestartMachine, RestartOutcome, RestartStage,
    RestartTarget,
};

use super::process::AppProcess;
use super::watcher::{AppWatcher, exit_of};
use super::{AppState, observe, port_finder};
use crate::history::millis;
use crate::upstream::delivery::in_flight::InFlightCalls;
use crate::upstream::{LinkState, UpstreamHandle};
use actions::{ActionRunner, Completed, PendingActions};

/// One restart of a watched application.
pub(super) struct RestartDriver<'a> {
    watcher: &'a mut AppWatcher,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RestartReason {
    Requested,
    Exited,
    Hung,
    Memory,
}

/// Keeps the supervisor standing aside until dropped, however the restart ends.
struct StandAside {
    upstream: UpstreamHandle,
    app: Arc<AppState>,
}

/// How often to check whether the application is back.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

impl<'a> RestartDriver<'a> {
    pub(super) fn new(watcher: &'a mut AppWatcher) -> Self {
        Self { watcher }
    }

    /// Restarts the application, or starts it if it does not run.
    pub(super) async fn run(mut self, reason: RestartReason) {
        let now = self.watcher.context.clock.now();
        self.watcher.app.begin_restart(millis(now));
        let calls = self.watcher.upstream.in_flight_calls();
        let aside = StandAside::begin(&self.watcher.upstream, &self.watcher.app);
        // The steps belong to the incident that begins when the supervisor stands aside.
        self.watcher.upstream.until_not_ready().await;
        self.report(reason.sentence(&self.watcher.preset.title));
        let outcome = self.prepare_and_drive(calls).await;
        let failure = match outcome {
            RestartOutcome::Restarted { .. } => None,
            RestartOutcome::Failed { failure, .. } => Some(failure),
        };
        let at = millis(self.watcher.context.clock.now());
        if let Some(failure) = &failure {
            tracing::warn!(upstream = %self.watcher.upstream.name(), %failure, "restart failed");
        }
        self.watcher.app.end_restart(RestartResult { at, failure });
        self.watcher.app.change(|seen| seen.launching = false);
        drop(aside);
        self.watcher.context.changed.notify_one();
    }

    async fn prepare_and_drive(&mut self, calls: Vec<Arc<InFlightCalls>>) -> RestartOutcome {
        let Some(probe) = self.watcher.context.apps.probe().cloned() else {
            return self.fail("Evermoor could not create an HTTP client.");
        };
        let preset = Arc::clone(&self.watcher.preset);
        let found = port_finder::find(&preset, &probe).next().await;
        if self.watcher.process.is_none() {
            self.watcher.process = match found {
                Some(port) => AppProcess::behind(port).await,
                None => observe::processes(&preset).await.into_iter().find_map(AppProcess::watch),
            };
        }
        let process = self.watcher.process.as_ref();
        let launch_methods =
            observe::launch_methods(&preset, process.and_then(AppProcess::executable));
        let old = process.map(AppProcess::run);
        let in_flight = calls.iter().map(|one| one.count()).sum();
        let subject = RestartTarget {
            preset: &preset,
            old,
            up: old.is_some() || found.is_some(),
            answers: found.is_some(),
            calls: in_flight,
            launch_methods: launch_methods.len(),
        };
        self.watcher.app.change(|seen| seen.leaving = old);
        let now = Instant::now().into_std();
        let begun = RestartMachine::begin(subject, RestartDeadlines::of(&preset), now);
        let runner = ActionRunner {
            upstream: self.watcher.upstream.clone(),
            preset,
            app: Arc::clone(&self.watcher.app),
            probe,
            launch_methods,
            calls,
            port: found,
        };
        self.drive(begun, &runner).await
    }

    /// Carries out the state machine's actions and reports events to it until it finishes.
    async fn drive(
        &mut self,
        (mut machine, mut actions): (RestartMachine, Vec<RestartAction>),
        runner: &ActionRunner,
    ) -> RestartOutcome {
        let (mut pending, mut state) = (PendingActions::new(), self.watcher.upstream.watch());
        pending.push(runner.check(Duration::ZERO, machine.old_run_ended()).boxed());
        loop {
            for action in actions.drain(..) {
                match action {
                    RestartAction::Progress(what) => self.report(what),
                    RestartAction::Finish(outcome) => return outcome,
                    action @ (RestartAction::Drain
                    | RestartAction::AskToRestart
                    | RestartAction::AskToQuit
                    | RestartAction::End(_)
                    | RestartAction::Launch { .. }) => {
                        pending.push(runner.begin(&action, self.watcher.process.as_ref()));
                    }
                }
            }
            let deadline = machine.deadline().map_or_else(Instant::now, Instant::from_std);
            let event = tokio::select! {
                biased;
                () = exit_of(self.watcher.process.as_ref()) => {
                    self.watcher.process = None;
                    self.watcher.app.change(|seen| {
                        (seen.pid, seen.served, seen.answered) = (None, false, None);
                    });
                    Some(RestartEvent::Gone)
                }
                Some(completed) = pending.next() => match completed {
                    Completed::Action(event) => event,
                    Completed::Check(event) => {
                        pending.push(runner.check(CHECK_INTERVAL, machine.old_run_ended()).boxed());
                        event
                    }
                },
                Ok(()) = state.changed() => {
                    let link = state.borrow_and_update().link.clone();
                    match link {
                        LinkState::Ready(_) => Some(self.on_handshake().await),
                        LinkState::Paused { .. } => {
                            return self.fail("It was paused during the restart.");
                        }
                        LinkState::Connecting | LinkState::Down { .. } => None,
                    }
                }
                () = sleep_until(deadline) => Some(RestartEvent::Tick),
            };
            if let Some(event) = event {
                actions = machine.on(event, Instant::now().into_std());
            }
        }
    }

    /// The supervisor connected; finds out to which run.
    async fn on_handshake(&mut self) -> RestartEvent {
        let process = match self.watcher.app.seen().port {
            Some(port) => AppProcess::behind(port).await,
            None => None,
        };
        let run = process.as_ref().map(AppProcess::run);
        if run.is_some() && run != self.watcher.app.leaving() {
            self.watcher.process = process;
        }
        RestartEvent::HandshakeCompleted(run)
    }

    /// Logs a step, records it in the history and shows it to users.
    fn report(&self, what: String) {
        tracing::info!(upstream = %self.watcher.upstream.name(), "{what}");
        self.watcher.record_event(what.clone());
        self.watcher.app.step(millis(self.watcher.context.clock.now()), what);
        self.watcher.context.changed.notify_one();
    }

    fn fail(&self, what: &str) -> RestartOutcome {
        self.report(what.to_owned());
        let remedy = "Start it yourself; Evermoor connects automatically.";
        let failure = Failure::new(Code::Internal, what, remedy);
        RestartOutcome::Failed { at: RestartStage::Launch, failure }
    }
}

impl RestartReason {
    fn sentence(self, title: &str) -> String {
        match self {
            Self::Requested => format!("A restart of {title} was requested."),
            Self::Exited => format!("Starting {title} again because it exited."),
            Self::Hung => format!("Restarting {title} because it stopped responding."),
            Self::Memory => format!("Restarting {title} while it is idle, to free memory."),
        }
    }
}

impl StandAside {
    fn begin(upstream: &UpstreamHandle, app: &Arc<AppState>) -> Self {
        upstream.set_stand_aside(true);
        Self { upstream: upstream.clone(), app: Arc::clone(app) }
    }
}

impl Drop for StandAside {
    fn drop(&mut self) {
        self.upstream.set_stand_aside(false);
        self.app.change(|seen| seen.leaving = None);
        self.app.interrupt_restart();
    }
}
