//! What shows notifications, whatever the desktop.

use evermoor_core::policy::alerts::{Alert, AlertButton, AlertId};

/// A desktop's notifications. Nobody may rely on them: the tray shows the same state.
pub(crate) trait Notifier: Send {
    /// Shows a notice; says whether it is on the screen.
    fn show(&mut self, id: AlertId, notice: &Alert) -> impl Future<Output = bool> + Send;

    /// Puts a notice in the place of the one with this id.
    fn replace(&mut self, id: AlertId, notice: &Alert) -> impl Future<Output = ()> + Send;

    /// Takes a notice away.
    fn withdraw(&mut self, id: AlertId) -> impl Future<Output = ()> + Send;

    /// What is pressed next. May be dropped while it waits.
    fn pressed(&mut self) -> impl Future<Output = Press> + Send;
}

/// A person pressed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Press {
    pub(crate) id: AlertId,
    pub(crate) on: Pressed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pressed {
    /// The notice itself.
    Notice,
    Button(AlertButton),
}

impl Press {
    /// What a desktop says was pressed: a button's key, or anything else for the notice itself.
    pub(crate) fn of(id: AlertId, key: &str) -> Self {
        let on = AlertButton::parse(key).map_or(Pressed::Notice, Pressed::Button);
        Self { id, on }
    }
}
