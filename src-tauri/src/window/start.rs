//! Which window opens when the application starts. Usually none does: a window opens on the first
//! run, with `--window`, and on a desktop without a tray.

use std::time::Duration;

use evermoor_client::Presence;
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;
use tauri::{AppHandle, Manager};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::warn;

use crate::gateway::SupervisedGateway;
use crate::window::page::Page;
use crate::{launch_at_login, system, window};

/// Usually longer than a gateway takes to start.
const FIRST_RUN_TIMEOUT: Duration = Duration::from_secs(3);

/// How the application was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    /// By the system at login.
    hidden: bool,
    /// With `--window`.
    window: bool,
}

impl Start {
    pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Self {
        arguments.into_iter().fold(Self::default(), |start, argument| match argument.as_str() {
            launch_at_login::HIDDEN => Self { hidden: true, ..start },
            "--window" => Self { window: true, ..start },
            _ => start,
        })
    }

    /// Whether the system started it at login.
    pub(crate) fn is_login(self) -> bool {
        self.hidden
    }

    /// The user launched the application although it is running, so they are looking for it.
    pub(crate) fn launched_again(self, app: &AppHandle) {
        if !self.hidden {
            window::open(app);
        }
    }

    /// Opens a window if this start needs one.
    pub(crate) async fn open_first_window(self, app: AppHandle, icon: bool) {
        if self.window {
            window::open(&app);
        }
        if self.hidden || self.window {
            return;
        }
        let presence = app.state::<SupervisedGateway>().presence();
        if icon && system::has_tray().await {
            if is_first_run(presence).await {
                window::open_at(&app, &Page::Welcome);
                system::notifications::ask_in_first_run();
            }
            return;
        }
        // Without a tray the window is the only way in, so it must not wait for a gateway that
        // cannot start.
        let welcome = timeout(FIRST_RUN_TIMEOUT, is_first_run(presence)).await.unwrap_or(false);
        let page = if welcome { Page::Welcome } else { Page::Overview };
        window::open_at(&app, &page);
        if is_first_notice(app.state::<SupervisedGateway>().supervisor().paths()) {
            system::explain_missing_tray(&app);
        }
    }
}

/// Whether nothing has been set up yet. Waits until the gateway is running.
async fn is_first_run(mut presence: watch::Receiver<Presence>) -> bool {
    let serves = |presence: &Presence| matches!(presence, Presence::Serving { .. });
    let serving = presence.wait_for(serves).await;
    matches!(serving.as_deref(), Ok(Presence::Serving { status }) if status.first_run)
}

/// Whether the user has not yet seen the notice about the missing tray.
fn is_first_notice(paths: &Paths) -> bool {
    let file = paths.no_tray_file();
    let first = !file.exists();
    if first && let Err(error) = private::write_private(&file, b"told\n") {
        warn!(%error, "cannot remember that the notice about the missing tray was shown");
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_at_login_is_recognised_by_its_argument() {
        let read = |arguments: &[&str]| Start::read(arguments.iter().map(|&one| one.to_owned()));
        assert_eq!(read(&["evermoor-tray"]), Start { hidden: false, window: false });
        assert_eq!(read(&["evermoor-tray", "--hidden"]), Start { hidden: true, window: false });
        assert_eq!(read(&["evermoor-tray", "--window"]), Start { hidden: false, window: true });
    }
}
