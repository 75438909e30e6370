//! A notice: what is shown, and what its buttons do.

/// One notice on the screen, for as long as it is replaced in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u64);

/// What is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub title: String,
    pub body: String,
    pub buttons: Vec<Button>,
    /// The upstreams it speaks of.
    pub about: Vec<String>,
    /// Where a click on it leads.
    pub leads_to: Place,
    /// It makes no sound.
    pub quiet: bool,
}

/// What is to be done on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    Show(Id, Notice),
    /// Takes the place of what was shown under this id.
    Replace(Id, Notice),
    Withdraw(Id),
}

/// A button, which acts on all upstreams that its notice speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Button {
    Restart,
    RestartAll,
    Details,
    IgnoreForToday,
    OpenLog,
    SignIn,
}

/// A place in the dashboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Overview,
    Editors,
    Settings,
    Upstream(String),
    /// With the button that restarts it focused.
    Restart(String),
    Log(String),
}

impl Button {
    pub const ALL: [Self; 6] = [
        Self::Restart,
        Self::RestartAll,
        Self::Details,
        Self::IgnoreForToday,
        Self::OpenLog,
        Self::SignIn,
    ];

    /// By which the desktop says that it was pressed.
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

    /// What a person reads on it.
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
