//! What importing did, so that it can be undone.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::files;
use evermoor_platform::paths::Paths;
use evermoor_setup::Door;

/// Everything that was done and not undone.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) upstreams: Vec<String>,
    /// The names of secrets that were made.
    pub(super) secrets: Vec<String>,
    pub(super) config: Option<Written>,
    pub(super) editors: Vec<Pointed>,
}

/// The configuration before and after.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Written {
    /// `None` if there was no file.
    pub(super) before: Option<String>,
    pub(super) after: String,
}

/// An editor's file whose entries lead to us since.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Pointed {
    pub(super) client: String,
    pub(super) path: PathBuf,
    /// Where the file is kept as it was before.
    pub(super) copy: PathBuf,
    /// The entries that were altered.
    pub(super) names: Vec<String>,
    /// Our entries that the file had before.
    pub(super) doors: Vec<Door>,
}

/// The record on the disk.
pub(super) struct Journal {
    path: PathBuf,
    pub(super) record: Record,
}

impl Written {
    pub(super) fn between(before: Option<&str>, after: &str) -> Self {
        Self { before: before.map(str::to_owned), after: after.to_owned() }
    }
}

impl Journal {
    pub(super) fn open(paths: &Paths) -> Result<Self, Failure> {
        let path = paths.data.join("import.json");
        let content = files::read_private(&path).map_err(|error| {
            Failure::new(Code::Internal, format!("{error}."), "Correct that, and try again.")
        })?;
        let record = content.map(|content| serde_json::from_slice(&content)).transpose();
        let record = record.map_err(|_| {
            let what = format!("{} is damaged.", path.display());
            Failure::new(Code::Internal, what, "Remove it; what was imported before stays.")
        })?;
        Ok(Self { path, record: record.unwrap_or_default() })
    }

    pub(super) fn is_empty(&self) -> bool {
        let Record { upstreams, secrets, config, editors } = &self.record;
        upstreams.is_empty() && secrets.is_empty() && config.is_none() && editors.is_empty()
    }

    /// Writes down what is about to be done, or what is undone.
    pub(super) fn note(&mut self, change: impl FnOnce(&mut Record)) -> Result<(), Failure> {
        change(&mut self.record);
        let written = match self.is_empty() {
            true => std::fs::remove_file(&self.path).or_else(|error| match error.kind() {
                std::io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            }),
            false => {
                let content = serde_json::to_vec(&self.record).unwrap_or_default();
                files::write_private(&self.path, &content)
            }
        };
        written.map_err(|error| {
            let what = format!("{} cannot be written: {error}.", self.path.display());
            Failure::new(Code::Internal, what, "Make room or correct its permissions.")
        })
    }
}
