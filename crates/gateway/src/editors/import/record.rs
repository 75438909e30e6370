//! The journal of what imports did, so that they can be undone.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;
use evermoor_setup::{ConfigLocation, GatewayEntry};

/// Everything that was done and not yet undone.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ImportRecord {
    pub upstreams: Vec<String>,
    /// The names of secrets that were stored.
    pub secrets: Vec<String>,
    pub config: Option<ConfigChange>,
    pub editors: Vec<RedirectedFile>,
    /// The editors whose token was created by an import.
    #[serde(default)]
    pub tokens: Vec<String>,
}

/// The configuration before and after.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ConfigChange {
    /// `None` if there was no file.
    pub before: Option<String>,
    pub after: String,
}

/// An editor's file whose entries were redirected to Evermoor.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RedirectedFile {
    pub client: String,
    #[serde(flatten)]
    pub location: ConfigLocation,
    /// The copy of the file as it was before.
    pub copy: PathBuf,
    /// The entries that were changed.
    pub names: Vec<String>,
    /// Evermoor's entries that the file had before.
    #[serde(rename = "doors")]
    pub gateway_entries: Vec<GatewayEntry>,
    /// The entries use `evermoor connect`.
    #[serde(default)]
    pub over_stdio: bool,
    /// The upstreams that the entries became, and their secrets.
    #[serde(default)]
    pub upstreams: Vec<String>,
    #[serde(default)]
    pub secrets: Vec<String>,
}

/// The record and its file.
pub struct ImportJournal {
    path: PathBuf,
    pub record: ImportRecord,
}

impl ImportRecord {
    /// Records that the configuration became `after`, with these new upstreams. If the user changed
    /// the file since the last import, undoing must not restore the text from before it.
    pub fn wrote(&mut self, before: Option<&str>, after: &str, upstreams: Vec<String>) {
        let first = self.upstreams.is_empty();
        self.upstreams.extend(upstreams);
        let after = after.to_owned();
        self.config = match self.config.take() {
            Some(last) if Some(last.after.as_str()) == before => {
                Some(ConfigChange { before: last.before, after })
            }
            None if first => Some(ConfigChange { before: before.map(str::to_owned), after }),
            Some(_) | None => None,
        };
    }

    /// Records which editors got a token; `had` says which had one before.
    pub fn gave_tokens(&mut self, had: impl Fn(&str) -> bool) {
        for RedirectedFile { client, .. } in &self.editors {
            if !had(client) && !self.tokens.contains(client) {
                self.tokens.push(client.clone());
            }
        }
    }

    /// The editors whose token no entry needs any more.
    pub(super) fn spare_tokens(&self) -> Vec<String> {
        let used = |id: &&String| self.editors.iter().any(|pointed| pointed.client == **id);
        self.tokens.iter().filter(|id| !used(id)).cloned().collect()
    }
}

impl ImportJournal {
    /// Reads the journal of earlier imports.
    pub fn open(paths: &Paths) -> Result<Self, Failure> {
        let path = paths.data.join("import.json");
        let content = private::read_private(&path).map_err(|error| {
            Failure::new(Code::Internal, format!("{error}."), "Correct this and try again.")
        })?;
        let record = content.map(|content| serde_json::from_slice(&content)).transpose();
        let record = record.map_err(|_| {
            let what = format!("{} is damaged.", path.display());
            Failure::new(
                Code::Internal,
                what,
                "Remove it; earlier imports stay but cannot be undone.",
            )
        })?;
        Ok(Self { path, record: record.unwrap_or_default() })
    }

    pub fn is_empty(&self) -> bool {
        let ImportRecord { upstreams, secrets, config, editors, tokens } = &self.record;
        let nothing = upstreams.is_empty() && secrets.is_empty() && config.is_none();
        nothing && editors.is_empty() && tokens.is_empty()
    }

    /// Changes the record and writes it. Call this before each step, and after undoing one.
    pub fn note(&mut self, change: impl FnOnce(&mut ImportRecord)) -> Result<(), Failure> {
        change(&mut self.record);
        let written = match self.is_empty() {
            true => match std::fs::remove_file(&self.path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
                removed => removed,
            },
            false => {
                let content = serde_json::to_vec(&self.record).unwrap_or_default();
                private::write_private(&self.path, &content)
            }
        };
        written.map_err(|error| {
            let what = format!("Cannot write {}: {error}.", self.path.display());
            Failure::new(Code::Internal, what, "Free some disk space or correct its permissions.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_is_restored_exactly_unless_the_user_changed_it_in_between() {
        let mut record = ImportRecord::default();
        record.wrote(Some("a"), "ab", vec!["b".into()]);
        record.wrote(Some("ab"), "abc", vec!["c".into()]);
        let written = record.config.clone().unwrap();
        assert_eq!((written.before.as_deref(), written.after.as_str()), (Some("a"), "abc"));
        record.wrote(Some("abc of mine"), "abcd of mine", vec!["d".into()]);
        assert!(record.config.is_none(), "the user's changes stay");
        record.wrote(Some("abcd of mine"), "abcde of mine", vec!["e".into()]);
        assert!(record.config.is_none());
        assert_eq!(record.upstreams, ["b", "c", "d", "e"]);
    }
}
