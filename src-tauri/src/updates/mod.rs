//! Updates of the application: looked for now and then, checked against our key, and installed when
//! a person says so, but never in the middle of a call.
//!
//! A build without a key of its own has no updates and says so.

mod source;
mod task;

use evermoor_core::failure::{Code, Failure};
use serde::Serialize;
use tauri::{AppHandle, Manager, State};
use tokio::sync::{mpsc, watch};

use self::source::Source;
use self::task::Task;
use crate::gateway::Gateway;

/// How it stands with updates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub(crate) enum Update {
    /// This build cannot update itself, and why.
    Off {
        reason: String,
    },
    /// There is nothing newer.
    None,
    Available {
        version: String,
    },
    /// It is here and waits for calls to end.
    Waiting {
        version: String,
    },
    Installing {
        version: String,
    },
    /// The last attempt came to nothing.
    Failed {
        version: Option<String>,
        reason: String,
    },
}

/// A handle to the task that looks for updates.
pub(crate) struct Updates {
    state: watch::Receiver<Update>,
    wishes: mpsc::UnboundedSender<()>,
}

impl Updates {
    pub(crate) fn start(app: &AppHandle) -> Self {
        let (wishes, heard) = mpsc::unbounded_channel();
        let (show, state) = match Source::here() {
            Ok(source) => {
                let (show, state) = watch::channel(Update::None);
                (Some((source, show)), state)
            }
            Err(reason) => (None, watch::channel(Update::Off { reason: reason.into() }).1),
        };
        if let Some((source, show)) = show {
            let task = Task { app: app.clone(), source, show, heard };
            app.state::<Gateway>().spawn(task.run());
        }
        Self { state, wishes }
    }

    pub(crate) fn state(&self) -> watch::Receiver<Update> {
        self.state.clone()
    }

    /// Has the update installed that is there.
    pub(crate) fn install(&self) {
        // Without a task there is no update to install.
        let _ = self.wishes.send(());
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
        Update::Off { reason } => refused(reason, "Install a newer version by hand."),
        Update::None => refused("There is no update.", "Look again tomorrow."),
        Update::Available { .. }
        | Update::Waiting { .. }
        | Update::Installing { .. }
        | Update::Failed { .. } => {
            updates.install();
            Ok(())
        }
    }
}
