//! An alert: its text, its buttons and the dashboard page behind it.

/// Identifies an alert on the screen, also after it was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AlertId(pub u64);

/// The content of an alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub title: String,
    pub body: String,
    pub buttons: Vec<AlertButton>,
    /// The names of the upstreams it is about.
    pub about: Vec<String>,
    /// The page that a click on it opens.
    pub target: AlertTarget,
    /// It makes no sound.
    pub quiet: bool,
}

/// A change to the alerts on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlertCommand {
    Show(AlertId, Alert),
    /// Replaces the alert with this id.
    Replace(AlertId, Alert),
    Withdraw(AlertId),
}

/// A button of an alert. It acts on all upstreams that the alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AlertButton {
    Restart,
    RestartAll,
    Details,
    IgnoreForToday,
    OpenLog,
    SignIn,
}

/// A page of the dashboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlertTarget {
    Overview,
    Editors,
    Settings,
    Upstream(String),
    /// The upstream's page with its restart button focused.
    Restart(String),
    Log(String),
}

impl AlertButton {
    pub const ALL: [Self; 6] = [
        Self::Restart,
        Self::RestartAll,
        Self::Details,
        Self::IgnoreForToday,
        Self::OpenLog,
        Self::SignIn,
    ];

    /// The key that the desktop reports when the button is pressed.
    pub fn key(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::RestartAll => "restart-all",
            Self::Details => "details",
            Self::IgnoreForToday => "ignore",
            Self::OpenLog => "log",
            Self::SignIn => "sign-in",
        }
    }

    pub fn parse(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|button| button.key() == key)
    }

    /// Whether a press opens the window. A desktop must then bring the application to the front.
    pub fn opens_window(self) -> bool {
        match self {
            Self::Details | Self::OpenLog => true,
            Self::Restart | Self::RestartAll | Self::IgnoreForToday | Self::SignIn => false,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Restart => "Restart",
            Self::RestartAll => "Restart all",
            Self::Details => "Details",
            Self::IgnoreForToday => "Ignore for today",
            Self::OpenLog => "Open log",
            Self::SignIn => "Sign in",
        }
    }
}
