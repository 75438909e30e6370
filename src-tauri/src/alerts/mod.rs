//! Notifications. What is told and when is decided by [`evermoor_core::policy::alerts`]; here it is shown,
//! and what a person presses is done.
//!
//! # Theory of operation
//! One task follows the gateway's presence and what the person does in the tray, asks the rules, and
//! carries out their orders on the desktop's [`Notifier`]. It sleeps until the moment at which the
//! rules want to be asked again. When the application ends it takes away what would speak to nobody.

mod buttons;
mod notifier;
mod task;

use evermoor_core::policy::alerts::TrayAction;
use tauri::{AppHandle, Manager};
use tokio::sync::mpsc;

pub(crate) use notifier::{Notifier, Press};

use crate::gateway::Gateway;
use crate::system::notifications::Notifications;
use crate::updates::Updates;

/// What a person does in the tray goes through here, so that they are not told of it.
pub(crate) struct Alerts {
    acts: mpsc::UnboundedSender<TrayAction>,
}

/// Tells what happens from now on, until the application ends.
pub(crate) fn start(app: &AppHandle, at_login: bool) {
    let (acts, acted) = mpsc::unbounded_channel();
    app.manage(Alerts { acts });
    let gateway = app.state::<Gateway>();
    let (app, presence) = (app.clone(), gateway.presence());
    let updates = app.state::<Updates>().state();
    gateway.spawn_until(|stop| async move {
        let notifier = Notifications::new();
        task::Task::new(app, notifier, presence, updates, acted, at_login).run(stop).await;
    });
}

/// A person does this.
pub(crate) fn acted(app: &AppHandle, act: TrayAction) {
    if let Some(alerts) = app.try_state::<Alerts>() {
        // Nobody listens any more: the application ends.
        let _ = alerts.acts.send(act);
    }
}
