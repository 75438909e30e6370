//! The editors on this machine as people see them: which are connected, and what connecting changes.

use serde::{Deserialize, Serialize};

#[cfg(test)]
use ts_rs::TS;

/// Every editor that Evermoor knows how to connect: what `/api/setup` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Setup {
    pub editors: Vec<Found>,
}

/// One product that may be on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Found {
    /// What to call it in a command, such as `claude-code`.
    pub id: String,
    /// What its makers call it.
    pub title: String,
    /// The file that says which servers it uses; none for those that keep them elsewhere.
    pub path: Option<String>,
    pub state: Connection,
    /// The MCP servers that its file has already, ours included.
    pub entries: Vec<FoundEntry>,
    /// A session of this product is with the gateway now.
    pub attached: bool,
    /// What is to be done next, or what it takes for the product to notice.
    pub hint: String,
    /// A link that the product opens to add Evermoor by itself, if it has such links. It holds no token.
    #[serde(default)]
    pub link: Option<String>,
}

/// Whether an editor is connected to Evermoor, as its file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub enum Connection {
    /// Its file has our entry, as we would write it.
    Connected,
    /// It is here, and its file has no entry of ours.
    NotConnected,
    /// Somebody changed our entry: connecting again repairs it.
    Changed,
    /// Its file cannot be read or understood, and is left alone.
    Unreadable,
    /// It is not on this machine.
    NotInstalled,
}

/// An MCP server in an editor's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct FoundEntry {
    pub name: String,
    /// `stdio`, `http` or `sse`.
    pub kind: String,
    /// It leads to Evermoor.
    pub ours: bool,
}

/// What connecting an editor would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct SetupPreview {
    pub path: Option<String>,
    /// A unified diff with the token left out; empty if nothing would change.
    pub diff: String,
    /// What to paste where Evermoor does not write, with the token left out.
    pub snippet: String,
    pub hint: String,
}

/// What connecting an editor, or undoing that, did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct SetupDone {
    pub path: Option<String>,
    pub changed: bool,
    /// Where the file is kept as it was before.
    pub backup: Option<String>,
    pub hint: String,
}

/// What connecting an editor would change if its own servers move behind Evermoor with it. Secrets are
/// left out of every text.
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
    pub moves: Vec<Moves>,
    pub stays: Vec<Stays>,
    pub hint: String,
}

/// A server that becomes an upstream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Moves {
    /// What the editor calls it.
    pub name: String,
    pub upstream: String,
    /// Its secrets, which go to the keychain, by the names that they get there.
    pub secrets: Vec<String>,
}

/// A server that stays where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(TS))]
pub struct Stays {
    /// Nothing if the file cannot be read at all.
    pub name: String,
    pub why: String,
}
