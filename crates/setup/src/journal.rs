//! What Evermoor wrote into editors' files, and those files as they were before.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use evermoor_platform::clock;
use evermoor_platform::fs::private;

use crate::entry::desired::Door;
use crate::table::location::Spot;

/// One place that we wrote to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The editor's name in the table.
    pub client: String,
    #[serde(flatten)]
    pub spot: Spot,
    pub doors: Vec<Door>,
    pub before: Before,
    /// What the file was when we left it, as a checksum.
    pub written: String,
    /// The place for servers is ours too, and the folders, the outermost first.
    pub made_place: bool,
    pub made_folders: Vec<PathBuf>,
}

/// What was there before us.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// No file.
    Nothing,
    /// A file that is kept here.
    Kept(PathBuf),
    /// A file that had something of ours already.
    Ours,
    /// The editor's own program wrote for us.
    Command,
}

/// The records, in a file that only its owner may read, and the files beside it.
#[derive(Clone, Debug)]
pub struct Journal {
    folder: PathBuf,
}

/// How many copies are kept of one editor's file.
const KEPT: usize = 3;

/// A file without records is as good as none.
#[derive(Default, Serialize, Deserialize)]
struct Book {
    records: Vec<Record>,
}

impl Journal {
    /// The one below Evermoor's own data.
    pub fn below(data: &Path) -> Self {
        Self { folder: data.join("setup") }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("journal.json")
    }

    pub fn records(&self) -> Vec<Record> {
        let content = private::read_private(&self.file()).ok().flatten();
        let book = content.and_then(|content| serde_json::from_slice::<Book>(&content).ok());
        book.unwrap_or_default().records
    }

    pub fn record(&self, client: &str, spot: &Spot) -> Option<Record> {
        self.records().into_iter().find(|record| record.client == client && record.spot == *spot)
    }

    /// Writes a record in the place of the one about the same spot.
    pub(crate) fn put(&self, record: Record) -> std::io::Result<()> {
        let mut records = self.others(&record.client, &record.spot);
        records.push(record);
        self.write(records)
    }

    pub(crate) fn forget(&self, client: &str, spot: &Spot) -> std::io::Result<()> {
        self.write(self.others(client, spot))
    }

    fn others(&self, client: &str, spot: &Spot) -> Vec<Record> {
        let other = |record: &Record| record.client != client || record.spot != *spot;
        self.records().into_iter().filter(other).collect()
    }

    fn write(&self, records: Vec<Record>) -> std::io::Result<()> {
        let content = serde_json::to_vec_pretty(&Book { records })?;
        private::write_private(&self.file(), &content)
    }

    /// Keeps a copy of a file, and of each editor's the last three. Those that a record needs stay.
    pub(crate) fn keep(
        &self,
        client: &str,
        path: &Path,
        content: &[u8],
    ) -> std::io::Result<PathBuf> {
        let folder = self.folder.join("backups").join(client);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let at = clock::unix_millis();
        let named = |at: u64| folder.join(format!("{at}-{name}"));
        let copy = (at..).map(named).find(|copy| !copy.exists()).unwrap_or_else(|| named(at));
        private::write_private(&copy, content)?;
        let needed: Vec<Before> = self.records().into_iter().map(|record| record.before).collect();
        let mut copies: Vec<PathBuf> =
            std::fs::read_dir(&folder)?.flatten().map(|entry| entry.path()).collect();
        copies.sort();
        let old = copies.len().saturating_sub(KEPT);
        for path in copies.into_iter().take(old) {
            if path != copy && !needed.contains(&Before::Kept(path.clone())) {
                let _ = std::fs::remove_file(path);
            }
        }
        Ok(copy)
    }
}

/// A checksum that tells whether a file is still as we left it.
pub fn checksum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}
