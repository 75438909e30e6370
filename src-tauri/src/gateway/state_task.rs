//! The task that keeps the [`TrayState`] up to date, so that opening the menu does no I/O.
//!
//! The gateway pushes its state. The installed editors and the login entry do not: they are read
//! again when something suggests that they changed, and at intervals.

use std::time::Duration;

use evermoor_client::{ControlClient, Presence};
use evermoor_core::api::{DetectedEditor, Setup};
use evermoor_core::failure::Failure;
use evermoor_platform::clock;
use tauri::{AppHandle, Manager};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep_until};
use tracing::debug;

use crate::actions::relocate;
use crate::gateway::SupervisedGateway;
use crate::gateway::state::TrayState;
use crate::launch_at_login;
use crate::updates::Update;

/// The menu shows durations in minutes, so it is updated twice a minute.
const TICK: Duration = Duration::from_secs(30);
/// How often to read the editors' files, which change without notice.
const REFRESH_INTERVAL: Duration = Duration::from_secs(300);

enum StateMessage {
    Restarting(String),
    Restarted(String),
    Refresh,
}

/// A handle to the state task.
pub(crate) struct StateHandle {
    state: watch::Receiver<TrayState>,
    messages: mpsc::UnboundedSender<StateMessage>,
}

impl StateHandle {
    pub(crate) fn start(
        app: &AppHandle,
        presence: watch::Receiver<Presence>,
        update: watch::Receiver<Update>,
    ) -> Self {
        let first = TrayState {
            login: launch_at_login::is_enabled(app),
            must_move: relocate::is_pending(),
            now: clock::unix_millis(),
            ..TrayState::new(presence.borrow().clone(), update.borrow().clone())
        };
        let (publish, state) = watch::channel(first);
        let (messages, inbox) = mpsc::unbounded_channel();
        let task = StateTask { app: app.clone(), presence, update, state: publish, inbox };
        app.state::<SupervisedGateway>().spawn(task.run());
        Self { state, messages }
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<TrayState> {
        self.state.clone()
    }

    /// The user has restarted an upstream.
    pub(crate) fn restarting(&self, upstream: &str) {
        self.send(StateMessage::Restarting(upstream.to_owned()));
    }

    /// The restart has ended, successfully or not.
    pub(crate) fn restarted(&self, upstream: &str) {
        self.send(StateMessage::Restarted(upstream.to_owned()));
    }

    /// An editor's file or the login entry has changed.
    pub(crate) fn refresh(&self) {
        self.send(StateMessage::Refresh);
    }

    fn send(&self, message: StateMessage) {
        // This fails only while the application exits.
        drop(self.messages.send(message));
    }
}

struct StateTask {
    app: AppHandle,
    presence: watch::Receiver<Presence>,
    update: watch::Receiver<Update>,
    state: watch::Sender<TrayState>,
    inbox: mpsc::UnboundedReceiver<StateMessage>,
}

impl StateTask {
    async fn run(mut self) {
        let mut refreshed = self.refresh().await;
        let mut tick = Instant::now() + TICK;
        loop {
            let mut refresh = false;
            tokio::select! {
                Ok(()) = self.presence.changed() => refresh = self.on_presence(),
                Ok(()) = self.update.changed() => {
                    let update = self.update.borrow_and_update().clone();
                    self.state.send_modify(|state| state.update = update);
                }
                Some(message) = self.inbox.recv() => refresh = self.on_message(message),
                () = sleep_until(tick) => {
                    tick = Instant::now() + TICK;
                    refresh = refreshed.elapsed() >= REFRESH_INTERVAL;
                    let login = launch_at_login::is_enabled(&self.app);
                    self.state.send_modify(|state| (state.now, state.login) = (clock::unix_millis(), login));
                }
                else => return,
            }
            if refresh {
                refreshed = self.refresh().await;
            }
        }
    }

    /// Publishes the gateway's state. Returns whether the editors may have changed with it.
    fn on_presence(&mut self) -> bool {
        let presence = self.presence.borrow_and_update().clone();
        let before = self.state.borrow().presence.clone();
        let refresh = editors(&before) != editors(&presence);
        self.state
            .send_modify(|state| (state.presence, state.now) = (presence, clock::unix_millis()));
        refresh
    }

    /// Handles a message. Returns whether to read the editors and the login entry again.
    fn on_message(&mut self, message: StateMessage) -> bool {
        match message {
            StateMessage::Restarting(name) => {
                self.state.send_modify(|state| {
                    state.restarting.insert(name);
                });
                false
            }
            StateMessage::Restarted(name) => {
                self.state.send_modify(|state| {
                    state.restarting.remove(&name);
                });
                false
            }
            StateMessage::Refresh => true,
        }
    }

    /// Reads what nothing pushes: the editors and the login entry.
    async fn refresh(&self) -> Instant {
        let login = launch_at_login::is_enabled(&self.app);
        let found = match self.app.state::<SupervisedGateway>().supervisor().control() {
            Ok(control) => setup(control).await,
            Err(failure) => Err(failure),
        };
        self.state.send_modify(|state| {
            state.login = login;
            match found {
                Ok(found) => state.editors = found,
                Err(failure) => debug!(%failure, "cannot list the editors"),
            }
        });
        Instant::now()
    }
}

async fn setup(control: ControlClient) -> Result<Vec<DetectedEditor>, Failure> {
    let setup: Setup = control.get("/api/setup").await?;
    Ok(setup.editors)
}

/// The parts of the gateway's state that change when an editor comes or goes: tokens and sessions.
fn editors(presence: &Presence) -> Option<(Vec<&str>, usize)> {
    match presence {
        Presence::Serving { status } => {
            let names = status.editors.iter().map(|editor| editor.name.as_str()).collect();
            Some((names, status.attached.len()))
        }
        Presence::Starting | Presence::Lost { .. } | Presence::Stopped => None,
    }
}
