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

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use evermoor_core::history::samples;
use evermoor_core::policy::app::policy::{Guard, Policy};
use evermoor_core::policy::app::state::{HUNG, Standing, State};
use evermoor_core::preset::Preset;

use super::Around;
use super::exit_cause::Judged;
use super::observe::{Eyes, Look};
use super::process::Process;
use super::state::{Desk, Seen};
use crate::upstream::{Handle, Link, Ready};

pub(super) struct Minder {
    pub(super) upstream: Handle,
    pub(super) preset: Arc<Preset>,
    pub(super) desk: Arc<Desk>,
    pub(super) around: Around,
    pub(super) process: Option<Process>,
    /// The connection whose process is known.
    pub(super) met: Option<u64>,
    pub(super) guard: Guard,
    /// It was said that this run hangs.
    pub(super) hung: bool,
    /// When a sample was last written down.
    pub(super) written: Option<Instant>,
    pub(super) verdicts: mpsc::Sender<Judged>,
    judged: mpsc::Receiver<Judged>,
}

/// What there is to react to.
enum Happened {
    Ended,
    Judged(Judged),
    Wished,
    /// Its link changed.
    Stirred,
    /// The machine woke up, or somebody began to look or stopped.
    Woke,
    Looked(Look),
}

/// What of a link makes a difference here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Serves { generation: u64 },
    Away,
    Paused,
}

/// How often it is looked at while it is away. It is followed within a second, wherever it comes
/// back.
const AWAY: Duration = Duration::from_millis(800);
/// How often all processes are looked through meanwhile, to say how it stands.
const THOROUGH: Duration = Duration::from_secs(4);
/// How often it is looked at while it is not even installed.
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
            met: None,
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
        let Some(eyes) = Eyes::of(&self) else { return };
        let (mut next, mut looked) = (Instant::now(), None::<Instant>);
        let mut shown = kind(&state.borrow_and_update().link);
        loop {
            if shown == Kind::Paused {
                self.rest();
                if state.wait_for(|state| kind(&state.link) != Kind::Paused).await.is_err() {
                    return;
                }
                // What was found out meanwhile is nobody's concern any more.
                while self.judged.try_recv().is_ok() {}
            }
            let look = async {
                sleep_until(next).await;
                let thorough = looked.is_none_or(|last| last.elapsed() >= THOROUGH);
                (eyes.look(self.met, thorough).await, thorough)
            };
            let happened = tokio::select! {
                biased;
                () = end_of(self.process.as_ref()) => Happened::Ended,
                Some(judged) = self.judged.recv() => Happened::Judged(judged),
                () = self.desk.wished() => Happened::Wished,
                changed = state.changed() => match changed {
                    Ok(()) => Happened::Stirred,
                    Err(_) => return,
                },
                Ok(()) = wakes.changed() => Happened::Woke,
                Ok(()) = lookers.changed() => Happened::Woke,
                (look, thorough) = look => {
                    if thorough {
                        looked = Some(Instant::now());
                    }
                    Happened::Looked(look)
                }
            };
            let before = std::mem::replace(&mut shown, kind(&state.borrow_and_update().link));
            match happened {
                Happened::Looked(look) => next = Instant::now() + self.looked(look).await,
                // Another attempt of the supervisor is no news.
                Happened::Stirred if shown == before => {}
                Happened::Stirred | Happened::Woke => (next, looked) = (Instant::now(), None),
                Happened::Ended => self.ended().await,
                Happened::Judged(judged) => {
                    self.judged(judged).await;
                    looked = None;
                }
                Happened::Wished => self.wished().await,
            }
        }
    }

    /// A person paused it: nothing of it is known from now on.
    fn rest(&mut self) {
        (self.process, self.met, self.hung) = (None, None, false);
        self.show(Seen::forget);
    }

    /// Takes in what a look came to, and says how long it is until the next.
    async fn looked(&mut self, look: Look) -> Duration {
        match look {
            Look::Serves { standing, version, ready, met } => {
                if let Some(met) = met {
                    self.meet(met.map(|process| *process), &ready);
                }
                self.serves(standing, version, &ready).await;
                match *self.desk.lookers().borrow() {
                    0 => SERVES,
                    _ => LOOKED_AT,
                }
            }
            Look::Away { found, standing } => self.is_away(found, standing).await,
            Look::Nothing => AWAY,
        }
    }

    /// Knows the process of a new connection, which may be the one that was known before.
    fn meet(&mut self, met: Option<Process>, ready: &Ready) {
        self.met = Some(ready.generation());
        let run = |process: &Option<Process>| process.as_ref().map(Process::run);
        if self.process.is_none() || run(&self.process) != run(&met) {
            self.process = met;
            self.hung = false;
            self.guard.begins();
            self.show(|seen| seen.offer = None);
        }
    }

    async fn serves(&mut self, standing: Standing, version: Option<String>, ready: &Ready) {
        let alarm = self.alarm();
        let usage = self.process.as_mut().and_then(|process| process.sample(alarm));
        let pid = self.process.as_ref().map(|process| process.run().pid);
        let answers_again = std::mem::take(&mut self.hung);
        self.show(|seen| {
            if answers_again {
                seen.offer = None;
            }
            (seen.standing, seen.version, seen.alarm) = (Some(standing), version, alarm);
            (seen.usage, seen.pid) = (usage.clone(), pid);
            (seen.ended, seen.launching) = (None, false);
        });
        if let Some(usage) = usage {
            self.write_down(&usage);
            self.care(usage.memory, ready).await;
        }
    }

    async fn is_away(&mut self, found: Option<u16>, standing: Option<Standing>) -> Duration {
        if found.is_some() {
            self.upstream.is_there().await;
        }
        let Some(standing) = standing else { return AWAY };
        let (state, served) = (standing.state.clone(), self.desk.has_served());
        self.show(|seen| {
            seen.usage = None;
            // One that served and does no more is not starting; its link says what is wrong.
            if !(served && found.is_some()) {
                seen.standing = Some(standing);
            }
        });
        if let State::Hung { silent } = state
            && silent >= HUNG
        {
            self.hangs().await;
        }
        if state == State::NotInstalled { NOT_HERE } else { AWAY }
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

fn kind(link: &Link) -> Kind {
    match link {
        Link::Ready(ready) => Kind::Serves { generation: ready.generation() },
        Link::Connecting | Link::Down { .. } => Kind::Away,
        Link::Paused { .. } => Kind::Paused,
    }
}

/// Waits for the end of a process, for ever if there is none.
pub(super) async fn end_of(process: Option<&Process>) {
    match process {
        Some(process) => process.ended().await,
        None => std::future::pending().await,
    }
}
