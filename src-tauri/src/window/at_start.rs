//! What a start shows: mostly nothing. A window opens at the first run, when somebody asks for one,
//! and where there is no tray to find Evermoor in.

use std::time::Duration;

use evermoor_client::Presence;
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;
use tauri::{AppHandle, Manager};
use tokio::sync::watch;
use tokio::time::timeout;
use tracing::warn;

use crate::gateway::Gateway;
use crate::window::page::Page;
use crate::{login, system, window};

/// Longer than a gateway takes to start, most of the time.
const A_MOMENT: Duration = Duration::from_secs(3);

/// How the program was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    /// By the system, at login.
    hidden: bool,
    /// By somebody who wants a window.
    window: bool,
}

impl Start {
    pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Self {
        arguments.into_iter().fold(Self::default(), |start, argument| match argument.as_str() {
            login::HIDDEN => Self { hidden: true, ..start },
            "--window" => Self { window: true, ..start },
            _ => start,
        })
    }

    /// Whether the system did it, at login.
    pub(crate) fn is_by_login(self) -> bool {
        self.hidden
    }

    /// A second start while the first goes on: a person is looking for Evermoor.
    pub(crate) fn again(self, app: &AppHandle) {
        if !self.hidden {
            window::open(app);
        }
    }

    /// Opens the window that a first start needs, if it needs one.
    pub(crate) async fn first(self, app: AppHandle, icon: bool) {
        if self.window {
            window::open(&app);
        }
        if self.hidden || self.window {
            return;
        }
        let presence = app.state::<Gateway>().presence();
        if icon && system::has_tray().await {
            if is_first_run(presence).await {
                window::open_at(&app, &Page::Welcome);
            }
            return;
        }
        // The only way in must not wait for a gateway that cannot start.
        let welcome = timeout(A_MOMENT, is_first_run(presence)).await.unwrap_or(false);
        let page = if welcome { Page::Welcome } else { Page::Overview };
        window::open_at(&app, &page);
        if is_news(app.state::<Gateway>().keeper().paths()) {
            system::say_there_is_no_tray(&app);
        }
    }
}

/// Whether nobody has set anything up yet, as the gateway says once it serves.
async fn is_first_run(mut presence: watch::Receiver<Presence>) -> bool {
    let serves = |presence: &Presence| matches!(presence, Presence::Serving { .. });
    let serving = presence.wait_for(serves).await;
    matches!(serving.as_deref(), Ok(Presence::Serving { status }) if status.first_run)
}

/// Whether this machine's person has not been told yet that there is no tray.
fn is_news(paths: &Paths) -> bool {
    let file = paths.no_tray_file();
    let news = !file.exists();
    if news && let Err(error) = private::write_private(&file, b"told\n") {
        warn!(%error, "that there is no tray will be told again");
    }
    news
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_is_told_from_a_person() {
        let read = |arguments: &[&str]| Start::read(arguments.iter().map(|&one| one.to_owned()));
        assert_eq!(read(&["evermoor-tray"]), Start { hidden: false, window: false });
        assert_eq!(read(&["evermoor-tray", "--hidden"]), Start { hidden: true, window: false });
        assert_eq!(read(&["evermoor-tray", "--window"]), Start { hidden: false, window: true });
    }
}
