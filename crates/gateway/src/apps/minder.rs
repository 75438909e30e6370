//! The task that looks after one application.
//!
//! # Theory of operation
//! While its supervisor has a connection, the application is looked at now and then: its process is
//! known and watched, so that its end is noticed at once, and what it uses is sampled. While there
//! is none, its ports are looked at about once a second, and the supervisor is told when it answers
//! again, wherever that is. An end is told to the supervisor, judged, and met as the policy says.
//! While a person has paused it, nothing is looked at.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep};

use evermoor_core::app::policy::{Guard, Policy};
use evermoor_core::app::state::{HUNG, State};
use evermoor_core::preset::Preset;
use evermoor_core::samples;

use super::desk::{Desk, Seen};
use super::ending::Judged;
use super::process::Process;
use super::{Around, finder, looking};
use crate::upstream::{Handle, Link, Ready};

pub(super) struct Minder {
    pub(super) upstream: Handle,
    pub(super) preset: Arc<Preset>,
    pub(super) desk: Arc<Desk>,
    pub(super) around: Around,
    pub(super) process: Option<Process>,
    pub(super) guard: Guard,
    /// It was said that this run hangs.
    pub(super) hung: bool,
    /// When a sample was last written down.
    pub(super) written: Option<Instant>,
    pub(super) verdicts: mpsc::Sender<Judged>,
    judged: mpsc::Receiver<Judged>,
}

/// How often it is looked at while it is away. It is followed within a second, wherever it comes
/// back.
const AWAY: Duration = Duration::from_millis(800);
/// And while it is not even installed.
const NOT_HERE: Duration = Duration::from_secs(5);
/// How often it is looked at while it serves, and while somebody looks at what is seen.
pub(super) const SERVES: Duration = Duration::from_millis(samples::EVERY);
pub(super) const LOOKED_AT: Duration = Duration::from_secs(2);

impl Minder {
    pub(super) fn new(upstream: Handle, preset: Arc<Preset>, around: Around) -> Self {
        let desk = around.apps.desk(upstream.name());
        let (verdicts, judged) = mpsc::channel(4);
        let (guard, process, written) = (Guard::default(), None, None);
        Self {
            upstream,
            preset,
            desk,
            around,
            process,
            guard,
            hung: false,
            written,
            verdicts,
            judged,
        }
    }

    pub(super) async fn run(mut self) {
        let mut state = self.upstream.watch();
        let (mut wakes, mut lookers) = (self.around.wakes.clone(), self.desk.lookers());
        loop {
            state.mark_unchanged();
            if self.upstream.is_paused() {
                self.process = None;
                self.desk.change(|seen| *seen = Seen::default());
                self.around.changed.notify_one();
                if state.changed().await.is_err() {
                    return;
                }
                continue;
            }
            let wait = self.look().await;
            tokio::select! {
                biased;
                () = end_of(self.process.as_ref()) => self.ended().await,
                Some(judged) = self.judged.recv() => self.judged(judged).await,
                () = self.desk.wished() => self.wished().await,
                changed = state.changed() => if changed.is_err() { return },
                Ok(()) = wakes.changed() => self.guard.woke(Instant::now().into_std()),
                Ok(()) = lookers.changed() => {}
                () = sleep(wait) => {}
            }
        }
    }

    /// Looks at it, and says when to look again.
    async fn look(&mut self) -> Duration {
        let link = self.upstream.state().link;
        match link {
            Link::Ready(ready) => {
                self.look_at_it(&ready).await;
                match *self.desk.lookers().borrow() {
                    0 => SERVES,
                    _ => LOOKED_AT,
                }
            }
            Link::Connecting | Link::Down { .. } => self.look_for_it().await,
            Link::Paused { .. } => AWAY,
        }
    }

    /// It serves.
    async fn look_at_it(&mut self, ready: &Ready) {
        let Some(port) = self.desk.seen().port else { return };
        self.meet(port).await;
        let Some(asker) = self.around.apps.asker() else { return };
        let looked = looking::at(&self.preset, asker, port, ready.silent_for(), &self.desk).await;
        let alarm = self.alarm();
        let usage = self.process.as_mut().and_then(|process| process.sample(alarm));
        let pid = self.process.as_ref().map(|process| process.run().pid);
        self.show(|seen| {
            (seen.standing, seen.version) = (Some(looked.0), looked.1);
            (seen.usage, seen.pid) = (usage.clone(), pid);
            (seen.ended, seen.launching) = (None, false);
        });
        if let Some(usage) = usage {
            self.write_down(&usage);
            self.care(usage.memory, ready).await;
        }
    }

    /// Knows the process behind the port, and notices one that is another than before.
    async fn meet(&mut self, port: u16) {
        if self.process.is_some() {
            return;
        }
        self.process = Process::behind(port).await;
        self.hung = false;
        self.guard.begins();
        self.desk.change(|seen| seen.offer = None);
    }

    /// It is away, or does not serve yet.
    async fn look_for_it(&mut self) -> Duration {
        let Some(asker) = self.around.apps.asker() else { return NOT_HERE };
        let found = finder::find(&self.preset, asker).next().await;
        let standing = match found {
            Some(port) => {
                self.desk.found(port);
                self.upstream.is_there().await;
                looking::half_up(&self.preset, port)
            }
            None => looking::at_none(&self.preset, &self.desk),
        };
        let state = standing.state.clone();
        let served = self.desk.has_served();
        self.show(|seen| {
            seen.usage = None;
            // One that served and does no more is not starting; its link says what is wrong.
            if !(served && found.is_some()) {
                seen.standing = Some(standing);
            }
        });
        match state {
            State::Hung { silent } if silent >= HUNG => self.hangs().await,
            State::NotInstalled => return NOT_HERE,
            _ => {}
        }
        AWAY
    }

    pub(super) fn policy(&self) -> Policy {
        self.upstream.config.policy
    }

    pub(super) fn alarm(&self) -> Option<u64> {
        let preset = self.preset.memory.map(|memory| memory.alarm);
        self.policy().memory_alarm.or(preset)
    }

    /// Writes down what was seen or done.
    pub(super) fn tell(&self, what: String) {
        let name = self.upstream.name().as_str();
        self.around.history.tell(name, self.around.chance.now(), what);
    }

    /// Changes what people see, and tells them if it is another thing.
    pub(super) fn show(&self, change: impl FnOnce(&mut Seen)) {
        let before = self.desk.view();
        self.desk.change(change);
        if self.desk.view() != before {
            self.around.changed.notify_one();
        }
    }
}

/// Waits for the end of a process, for ever if there is none.
pub(super) async fn end_of(process: Option<&Process>) {
    match process {
        Some(process) => process.ended().await,
        None => std::future::pending().await,
    }
}
