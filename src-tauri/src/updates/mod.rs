//! Updates of the application. Evermoor checks for them at intervals, verifies them against a
//! built-in key, and installs them when the user asks, but never during a call.
//!
//! A build without a key has no updates and says so. [`source`] holds the address and the key,
//! [`task`] checks and installs. Uses `gateway` to see whether calls are running.

mod source;
mod task;

use evermoor_core::failure::{Code, Failure};
use serde::Serialize;
use tauri::{AppHandle, Manager, State};
use tokio::sync::{mpsc, watch};

use self::source::Source;
use self::task::UpdatesTask;
use crate::gateway::SupervisedGateway;

/// The state of updates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub(crate) enum Update {
    /// This build cannot update itself, and why.
    Off {
        reason: String,
    },
    /// This is the newest version.
    None,
    Available {
        version: String,
    },
    /// Downloaded, and waiting for calls to finish.
    Waiting {
        version: String,
    },
    Installing {
        version: String,
    },
    /// The last attempt failed.
    Failed {
        version: Option<String>,
        reason: String,
    },
}

/// A handle to the update task.
pub(crate) struct Updates {
    state: watch::Receiver<Update>,
    install_requests: mpsc::UnboundedSender<()>,
}

impl Updates {
    pub(crate) fn start(app: &AppHandle) -> Self {
        let (install_requests, inbox) = mpsc::unbounded_channel();
        let (publish, state) = match Source::built_in() {
            Ok(source) => {
                let (publish, state) = watch::channel(Update::None);
                (Some((source, publish)), state)
            }
            Err(reason) => (None, watch::channel(Update::Off { reason: reason.into() }).1),
        };
        if let Some((source, publish)) = publish {
            let task =
                UpdatesTask { app: app.clone(), source, state: publish, install_requests: inbox };
            app.state::<SupervisedGateway>().spawn(task.run());
        }
        Self { state, install_requests }
    }

    pub(crate) fn state(&self) -> watch::Receiver<Update> {
        self.state.clone()
    }

    /// Installs the available update.
    pub(crate) fn install(&self) {
        // Without a task there is no update to install.
        let _ = self.install_requests.send(());
    }
}

pub(crate) fn plugin() -> tauri::plugin::TauriPlugin<tauri::Wry, tauri_plugin_updater::Config> {
    tauri_plugin_updater::Builder::new().build()
}

#[tauri::command]
pub(crate) fn update_state(updates: State<'_, Updates>) -> Update {
    updates.state.borrow().clone()
}

#[tauri::command]
pub(crate) fn install_update(updates: State<'_, Updates>) -> Result<(), Failure> {
    let refused = |what: &str, remedy: &str| Err(Failure::new(Code::Forbidden, what, remedy));
    match &*updates.state.borrow() {
        Update::Off { reason } => refused(reason, "Install the new version yourself."),
        Update::None => refused("Evermoor is up to date.", "It checks for updates twice a day."),
        Update::Available { .. }
        | Update::Waiting { .. }
        | Update::Installing { .. }
        | Update::Failed { .. } => {
            updates.install();
            Ok(())
        }
    }
}
