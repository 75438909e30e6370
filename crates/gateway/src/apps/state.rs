//! What is known of one application, where its connector, its minder and whoever watches meet.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use evermoor_core::api;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::history::incident::Event;
use evermoor_core::policy::app::Run;
use evermoor_core::policy::app::evidence::Cause;
use evermoor_core::policy::app::state::{Standing, State};

/// What is known, and the way to wish for a restart.
pub(crate) struct Desk {
    seen: watch::Sender<Seen>,
    /// No call is to be sent for the moment: it is being restarted.
    aside: watch::Sender<bool>,
    /// How many people look at it.
    lookers: watch::Sender<usize>,
}

/// What was seen of it last.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    /// The port at which it was last known by its identity.
    pub(super) port: Option<u16>,
    /// When it last answered anything.
    pub(super) answered: Option<Instant>,
    /// Its MCP server has answered in this run.
    pub(super) served: bool,
    /// The run that is to end: it does not count as found.
    pub(super) leaving: Option<Run>,
    /// How its last run ended, if none has begun since.
    pub(super) ended: Option<Cause>,
    /// It was launched a moment ago.
    pub(super) launching: bool,
    pub(super) standing: Option<Standing>,
    pub(super) version: Option<String>,
    pub(super) pid: Option<u32>,
    pub(super) usage: Option<Usage>,
    /// From how much memory on it takes too much.
    pub(super) alarm: Option<u64>,
    /// What a person is offered.
    pub(super) offer: Option<String>,
    /// It is not started again by itself.
    pub(super) gave_up: bool,
    pub(super) restart: Option<api::Restart>,
    /// Somebody wishes that it is restarted.
    wished: bool,
}

/// What it uses, and where that is going.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) memory: u64,
    /// In thousandths of one processor.
    pub(super) load: u32,
    pub(super) trend: String,
}

/// Somebody who looks, until this is dropped.
pub(crate) struct Looker(watch::Sender<usize>);

impl Seen {
    /// Nothing of it is known any more but what was done.
    pub(super) fn forget(&mut self) {
        *self = Self { restart: self.restart.take(), ..Self::default() };
    }
}

impl Desk {
    pub(super) fn new() -> Self {
        let lookers = watch::Sender::new(0);
        Self { seen: watch::Sender::default(), aside: watch::Sender::new(false), lookers }
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen.borrow().clone()
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut Seen)) {
        self.seen.send_modify(change);
    }

    /// It was found at this port.
    pub(crate) fn found(&self, port: u16) {
        self.change(|seen| {
            (seen.port, seen.answered) = (Some(port), Some(Instant::now()));
        });
    }

    /// Its MCP server answered, so that it stands like this until it is looked at.
    pub(crate) fn serves(&self, standing: Standing) {
        self.change(|seen| {
            (seen.served, seen.answered) = (true, Some(Instant::now()));
            if !seen.standing.as_ref().is_some_and(|before| before.state.is_usable()) {
                // Nothing that was offered while it was away helps any more.
                (seen.standing, seen.offer, seen.gave_up) = (Some(standing), None, false);
            }
        });
    }

    pub(crate) fn has_served(&self) -> bool {
        self.seen.borrow().served
    }

    /// The run that is to end, if one is.
    pub(crate) fn leaving(&self) -> Option<Run> {
        self.seen.borrow().leaving
    }

    /// For how long it has answered nothing, if it ever did.
    pub(super) fn silent(&self) -> Option<Duration> {
        self.seen.borrow().answered.map(|answered| answered.elapsed())
    }

    pub(crate) fn aside(&self) -> watch::Receiver<bool> {
        self.aside.subscribe()
    }

    pub(super) fn step_aside(&self, aside: bool) {
        self.aside.send_replace(aside);
    }

    /// Wishes that it is restarted, and says by which number that restart is known. Who wishes
    /// during a restart means that one.
    pub(crate) fn wish_restart(&self) -> u64 {
        let mut number = 0;
        self.change(|seen| {
            let last = seen.restart.as_ref();
            number = last.map_or(0, |restart| restart.number);
            if last.is_none_or(|restart| restart.end.is_some()) {
                seen.wished = true;
                number += 1;
            }
        });
        number
    }

    /// Waits until somebody wishes for a restart.
    pub(super) async fn wished(&self) {
        let mut seen = self.seen.subscribe();
        // The sender is in our own hand, so that it cannot be gone.
        let _ = seen.wait_for(|seen| seen.wished).await;
    }

    /// A restart begins; whoever wished for one means this.
    pub(super) fn begin_restart(&self, at: u64) {
        self.change(|seen| {
            seen.wished = false;
            (seen.offer, seen.gave_up) = (None, false);
            let number = seen.restart.as_ref().map_or(0, |restart| restart.number) + 1;
            seen.restart = Some(api::Restart { number, began: at, steps: vec![], end: None });
        });
    }

    pub(super) fn step(&self, at: u64, what: String) {
        self.change(|seen| {
            if let Some(restart) = &mut seen.restart {
                restart.steps.push(Event { at, what });
            }
        });
    }

    pub(super) fn end_restart(&self, end: api::RestartEnd) {
        self.change(|seen| {
            seen.wished = false;
            if let Some(restart) = &mut seen.restart {
                restart.end = Some(end);
            }
        });
    }

    /// Nobody goes on with the restart, if one is under way.
    pub(super) fn interrupt_restart(&self) {
        self.change(|seen| {
            let under_way = seen.restart.as_mut().filter(|restart| restart.end.is_none());
            if let Some(restart) = under_way {
                let at = restart.steps.last().map_or(restart.began, |step| step.at);
                let what = "The restart was interrupted, because the configuration changed.";
                let failure = Failure::new(Code::Configuration, what, "Restart it again.");
                restart.end = Some(api::RestartEnd { at, failure: Some(failure) });
            }
        });
    }

    /// Somebody looks at it from now on.
    pub(crate) fn look(&self) -> Looker {
        self.lookers.send_modify(|count| *count += 1);
        Looker(self.lookers.clone())
    }

    pub(super) fn lookers(&self) -> watch::Receiver<usize> {
        self.lookers.subscribe()
    }

    /// What people are shown.
    pub(crate) fn view(&self) -> Option<api::App> {
        let seen = self.seen.borrow();
        let standing = seen.standing.as_ref()?;
        let sentences = standing.notes.iter().map(|note| format!("{} {}", note.what, note.remedy));
        Some(api::App {
            word: standing.state.word().to_owned(),
            what: standing.words.what.clone(),
            remedy: standing.words.remedy.clone(),
            next: standing.next,
            notes: sentences.collect(),
            version: seen.version.clone(),
            port: seen.port,
            pid: seen.pid,
            memory: seen.usage.as_ref().map(|usage| usage.memory),
            memory_alarm: seen.alarm,
            load: seen.usage.as_ref().map(|usage| usage.load),
            trend: seen.usage.as_ref().map(|usage| usage.trend.clone()),
            offer: seen.offer.clone(),
            signed_out: matches!(standing.state, State::SignedOut(_)),
            gave_up: seen.gave_up,
            restart: seen.restart.clone(),
        })
    }
}

impl Drop for Looker {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
