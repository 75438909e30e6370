//! What importing did, so that it can be undone.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;
use evermoor_setup::{Door, Spot};

/// Everything that was done and not undone.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Record {
    pub upstreams: Vec<String>,
    /// The names of secrets that were made.
    pub secrets: Vec<String>,
    pub config: Option<Written>,
    pub editors: Vec<Pointed>,
    /// The editors that had no token before.
    #[serde(default)]
    pub tokens: Vec<String>,
}

/// The configuration before and after.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Written {
    /// `None` if there was no file.
    pub before: Option<String>,
    pub after: String,
}

/// An editor's file whose entries lead to us since.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pointed {
    pub client: String,
    #[serde(flatten)]
    pub spot: Spot,
    /// Where the file is kept as it was before.
    pub copy: PathBuf,
    /// The entries that were altered.
    pub names: Vec<String>,
    /// Our entries that the file had before.
    #[serde(rename = "doors")]
    pub doors: Vec<Door>,
    /// They lead through `evermoor connect`.
    #[serde(default)]
    pub over_stdio: bool,
    /// The upstreams that they became, and the secrets that these have.
    #[serde(default)]
    pub upstreams: Vec<String>,
    #[serde(default)]
    pub secrets: Vec<String>,
}

/// The record on the disk.
pub struct Journal {
    path: PathBuf,
    pub record: Record,
}

impl Record {
    /// The configuration became `after`, with these upstreams in it. If a person changed it since the
    /// last time, what it was before that time must not come back.
    pub fn wrote(&mut self, before: Option<&str>, after: &str, upstreams: Vec<String>) {
        let first = self.upstreams.is_empty();
        self.upstreams.extend(upstreams);
        let after = after.to_owned();
        self.config = match self.config.take() {
            Some(last) if Some(last.after.as_str()) == before => {
                Some(Written { before: last.before, after })
            }
            None if first => Some(Written { before: before.map(str::to_owned), after }),
            Some(_) | None => None,
        };
    }

    /// The editors have tokens now; `had` says which had one before.
    pub fn gave_tokens(&mut self, had: impl Fn(&str) -> bool) {
        for Pointed { client, .. } in &self.editors {
            if !had(client) && !self.tokens.contains(client) {
                self.tokens.push(client.clone());
            }
        }
    }

    /// The tokens that no entry needs any more.
    pub(super) fn spare_tokens(&self) -> Vec<String> {
        let used = |id: &&String| self.editors.iter().any(|pointed| pointed.client == **id);
        self.tokens.iter().filter(|id| !used(id)).cloned().collect()
    }
}

impl Journal {
    /// What was done before at this place.
    pub fn open(paths: &Paths) -> Result<Self, Failure> {
        let path = paths.data.join("import.json");
        let content = private::read_private(&path).map_err(|error| {
            Failure::new(Code::Internal, format!("{error}."), "Correct that, and try again.")
        })?;
        let record = content.map(|content| serde_json::from_slice(&content)).transpose();
        let record = record.map_err(|_| {
            let what = format!("{} is damaged.", path.display());
            Failure::new(Code::Internal, what, "Remove it; what was imported before stays.")
        })?;
        Ok(Self { path, record: record.unwrap_or_default() })
    }

    pub fn is_empty(&self) -> bool {
        let Record { upstreams, secrets, config, editors, tokens } = &self.record;
        let nothing = upstreams.is_empty() && secrets.is_empty() && config.is_none();
        nothing && editors.is_empty() && tokens.is_empty()
    }

    /// Writes down what is about to be done, or what is undone.
    pub fn note(&mut self, change: impl FnOnce(&mut Record)) -> Result<(), Failure> {
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
            let what = format!("{} cannot be written: {error}.", self.path.display());
            Failure::new(Code::Internal, what, "Make room or correct its permissions.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_comes_back_byte_for_byte_unless_a_person_changed_it_in_between() {
        let mut record = Record::default();
        record.wrote(Some("a"), "ab", vec!["b".into()]);
        record.wrote(Some("ab"), "abc", vec!["c".into()]);
        let written = record.config.clone().unwrap();
        assert_eq!((written.before.as_deref(), written.after.as_str()), (Some("a"), "abc"));
        record.wrote(Some("abc of mine"), "abcd of mine", vec!["d".into()]);
        assert!(record.config.is_none(), "what a person wrote stays");
        record.wrote(Some("abcd of mine"), "abcde of mine", vec!["e".into()]);
        assert!(record.config.is_none());
        assert_eq!(record.upstreams, ["b", "c", "d", "e"]);
    }
}
