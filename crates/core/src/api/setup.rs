//! The editors on this machine: which ones use Evermoor, and what setting one up changes.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// The answer of `/api/setup`: all editors that Evermoor can set up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Setup {
    pub editors: Vec<DetectedEditor>,
}

/// An editor that may be installed on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct DetectedEditor {
    /// Its id on the command line, such as `claude-code`.
    pub id: String,
    /// Its product name.
    pub title: String,
    /// The file that lists its servers; `None` if it keeps them elsewhere.
    pub path: Option<String>,
    pub state: SetupState,
    /// The MCP servers in its file, including Evermoor.
    pub entries: Vec<EditorServerEntry>,
    /// This editor is connected to the gateway now.
    pub attached: bool,
    /// What to do next, or how to make the editor pick up the change.
    pub hint: String,
    /// A link that makes the editor add Evermoor itself, if it supports such links. It contains no
    /// token.
    #[serde(default)]
    pub link: Option<String>,
}

/// Whether an editor's file has Evermoor's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum SetupState {
    /// The file has the entry as Evermoor writes it.
    Connected,
    /// The editor is installed, but its file does not have the entry.
    NotConnected,
    /// The entry was changed; setting the editor up again repairs it.
    Changed,
    /// The file cannot be read or parsed, so Evermoor does not change it.
    Unreadable,
    /// The editor is not installed.
    NotInstalled,
}

/// An MCP server in an editor's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct EditorServerEntry {
    pub name: String,
    /// `stdio`, `http` or `sse`.
    pub kind: String,
    /// It points to Evermoor.
    pub ours: bool,
}

/// What setting up an editor would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct SetupPreview {
    pub path: Option<String>,
    /// A unified diff without the token; empty if nothing would change.
    pub diff: String,
    /// The entry to paste where Evermoor does not write the file, without the token.
    pub snippet: String,
    pub hint: String,
}

/// What setting up an editor, or undoing that, changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct SetupResult {
    pub path: Option<String>,
    pub changed: bool,
    /// The path of the backup of the file.
    pub backup: Option<String>,
    pub hint: String,
}

/// What setting up an editor would change if its servers move to Evermoor as well. All texts are
/// without secrets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct ImportPreview {
    /// The editor's file, and a unified diff of it.
    pub path: Option<String>,
    pub diff: String,
    /// Evermoor's configuration, and a unified diff of it.
    pub config_path: String,
    pub config_diff: String,
    pub moves: Vec<MovedServer>,
    pub stays: Vec<KeptServer>,
    pub hint: String,
}

/// A server that moves to Evermoor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct MovedServer {
    /// The editor's name for it.
    pub name: String,
    pub upstream: String,
    /// The names under which its secrets are stored in the keychain.
    pub secrets: Vec<String>,
}

/// A server that stays in the editor's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct KeptServer {
    /// Empty if the file cannot be read at all.
    pub name: String,
    pub why: String,
}
