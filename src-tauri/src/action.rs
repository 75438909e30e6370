//! What a click in the menu asks for, and how it is done.

use evermoor_core::alerts::Act;
use tauri::{AppHandle, Manager};
use tauri_plugin_clipboard_manager::ClipboardExt;
use tracing::warn;

use crate::gateway::Gateway;
use crate::{alerts, window};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Copy(String),
    Open,
    Quit,
    /// Brings back the upstream of this name.
    Restart(String),
    /// Leaves the upstream of this name alone, or all of them.
    Pause(Option<String>),
    /// Looks after the upstream of this name again, or after all of them.
    Resume(Option<String>),
}

/// An action travels through the desktop as the identifier of its row.
impl Action {
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Copy(text) => format!("copy {text}"),
            Self::Open => "open".into(),
            Self::Quit => "quit".into(),
            Self::Restart(name) => format!("restart {name}"),
            Self::Pause(Some(name)) => format!("pause {name}"),
            Self::Pause(None) => "pause".into(),
            Self::Resume(Some(name)) => format!("resume {name}"),
            Self::Resume(None) => "resume".into(),
        }
    }

    pub(crate) fn parse(id: &str) -> Option<Self> {
        match id.split_once(' ') {
            Some(("copy", text)) => Some(Self::Copy(text.into())),
            Some(("restart", name)) => Some(Self::Restart(name.into())),
            Some(("pause", name)) => Some(Self::Pause(Some(name.into()))),
            Some(("resume", name)) => Some(Self::Resume(Some(name.into()))),
            None if id == "pause" => Some(Self::Pause(None)),
            None if id == "resume" => Some(Self::Resume(None)),
            None if id == "open" => Some(Self::Open),
            None if id == "quit" => Some(Self::Quit),
            Some(_) | None => None,
        }
    }

    pub(crate) fn perform(self, app: &AppHandle) {
        match self {
            Self::Copy(text) => {
                if let Err(error) = app.clipboard().write_text(text) {
                    warn!(%error, "the text could not be copied");
                }
            }
            Self::Open => window::open(app),
            Self::Quit => app.exit(0),
            Self::Restart(upstream) => {
                alerts::acted(app, Act::Restart(upstream.clone()));
                app.state::<Gateway>().restart(upstream);
            }
            Self::Pause(upstream) => {
                alerts::acted(app, Act::Touch(upstream.clone()));
                app.state::<Gateway>().pause(upstream, true);
            }
            Self::Resume(upstream) => app.state::<Gateway>().pause(upstream, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_read_back_from_its_row() {
        let copy = Action::Copy("http://127.0.0.1:7420/mcp".into());
        let named = [
            Action::Restart("my files".into()),
            Action::Pause(Some("my files".into())),
            Action::Resume(Some("my files".into())),
        ];
        let plain = [copy, Action::Open, Action::Quit, Action::Pause(None), Action::Resume(None)];
        for action in plain.into_iter().chain(named) {
            assert_eq!(Action::parse(&action.id()), Some(action));
        }
        assert_eq!(Action::parse("unknown"), None);
    }
}
