//! Notifications. [`evermoor_core::policy::alerts`] decides what to show and when; this folder shows
//! it and handles clicks.
//!
//! # Theory of operation
//! One task follows the gateway's state and the user's actions in the tray, asks the rules what to
//! do, and carries it out on the desktop's [`Notifier`]. It sleeps until the rules want to be asked
//! again. When the application exits, it withdraws the notifications whose buttons would no longer
//! work.
//!
//! [`notifier`] is the interface to the desktop, [`task`] the task, [`buttons`] what a click does.
//! Uses `system::notifications`, `gateway`, `updates`, `actions` and `window`.

mod buttons;
mod notifier;
mod task;

use evermoor_core::policy::alerts::TrayAction;
use tauri::{AppHandle, Manager};
use tokio::sync::mpsc;

pub(crate) use notifier::{NotificationClick, Notifier};

use crate::gateway::SupervisedGateway;
use crate::system::notifications::Notifications;
use crate::updates::Updates;

/// Receives the user's actions in the tray, so that no notification reports what they just did.
pub(crate) struct Alerts {
    acts: mpsc::UnboundedSender<TrayAction>,
}

/// Shows notifications until the application exits.
pub(crate) fn start(app: &AppHandle, at_login: bool) {
    let (acts, inbox) = mpsc::unbounded_channel();
    app.manage(Alerts { acts });
    let gateway = app.state::<SupervisedGateway>();
    let (app, presence) = (app.clone(), gateway.presence());
    let updates = app.state::<Updates>().state();
    gateway.spawn_until(|stop| async move {
        let notifier = Notifications::new(&app);
        task::AlertsTask::new(app, notifier, presence, updates, inbox, at_login).run(stop).await;
    });
}

/// Records an action of the user.
pub(crate) fn record_action(app: &AppHandle, act: TrayAction) {
    if let Some(alerts) = app.try_state::<Alerts>() {
        // This fails only while the application exits.
        let _ = alerts.acts.send(act);
    }
}
