//! The actions behind the rows of the menu.

use crate::window::page::Page;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Copy(String),
    Open,
    /// Opens the dashboard at a page.
    Show(Page),
    Quit,
    /// Restarts this upstream.
    Restart(String),
    /// Restarts every upstream that is down.
    RestartAll,
    /// Signs in to this upstream in the browser.
    SignIn(String),
    /// Reconnects to this upstream without restarting its application.
    Reconnect(String),
    TurnOn(String),
    TurnOff(String),
    /// Pauses this upstream, or all of them.
    Pause(Option<String>),
    /// Resumes this upstream, or all of them.
    Resume(Option<String>),
    /// Connects the editor with this id.
    Connect(String),
    /// Shows the editor with this id in the dashboard.
    ShowEditor(String),
    /// Toggles launch at login.
    Login,
    Update,
    /// Moves the gateway to a free port and updates the editors.
    MovePort,
    TryAgain,
    /// Copies the application to Applications and starts the copy.
    Relocate,
}

/// A native menu reports clicks by the row's id, so an action is encoded in it.
impl Action {
    pub(crate) fn id(&self) -> String {
        match self {
            Self::Copy(text) => format!("copy {text}"),
            Self::Open => "open".into(),
            Self::Show(page) => format!("show {}", page.hash()),
            Self::Quit => "quit".into(),
            Self::Restart(name) => format!("restart {name}"),
            Self::RestartAll => "restart".into(),
            Self::SignIn(name) => format!("sign-in {name}"),
            Self::Reconnect(name) => format!("reconnect {name}"),
            Self::TurnOn(name) => format!("turn-on {name}"),
            Self::TurnOff(name) => format!("turn-off {name}"),
            Self::Pause(Some(name)) => format!("pause {name}"),
            Self::Pause(None) => "pause".into(),
            Self::Resume(Some(name)) => format!("resume {name}"),
            Self::Resume(None) => "resume".into(),
            Self::Connect(editor) => format!("connect {editor}"),
            Self::ShowEditor(editor) => format!("show-editor {editor}"),
            Self::Login => "login".into(),
            Self::Update => "update".into(),
            Self::MovePort => "move-port".into(),
            Self::TryAgain => "try-again".into(),
            Self::Relocate => "relocate".into(),
        }
    }

    pub(crate) fn parse(id: &str) -> Option<Self> {
        let plain = [
            Self::Open,
            Self::Quit,
            Self::RestartAll,
            Self::Pause(None),
            Self::Resume(None),
            Self::Login,
            Self::Update,
            Self::MovePort,
            Self::TryAgain,
            Self::Relocate,
        ];
        let Some((what, to)) = id.split_once(' ') else {
            return plain.into_iter().find(|action| action.id() == id);
        };
        let to = to.to_owned();
        match what {
            "copy" => Some(Self::Copy(to)),
            "show" => Page::parse(&to).map(Self::Show),
            "restart" => Some(Self::Restart(to)),
            "sign-in" => Some(Self::SignIn(to)),
            "reconnect" => Some(Self::Reconnect(to)),
            "turn-on" => Some(Self::TurnOn(to)),
            "turn-off" => Some(Self::TurnOff(to)),
            "pause" => Some(Self::Pause(Some(to))),
            "resume" => Some(Self::Resume(Some(to))),
            "connect" => Some(Self::Connect(to)),
            "show-editor" => Some(Self::ShowEditor(to)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_is_parsed_from_the_id_of_its_row() {
        let name = || "my files".to_owned();
        for action in [
            Action::Copy("http://127.0.0.1:7420/mcp".into()),
            Action::Open,
            Action::Show(Page::Log("my-files".into())),
            Action::Quit,
            Action::Restart(name()),
            Action::RestartAll,
            Action::SignIn(name()),
            Action::Reconnect(name()),
            Action::TurnOn(name()),
            Action::TurnOff(name()),
            Action::Pause(Some(name())),
            Action::Pause(None),
            Action::Resume(Some(name())),
            Action::Resume(None),
            Action::Connect("claude-code".into()),
            Action::ShowEditor("claude-code".into()),
            Action::Login,
            Action::Update,
            Action::MovePort,
            Action::TryAgain,
            Action::Relocate,
        ] {
            assert_eq!(Action::parse(&action.id()), Some(action));
        }
        for unknown in ["unknown", "unknown x", "show x", ""] {
            assert_eq!(Action::parse(unknown), None);
        }
    }
}
