//! The settings of `config.toml` that the dashboard shows and changes.
//!
//! Durations and amounts of memory are text, as in the file: "25s", "10m", "2.5 GB". Addresses and
//! commands are deliberately absent: a request to this API cannot make the gateway connect to a new
//! address or start a new program. `from_config` builds
//! the settings from a parsed configuration.

mod from_config;

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

#[cfg(test)]
use ts_rs::TS;

use crate::config::{NotificationLevel, TraySettings};

/// The answer of `/api/settings`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Settings {
    /// The path of the file.
    pub path: String,
    pub port: u16,
    /// How long a call waits for an upstream that is down.
    pub hold: String,
    pub require_token: bool,
    pub tray: TraySettings,
    /// All upstreams, including those turned off, sorted by name.
    pub upstreams: Vec<UpstreamSettings>,
    /// The editors that have an entry in the file.
    pub editors: Vec<EditorSettings>,
}

/// The settings of one upstream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct UpstreamSettings {
    pub name: String,
    /// `None` if the title comes from the preset or the name.
    pub title: Option<String>,
    pub enabled: bool,
    /// Whether it is an app; only apps use `restart`, `recycle` and `memoryAlarm`.
    pub is_app: bool,
    /// Its address or command, for display.
    pub target: String,
    /// The idle time after which it is pinged; `None` for the default, "0s" for never.
    pub keepalive: Option<String>,
    pub call_timeout: String,
    /// When it is restarted: "on-crash", "ask", "always" or "never".
    pub restart: String,
    /// When it is restarted to free memory: "when-idle" or "never".
    pub recycle: String,
    /// `None` if the preset's value applies.
    pub memory_alarm: Option<String>,
    pub trust_annotations: bool,
    /// "shared" or "per-client".
    pub sharing: String,
    pub tools: FilterLists,
    pub prompts: FilterLists,
    pub resources: FilterLists,
}

/// The settings of one editor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct EditorSettings {
    pub name: String,
    pub upstreams: FilterLists,
    pub tools: FilterLists,
    pub prompts: FilterLists,
    pub resources: FilterLists,
}

/// Allow and deny lists of name patterns, in which `*` matches any characters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct FilterLists {
    /// `None` if everything is allowed.
    pub allow: Option<Vec<String>>,
    pub deny: Vec<String>,
}

/// A change of settings. A field that is left out stays unchanged; `null` removes the setting from
/// the file, so that its default applies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(test, derive(TS))]
#[cfg_attr(test, ts(optional_fields))]
pub struct SettingsChange {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub port: Option<Option<u16>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub hold: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub require_token: Option<Option<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tray: Option<TrayChange>,
    /// By name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstreams: Option<BTreeMap<String, UpstreamChange>>,
    /// By name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editors: Option<BTreeMap<String, EditorChange>>,
}

/// A change of the tray's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(test, derive(TS))]
#[cfg_attr(test, ts(optional_fields))]
pub struct TrayChange {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub notifications: Option<Option<NotificationLevel>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub quit_stops_gateway: Option<Option<bool>>,
}

/// A change of an upstream's settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(test, derive(TS))]
#[cfg_attr(test, ts(optional_fields))]
pub struct UpstreamChange {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub title: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub enabled: Option<Option<bool>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub keepalive: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub call_timeout: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub restart: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub recycle: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub memory_alarm: Option<Option<String>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub trust_annotations: Option<Option<bool>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub sharing: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<FilterListsChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<FilterListsChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<FilterListsChange>,
}

/// A change of an editor's lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(test, derive(TS))]
#[cfg_attr(test, ts(optional_fields))]
pub struct EditorChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upstreams: Option<FilterListsChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<FilterListsChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<FilterListsChange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<FilterListsChange>,
}

/// A change of an allow and a deny list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(test, derive(TS))]
#[cfg_attr(test, ts(optional_fields))]
pub struct FilterListsChange {
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub allow: Option<Option<Vec<String>>>,
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub deny: Option<Option<Vec<String>>>,
}

