//! The `[tray]` table: settings of the tray.

use serde::{Deserialize, Serialize};
use toml::Spanned;

#[cfg(test)]
use ts_rs::TS;

use super::ConfigError;
use super::tables::line;

/// The settings of the tray.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct TraySettings {
    pub notifications: NotificationLevel,
    /// Whether quitting the tray stops the gateway.
    pub quit_stops_gateway: bool,
}

/// Which notifications are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(TS))]
pub enum NotificationLevel {
    All,
    #[default]
    Problems,
    None,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TrayTable {
    notifications: Option<Spanned<String>>,
    #[serde(default)]
    quit_stops_gateway: bool,
}

impl NotificationLevel {
    /// Its value in the file.
    pub fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Problems => "problems",
            Self::None => "none",
        }
    }
}

pub(super) fn read(text: &str, table: &TrayTable) -> Result<TraySettings, ConfigError> {
    let all = [NotificationLevel::All, NotificationLevel::Problems, NotificationLevel::None];
    let notifications = match &table.notifications {
        None => NotificationLevel::default(),
        Some(written) => {
            let found = all.into_iter().find(|one| one.word() == written.get_ref());
            found.ok_or_else(|| ConfigError {
                line: Some(line(text, written.span().start)),
                what: format!("`{}` is not a valid value for `notifications`.", written.get_ref()),
                remedy: "Write \"all\", \"problems\" or \"none\".".into(),
            })?
        }
    };
    Ok(TraySettings { notifications, quit_stops_gateway: table.quit_stops_gateway })
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    #[test]
    fn the_default_is_problems_only_and_a_gateway_that_keeps_running() {
        let usual =
            TraySettings { notifications: NotificationLevel::Problems, quit_stops_gateway: false };
        assert_eq!(Config::default().tray, usual);
    }

    #[test]
    fn the_notification_level_is_read() {
        for one in [NotificationLevel::All, NotificationLevel::Problems, NotificationLevel::None] {
            let text =
                format!("[tray]\nnotifications = \"{}\"\nquit_stops_gateway = true\n", one.word());
            let wanted = TraySettings { notifications: one, quit_stops_gateway: true };
            assert_eq!(Config::parse(&text).unwrap().tray, wanted);
            assert_eq!(serde_json::to_value(one).unwrap(), one.word());
        }
        let mistake = Config::parse("[tray]\n\nnotifications = \"some\"\n").unwrap_err();
        assert_eq!(mistake.line, Some(3));
        assert!(mistake.remedy.contains("problems"), "{mistake}");
        assert_eq!(Config::parse("[tray]\nicon = 1\n").unwrap_err().line, Some(2));
    }
}
