//! Quitting. The gateway keeps running, unless the user has set it to stop with the tray. A gateway
//! that runs under the system's service manager is never stopped here.
//!
//! The decision is made when the application exits, because the menu is not the only way to quit:
//! on macOS there are ⌘Q, the Dock and the end of the login session, which announce nothing before.

use evermoor_core::api::Status;
use evermoor_platform::startup::location::Relocation;
use parking_lot::Mutex;
use tauri::{AppHandle, Manager, RESTART_EXIT_CODE};

use crate::gateway::state_task::StateHandle;

/// Why the application exits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum ExitReason {
    /// Also an exit that nothing requested.
    #[default]
    Quit,
    /// An update was installed, and the new version starts.
    Restart,
    /// The application was copied to Applications, and the copy starts.
    Relocate(Relocation),
}

/// The exit that was requested.
#[derive(Default)]
pub(crate) struct RequestedExit(Mutex<ExitReason>);

impl RequestedExit {
    /// The event loop was asked to exit with this code.
    pub(crate) fn requested(&self, code: i32) {
        if code == RESTART_EXIT_CODE {
            *self.0.lock() = ExitReason::Restart;
        }
    }

    pub(crate) fn relocate(&self, relocation: Relocation) {
        *self.0.lock() = ExitReason::Relocate(relocation);
    }

    pub(crate) fn reason(&self) -> ExitReason {
        self.0.lock().clone()
    }
}

pub(crate) fn quit(app: &AppHandle) {
    app.exit(0);
}

/// Whether this exit stops the gateway.
pub(crate) fn stops_gateway(app: &AppHandle) -> bool {
    let Some(state) = app.try_state::<StateHandle>() else { return false };
    let state = state.subscribe();
    let state = state.borrow();
    decide(&app.state::<RequestedExit>().reason(), state.status())
}

/// `status` is what the gateway last reported; `None` if it is not running.
fn decide(reason: &ExitReason, status: Option<&Status>) -> bool {
    let Some(status) = status.filter(|status| !status.supervised) else { return false };
    match reason {
        ExitReason::Quit => status.tray.quit_stops_gateway,
        ExitReason::Restart => false,
        // It runs from a place that vanishes. The copy starts another one.
        ExitReason::Relocate(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::menu::tests::status;

    fn with(quit_stops_gateway: bool, supervised: bool) -> Status {
        let mut status = status(Vec::new());
        status.tray.quit_stops_gateway = quit_stops_gateway;
        status.supervised = supervised;
        status
    }

    #[test]
    fn quitting_stops_the_gateway_only_if_the_user_wants_it() {
        assert!(decide(&ExitReason::Quit, Some(&with(true, false))));
        assert!(!decide(&ExitReason::Quit, Some(&with(false, false))));
        assert!(!decide(&ExitReason::Quit, None), "it is not running");
    }

    #[test]
    fn a_gateway_of_the_service_manager_keeps_running() {
        assert!(!decide(&ExitReason::Quit, Some(&with(true, true))));
    }

    #[test]
    fn a_restart_after_an_update_is_not_a_quit() {
        let exit = RequestedExit::default();
        assert_eq!(exit.reason(), ExitReason::Quit, "⌘Q requests nothing");
        exit.requested(0);
        assert_eq!(exit.reason(), ExitReason::Quit);
        exit.requested(RESTART_EXIT_CODE);
        assert_eq!(exit.reason(), ExitReason::Restart);
        assert!(!decide(&exit.reason(), Some(&with(true, false))));
    }

    #[test]
    fn a_gateway_of_an_application_that_moves_is_stopped_because_it_would_vanish() {
        let exit = RequestedExit::default();
        let (from, to) =
            ("/Volumes/Evermoor/Evermoor.app".into(), "/Applications/Evermoor.app".into());
        exit.relocate(Relocation { from, to });
        exit.requested(0);
        assert!(decide(&exit.reason(), Some(&with(false, false))));
        assert!(!decide(&exit.reason(), Some(&with(false, true))), "launchd keeps it running");
    }
}
