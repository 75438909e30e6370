//! The interface to the desktop's notifications.

use evermoor_core::policy::alerts::{Alert, AlertButton, AlertId};

/// A desktop's notifications. They may get lost, so the tray shows the same state.
pub(crate) trait Notifier: Send {
    /// Shows a notification. Returns whether it is on the screen.
    fn show(&mut self, id: AlertId, alert: &Alert) -> impl Future<Output = bool> + Send;

    /// Replaces the notification with this id.
    fn replace(&mut self, id: AlertId, alert: &Alert) -> impl Future<Output = ()> + Send;

    /// Removes a notification.
    fn withdraw(&mut self, id: AlertId) -> impl Future<Output = ()> + Send;

    /// Waits for the next click. Cancel safe.
    fn clicked(&mut self) -> impl Future<Output = NotificationClick> + Send;
}

/// A click on a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotificationClick {
    pub(crate) id: AlertId,
    pub(crate) target: ClickTarget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClickTarget {
    /// The notification itself.
    Notice,
    Button(AlertButton),
}

impl NotificationClick {
    /// The click that a desktop reports: a button's key, or anything else for the notification.
    pub(crate) fn of(id: AlertId, key: &str) -> Self {
        let target = AlertButton::parse(key).map_or(ClickTarget::Notice, ClickTarget::Button);
        Self { id, target }
    }
}