/// Distinguishes `null` (`Some(None)`) from a missing field (`None`).
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::config::edit::ConfigEdit;

    /// A change that sets everything to something other than the default.
    const CHANGE: &str = r#"{
        "port": 7421, "hold": "40s", "requireToken": false,
        "tray": {"notifications": "all", "quitStopsGateway": true},
        "upstreams": {"a": {
            "title": "Notes", "enabled": false, "keepalive": "3m", "callTimeout": "20s",
            "restart": "ask", "recycle": "when-idle", "memoryAlarm": "2.5 GB",
            "trustAnnotations": true, "sharing": "per-client",
            "tools": {"allow": ["x*"], "deny": ["xy"]}, "prompts": {"deny": ["*"]},
            "resources": {"allow": ["file:///*"]}}},
        "editors": {"zed": {"upstreams": {"deny": ["a"]}, "tools": {"allow": ["a__*"]}}}
    }"#;

    fn changed(text: &str, change: &str) -> String {
        let mut edit = ConfigEdit::of(text).unwrap();
        edit.apply(&serde_json::from_str(change).unwrap()).unwrap();
        edit.done().unwrap().0
    }

    #[test]
    fn a_changed_setting_is_shown_as_it_was_set() {
        let text = "# mine\n[upstreams.a] # the one\npreset = \"pieces-os\"\n";
        let after = changed(text, CHANGE);
        assert!(after.starts_with("# mine\n[upstreams.a] # the one\npreset"), "{after}");
        let shown = Settings::of("config.toml".into(), &Config::parse(&after).unwrap());
        let shown = serde_json::to_value(shown).unwrap();
        let change: serde_json::Value = serde_json::from_str(CHANGE).unwrap();
        assert_eq!((&shown["port"], &shown["hold"]), (&change["port"], &change["hold"]));
        assert_eq!(
            (&shown["tray"], &shown["requireToken"]),
            (&change["tray"], &change["requireToken"])
        );
        for (key, value) in change["upstreams"]["a"].as_object().unwrap() {
            match value.as_object() {
                Some(lists) => lists.iter().for_each(|(list, names)| {
                    assert_eq!(&shown["upstreams"][0][key][list], names, "{key}.{list}");
                }),
                None => assert_eq!(&shown["upstreams"][0][key], value, "{key}"),
            }
        }
        assert_eq!(
            shown["editors"][0]["tools"]["allow"],
            change["editors"]["zed"]["tools"]["allow"]
        );
    }

    #[test]
    fn a_setting_that_is_removed_has_its_default_again() {
        let text = "[upstreams.a]\npreset = \"pieces-os\"\n";
        let mut back: serde_json::Value = serde_json::from_str(CHANGE).unwrap();
        empty(&mut back);
        let after = changed(&changed(text, CHANGE), &back.to_string());
        let of = |text: &str| Settings::of(String::new(), &Config::parse(text).unwrap());
        let (after, before) = (of(&after), of(text));
        assert_eq!(Settings { editors: vec![], ..after }, before);
    }

    /// Sets every setting to `null`.
    fn empty(value: &mut serde_json::Value) {
        match value.as_object_mut() {
            Some(object) => object.values_mut().for_each(empty),
            None => *value = serde_json::Value::Null,
        }
    }

    #[test]
    fn a_change_of_an_unknown_upstream_or_to_an_invalid_value_is_refused() {
        let mut edit = ConfigEdit::of("").unwrap();
        let change = serde_json::from_str(r#"{"upstreams": {"a": {"title": "A"}}}"#).unwrap();
        assert!(edit.apply(&change).unwrap_err().what.contains("no server `a`"));
        let mut edit = ConfigEdit::of("").unwrap();
        edit.apply(&serde_json::from_str(r#"{"hold": "soon"}"#).unwrap()).unwrap();
        assert_eq!(edit.done().unwrap_err().line, Some(2));
    }

    #[test]
    fn a_missing_field_is_told_from_null() {
        let change: SettingsChange = serde_json::from_str(
            r#"{"hold": null, "port": 7421, "upstreams": {"a": {"title": null, "tools": {"deny": ["x"]}}}}"#,
        )
        .unwrap();
        assert_eq!(
            (change.hold, change.port, change.require_token),
            (Some(None), Some(Some(7421)), None)
        );
        let upstream = &change.upstreams.unwrap()["a"];
        assert_eq!((&upstream.title, &upstream.enabled), (&Some(None), &None));
        let tools = upstream.tools.clone().unwrap();
        assert_eq!((tools.allow, tools.deny), (None, Some(Some(vec!["x".to_owned()]))));
    }

    #[test]
    fn no_request_carries_a_command_line_or_an_address() {
        for unknown in [r#"{"url": "http://x"}"#, r#"{"command": "x"}"#, r#"{"headers": {}}"#] {
            let change = format!(r#"{{"upstreams": {{"a": {unknown}}}}}"#);
            assert!(serde_json::from_str::<SettingsChange>(&change).is_err(), "{change}");
        }
        assert!(serde_json::from_str::<SettingsChange>(r#"{"listen": "0.0.0.0:1"}"#).is_err());
    }
}
