//! What is known, kept up to date by one task, so that nothing is asked for when a menu opens.
//!
//! The gateway's state comes by itself. The editors on the machine and the entry for launch at login
//! are looked at when something hints that they changed, and now and then.

use std::time::Duration;

use evermoor_client::{Control, Presence};
use evermoor_core::api::{DetectedEditor, Setup, Status};
use evermoor_core::failure::Failure;
use evermoor_platform::clock;
use tauri::{AppHandle, Manager};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use tracing::debug;

use crate::gateway::Gateway;
use crate::gateway::state::Known;
use crate::login;
use crate::updates::Update;

/// Times are told in minutes.
const TICK: Duration = Duration::from_secs(30);
/// Files of editors change without a word.
const LOOK_AGAIN: Duration = Duration::from_secs(300);

/// What others tell the desk.
enum Word {
    Restarting(String),
    Restarted(String),
    LookAgain,
}

/// A handle to the task that keeps what is known.
pub(crate) struct Desk {
    known: watch::Receiver<Known>,
    words: mpsc::UnboundedSender<Word>,
}

impl Desk {
    pub(crate) fn start(
        app: &AppHandle,
        presence: watch::Receiver<Presence>,
        update: watch::Receiver<Update>,
    ) -> Self {
        let first = Known {
            login: login::is_enabled(app),
            now: clock::unix_millis(),
            ..Known::new(presence.borrow().clone(), update.borrow().clone())
        };
        let (show, known) = watch::channel(first);
        let (words, heard) = mpsc::unbounded_channel();
        let task = Task { app: app.clone(), presence, update, show, heard };
        app.state::<Gateway>().spawn(task.run());
        Self { known, words }
    }

    pub(crate) fn known(&self) -> watch::Receiver<Known> {
        self.known.clone()
    }

    /// A person had an upstream restarted.
    pub(crate) fn restarting(&self, upstream: &str) {
        self.tell(Word::Restarting(upstream.to_owned()));
    }

    /// It is over, well or not.
    pub(crate) fn restarted(&self, upstream: &str) {
        self.tell(Word::Restarted(upstream.to_owned()));
    }

    /// Something outside has changed: an editor's file, the entry for launch at login.
    pub(crate) fn look_again(&self) {
        self.tell(Word::LookAgain);
    }

    fn tell(&self, word: Word) {
        // The task ends with the application; then there is nobody to tell.
        drop(self.words.send(word));
    }
}

struct Task {
    app: AppHandle,
    presence: watch::Receiver<Presence>,
    update: watch::Receiver<Update>,
    show: watch::Sender<Known>,
    heard: mpsc::UnboundedReceiver<Word>,
}

impl Task {
    async fn run(mut self) {
        let mut looked = self.look().await;
        let mut tick = Instant::now() + TICK;
        loop {
            let mut look = false;
            tokio::select! {
                Ok(()) = self.presence.changed() => look = self.note_presence(),
                Ok(()) = self.update.changed() => {
                    let update = self.update.borrow_and_update().clone();
                    self.show.send_modify(|known| known.update = update);
                }
                Some(word) = self.heard.recv() => look = self.note(word),
                () = sleep_until(tick) => {
                    tick = Instant::now() + TICK;
                    look = looked.elapsed() >= LOOK_AGAIN;
                    let login = login::is_enabled(&self.app);
                    self.show.send_modify(|known| (known.now, known.login) = (clock::unix_millis(), login));
                }
                else => return,
            }
            if look {
                looked = self.look().await;
            }
        }
    }

    /// Takes note of the gateway's state, and says whether editors may have changed with it.
    fn note_presence(&mut self) -> bool {
        let presence = self.presence.borrow_and_update().clone();
        let before = self.show.borrow().presence.clone();
        let look = editors(&before) != editors(&presence);
        self.show
            .send_modify(|known| (known.presence, known.now) = (presence, clock::unix_millis()));
        look
    }

    fn note(&mut self, word: Word) -> bool {
        match word {
            Word::Restarting(name) => {
                self.show.send_modify(|known| {
                    known.restarting.insert(name);
                });
                false
            }
            Word::Restarted(name) => {
                self.show.send_modify(|known| {
                    known.restarting.remove(&name);
                });
                false
            }
            Word::LookAgain => true,
        }
    }

    /// Looks at what nobody tells.
    async fn look(&self) -> Instant {
        let login = login::is_enabled(&self.app);
        let found = match self.app.state::<Gateway>().keeper().control() {
            Ok(control) => setup(control).await,
            Err(failure) => Err(failure),
        };
        self.show.send_modify(|known| {
            known.login = login;
            match found {
                Ok(found) => known.editors = found,
                Err(failure) => debug!(%failure, "the editors are not known"),
            }
        });
        Instant::now()
    }
}

async fn setup(control: Control) -> Result<Vec<DetectedEditor>, Failure> {
    let setup: Setup = control.get("/api/setup").await?;
    Ok(setup.editors)
}

/// What in the gateway's state hints at editors that came or went: their tokens, their sessions.
fn editors(presence: &Presence) -> Option<(Vec<&str>, usize)> {
    let told = |status: &Status| status.attached.len();
    match presence {
        Presence::Serving { status } => {
            let names = status.editors.iter().map(|editor| editor.name.as_str()).collect();
            Some((names, told(status)))
        }
        Presence::Starting | Presence::Lost { .. } => None,
    }
}
