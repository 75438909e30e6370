//! The tables of a preset file, as serde reads them. `mod.rs` has the steps for a new field.

use serde::Deserialize;
use toml::Spanned;

use super::validate::Text;
use crate::config::DurationText;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetTables {
    /// The preset that this one extends. A table that is missing here is inherited; a table that is
    /// present replaces the inherited one completely.
    pub(super) extends: Option<Text>,
    pub(super) title: Option<String>,
    pub(super) about: Option<String>,
    pub(super) unsaved_work: Option<bool>,
    pub(super) concurrent: Option<bool>,
    pub(super) find: Option<Spanned<FindTable>>,
    pub(super) mcp: Option<Vec<EndpointTable>>,
    pub(super) health: Option<AskTable>,
    pub(super) version: Option<VersionTable>,
    pub(super) restart: Option<RequestTable>,
    pub(super) quit: Option<RequestTable>,
    pub(super) relief: Option<RequestTable>,
    pub(super) memory: Option<MemoryTable>,
    pub(super) tools: Option<Vec<PresetToolTable>>,
    pub(super) tells: Option<Vec<TellTable>>,
    pub(super) off: Option<WordsTable>,
    pub(super) macos: Option<SystemTable>,
    pub(super) linux: Option<SystemTable>,
    pub(super) windows: Option<SystemTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FindTable {
    pub(super) ports: Spanned<Ports>,
    pub(super) owner: Option<bool>,
    #[serde(default)]
    pub(super) identity: Vec<AskTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetToolTable {
    pub(super) name: String,
    pub(super) description: String,
}

/// One port, or "from-to".
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Ports {
    One(u16),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndpointTable {
    pub(super) transport: WireName,
    pub(super) path: Text,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum WireName {
    Http,
    Sse,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskTable {
    pub(super) ask: Text,
    pub(super) status: Option<u16>,
    pub(super) body: Option<BodyName>,
    #[serde(default)]
    pub(super) also: Vec<String>,
    pub(super) starts: Option<String>,
    pub(super) at: Option<Text>,
    pub(super) is: Option<IsName>,
    pub(super) equals: Option<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BodyName {
    Version,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum IsName {
    Present,
    Absent,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VersionTable {
    pub(super) ask: Text,
    pub(super) at: Option<Text>,
    pub(super) from: Text,
    pub(super) before: Text,
    #[serde(default)]
    pub(super) also: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequestTable {
    pub(super) ask: Text,
    pub(super) status: Option<u16>,
    pub(super) within: Option<Spanned<DurationText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MemoryTable {
    pub(super) normal: Text,
    pub(super) alarm: Text,
    pub(super) idle: Option<Spanned<DurationText>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TellTable {
    pub(super) state: TellName,
    pub(super) name: Option<String>,
    pub(super) ask: Text,
    pub(super) at: Text,
    pub(super) is: Option<IsName>,
    pub(super) equals: Option<String>,
    pub(super) what: String,
    pub(super) remedy: String,
    #[serde(default)]
    pub(super) tools: Vec<String>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TellName {
    SignedOut,
    FeatureOff,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordsTable {
    pub(super) what: String,
    pub(super) remedy: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SystemTable {
    pub(super) bundle: Option<Text>,
    pub(super) app: Option<Text>,
    pub(super) snap: Option<Text>,
    pub(super) flatpak: Option<Text>,
    pub(super) desktop: Option<Text>,
    pub(super) store: Option<Text>,
    #[serde(default)]
    pub(super) programs: Vec<Text>,
    #[serde(default)]
    pub(super) args: Vec<String>,
    pub(super) url: Option<Text>,
    #[serde(default)]
    pub(super) signs: Vec<String>,
    #[serde(default)]
    pub(super) processes: Vec<Text>,
    #[serde(default)]
    pub(super) crashes: Vec<Text>,
    #[serde(default)]
    pub(super) logs: Vec<String>,
}
