//! What is known about one application, shared by its connector, its watcher and the users who
//! view it.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use evermoor_core::api;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::TimedEvent;
use evermoor_core::policy::app::AppRun;
use evermoor_core::policy::app::evidence::ExitCause;
use evermoor_core::policy::app::state::{AppHealth, AppHealthState};

/// The shared state of one application.
pub(crate) struct AppState {
    seen: watch::Sender<Observed>,
    /// How many users have the application's page open.
    viewers: watch::Sender<usize>,
}

/// What was last observed.
#[derive(Clone, Default)]
pub(crate) struct Observed {
    /// The port where it last proved its identity.
    pub(super) port: Option<u16>,
    /// When it last answered any request.
    pub(super) answered: Option<Instant>,
    /// Its MCP server has answered in this run.
    pub(super) served: bool,
    /// The run that a restart is replacing: it does not count as found.
    pub(super) leaving: Option<AppRun>,
    /// Why its last run ended, if no other has begun since.
    pub(super) ended: Option<ExitCause>,
    /// It was just launched.
    pub(super) launching: bool,
    pub(super) health: Option<AppHealth>,
    pub(super) version: Option<String>,
    pub(super) pid: Option<u32>,
    pub(super) usage: Option<Usage>,
    /// The memory limit in bytes, above which the policy acts.
    pub(super) alarm: Option<u64>,
    /// What users are offered to do.
    pub(super) offer: Option<String>,
    /// Evermoor no longer restarts it automatically.
    pub(super) gave_up: bool,
    pub(super) restart: Option<api::RestartProgress>,
}

/// Memory and load, and the trend of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) memory: u64,
    /// In thousandths of one CPU.
    pub(super) load: u32,
    pub(super) trend: String,
}

/// Counts as a viewer until dropped. The application is observed more often while it has viewers.
pub(crate) struct Viewer(watch::Sender<usize>);

impl Observed {
    fn last_restart(&self) -> u64 {
        self.restart.as_ref().map_or(0, |restart| restart.number)
    }

    /// Forgets everything except the last restart.
    pub(super) fn forget(&mut self) {
        *self = Self { restart: self.restart.take(), ..Self::default() };
    }
}

impl AppState {
    pub(super) fn new() -> Self {
        Self { seen: watch::Sender::default(), viewers: watch::Sender::new(0) }
    }

    pub(super) fn seen(&self) -> Observed {
        self.seen.borrow().clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Observed)) {
        self.seen.send_modify(change);
    }

    /// Records that it answered on this port.
    pub(crate) fn found(&self, port: u16) {
        self.change(|seen| {
            (seen.port, seen.answered) = (Some(port), Some(Instant::now()));
        });
    }

    /// Records that its MCP server answered. `health` holds until the next observation.
    pub(crate) fn serves(&self, health: AppHealth) {
        self.change(|seen| {
            (seen.served, seen.answered) = (true, Some(Instant::now()));
            if !seen.health.as_ref().is_some_and(|before| before.state.is_usable()) {
                // Offers made while it was away no longer apply.
                (seen.health, seen.offer, seen.gave_up) = (Some(health), None, false);
            }
        });
    }

    pub(crate) fn has_served(&self) -> bool {
        self.seen.borrow().served
    }

    /// The run that a restart is replacing.
    pub(crate) fn leaving(&self) -> Option<AppRun> {
        self.seen.borrow().leaving
    }

    /// How long it has not answered; `None` if it never did.
    pub(super) fn silent(&self) -> Option<Duration> {
        self.seen.borrow().answered.map(|answered| answered.elapsed())
    }

    /// The number of the last restart that began; 0 if none did.
    pub(super) fn last_restart(&self) -> u64 {
        self.seen.borrow().last_restart()
    }

    /// The number of the restart that answers a request made now: the one in progress, or the next.
    pub(crate) fn requested_restart(&self) -> u64 {
        let seen = self.seen.borrow();
        let in_progress = seen.restart.as_ref().filter(|restart| restart.end.is_none());
        in_progress.map_or_else(|| seen.last_restart() + 1, |restart| restart.number)
    }

    /// Begins a restart, which answers any pending request for one.
    pub(super) fn begin_restart(&self, at: u64) {
        self.change(|seen| {
            (seen.offer, seen.gave_up) = (None, false);
            let number = seen.last_restart() + 1;
            seen.restart =
                Some(api::RestartProgress { number, began: at, steps: vec![], end: None });
        });
    }

    pub(super) fn step(&self, at: u64, what: String) {
        self.change(|seen| {
            if let Some(restart) = &mut seen.restart {
                restart.steps.push(TimedEvent { at, what });
            }
        });
    }

    pub(super) fn end_restart(&self, end: api::RestartResult) {
        self.change(|seen| {
            if let Some(restart) = &mut seen.restart {
                restart.end = Some(end);
            }
        });
    }

    /// Ends the restart in progress, if there is one, with a failure.
    pub(super) fn interrupt_restart(&self) {
        self.change(|seen| {
            let under_way = seen.restart.as_mut().filter(|restart| restart.end.is_none());
            if let Some(restart) = under_way {
                let at = restart.steps.last().map_or(restart.began, |step| step.at);
                let what = "The restart was interrupted because the configuration changed.";
                let failure = Failure::new(Code::Configuration, what, "Restart it again.");
                restart.end = Some(api::RestartResult { at, failure: Some(failure) });
            }
        });
    }

    /// Registers a viewer.
    pub(crate) fn look(&self) -> Viewer {
        self.viewers.send_modify(|count| *count += 1);
        Viewer(self.viewers.clone())
    }

    pub(super) fn viewers(&self) -> watch::Receiver<usize> {
        self.viewers.subscribe()
    }

    /// What users are shown.
    pub(crate) fn view(&self) -> Option<api::AppStatus> {
        let seen = self.seen.borrow();
        let health = seen.health.as_ref()?;
        let sentences = health.notes.iter().map(|note| format!("{} {}", note.what, note.remedy));
        Some(api::AppStatus {
            word: health.state.word().to_owned(),
            what: health.words.what.clone(),
            remedy: health.words.remedy.clone(),
            next: health.next,
            notes: sentences.collect(),
            version: seen.version.clone(),
            port: seen.port,
            pid: seen.pid,
            memory: seen.usage.as_ref().map(|usage| usage.memory),
            memory_alarm: seen.alarm,
            load: seen.usage.as_ref().map(|usage| usage.load),
            trend: seen.usage.as_ref().map(|usage| usage.trend.clone()),
            offer: seen.offer.clone(),
            signed_out: matches!(health.state, AppHealthState::SignedOut(_)),
            gave_up: seen.gave_up,
            restart: seen.restart.clone(),
        })
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
