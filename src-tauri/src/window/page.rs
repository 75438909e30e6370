//! The dashboard's pages that the tray opens.

use evermoor_core::api::UpstreamState;

use crate::gateway::state::TrayState;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Page {
    Overview,
    Upstream(String),
    /// An upstream, with the button that restarts it focused.
    Restart(String),
    /// The log of an upstream.
    Log(String),
    Editors,
    Settings,
    Doctor,
    Welcome,
}

impl Page {
    /// The page's URL fragment.
    pub(crate) fn hash(&self) -> String {
        match self {
            Self::Overview => "#/".into(),
            Self::Upstream(name) => format!("#/upstreams/{name}"),
            Self::Restart(name) => format!("#/upstreams/{name}?restart"),
            Self::Log(name) => format!("#/upstreams/{name}?log"),
            Self::Editors => "#/editors".into(),
            Self::Settings => "#/settings".into(),
            Self::Doctor => "#/doctor".into(),
            Self::Welcome => "#/welcome".into(),
        }
    }

    pub(crate) fn parse(hash: &str) -> Option<Self> {
        match hash.strip_prefix("#/")? {
            "" => Some(Self::Overview),
            "editors" => Some(Self::Editors),
            "settings" => Some(Self::Settings),
            "doctor" => Some(Self::Doctor),
            "welcome" => Some(Self::Welcome),
            other => {
                let name = other.strip_prefix("upstreams/")?;
                Some(match name.split_once('?') {
                    Some((name, "log")) => Self::Log(name.into()),
                    Some((name, "restart")) => Self::Restart(name.into()),
                    Some(_) | None => Self::Upstream(name.into()),
                })
            }
        }
    }

    /// The page for the menu's first row: the server that the row is about, or the overview.
    pub(crate) fn for_headline(state: &TrayState) -> Self {
        let Some(status) = state.status() else {
            return Self::Overview;
        };
        let connecting =
            || status.upstreams.iter().find(|one| one.link == UpstreamState::Connecting);
        match state.down().as_slice() {
            [] => connecting().map_or(Self::Overview, |one| Self::Upstream(one.name.clone())),
            [one] => Self::Upstream(one.name.clone()),
            _ => Self::Overview,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_parsed_from_its_fragment() {
        for page in [
            Page::Overview,
            Page::Upstream("my-files".into()),
            Page::Log("my-files".into()),
            Page::Editors,
            Page::Settings,
            Page::Doctor,
            Page::Welcome,
        ] {
            assert_eq!(Page::parse(&page.hash()), Some(page));
        }
        assert_eq!(Page::parse("https://example.com"), None);
    }
}
