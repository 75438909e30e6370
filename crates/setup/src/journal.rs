//! The journal: what Evermoor wrote into editors' files, and copies of the files from before.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use evermoor_platform::clock;
use evermoor_platform::fs::private;

use crate::entry::desired::GatewayEntry;
use crate::user_editors::location::ConfigLocation;

/// One location that Evermoor wrote to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalRecord {
    /// The editor's id in the table.
    pub client: String,
    #[serde(flatten)]
    pub location: ConfigLocation,
    #[serde(rename = "doors")]
    pub gateway_entries: Vec<GatewayEntry>,
    /// The names of other entries that Evermoor wrote there before, and that may still be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    pub before: OriginalFile,
    /// The checksum of the file as Evermoor wrote it.
    pub written: String,
    /// Evermoor also created the map or list that holds the servers.
    pub made_place: bool,
    /// The folders that Evermoor created, the outermost first.
    pub made_folders: Vec<PathBuf>,
}

impl JournalRecord {
    /// The names of all entries that Evermoor wrote there, the last ones last.
    pub fn names(&self) -> Vec<String> {
        let last = self.gateway_entries.iter().map(|gateway_entry| gateway_entry.name.clone());
        self.earlier.iter().cloned().chain(last).collect()
    }
}

/// The file before Evermoor's first change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OriginalFile {
    /// There was no file.
    Nothing,
    /// The path of its copy.
    Kept(PathBuf),
    /// It already had an entry of Evermoor's.
    Ours,
    /// The editor's own program made the change.
    Command,
}

/// The records, in a file that only its owner may read, with the copies next to it.
#[derive(Clone, Debug)]
pub struct Journal {
    folder: PathBuf,
}

/// How many copies are kept per editor.
const KEPT: usize = 3;

/// The journal on disk. An unreadable journal counts as empty.
#[derive(Default, Serialize, Deserialize)]
struct JournalFile {
    records: Vec<JournalRecord>,
}

impl Journal {
    /// The journal in Evermoor's data folder.
    pub fn below(data: &Path) -> Self {
        Self { folder: data.join("setup") }
    }

    fn file(&self) -> PathBuf {
        self.folder.join("journal.json")
    }

    pub fn records(&self) -> Vec<JournalRecord> {
        let content = private::read_private(&self.file()).ok().flatten();
        let file = content.and_then(|content| serde_json::from_slice::<JournalFile>(&content).ok());
        file.unwrap_or_default().records
    }

    pub fn record(&self, client: &str, location: &ConfigLocation) -> Option<JournalRecord> {
        self.records()
            .into_iter()
            .find(|record| record.client == client && record.location == *location)
    }

    /// Adds a record, or replaces the one for the same location. The names of its entries are kept,
    /// so that undo removes them too.
    pub(crate) fn put(&self, mut record: JournalRecord) -> std::io::Result<()> {
        let replaced = self.record(&record.client, &record.location);
        record.earlier = replaced.map(|replaced| replaced.names()).unwrap_or_default();
        record.earlier.retain(|name| {
            record.gateway_entries.iter().all(|gateway_entry| gateway_entry.name != *name)
        });
        let mut records = self.others(&record.client, &record.location);
        records.push(record);
        self.write(records)
    }

    pub(crate) fn forget(&self, client: &str, location: &ConfigLocation) -> std::io::Result<()> {
        self.write(self.others(client, location))
    }

    fn others(&self, client: &str, location: &ConfigLocation) -> Vec<JournalRecord> {
        let other =
            |record: &JournalRecord| record.client != client || record.location != *location;
        self.records().into_iter().filter(other).collect()
    }

    fn write(&self, records: Vec<JournalRecord>) -> std::io::Result<()> {
        let content = serde_json::to_vec_pretty(&JournalFile { records })?;
        private::write_private(&self.file(), &content)
    }

    /// Keeps a copy of a file. Only the last three copies of each editor's files are kept, besides
    /// those that a record refers to.
    pub(crate) fn keep(
        &self,
        client: &str,
        path: &Path,
        content: &[u8],
    ) -> std::io::Result<PathBuf> {
        self.keep_at(clock::unix_millis(), client, path, content)
    }

    /// A copy's number is the time in milliseconds, or the next free number if that one is taken.
    /// It is always greater than that of every copy that exists or that a record refers to: the
    /// order of the numbers is the order of the copies, and a record never gets another file's copy.
    fn keep_at(
        &self,
        now: u64,
        client: &str,
        path: &Path,
        content: &[u8],
    ) -> std::io::Result<PathBuf> {
        let folder = self.folder.join("backups").join(client);
        let referenced: Vec<PathBuf> = self
            .records()
            .into_iter()
            .filter_map(|record| match record.before {
                OriginalFile::Kept(copy) => Some(copy),
                OriginalFile::Nothing | OriginalFile::Ours | OriginalFile::Command => None,
            })
            .collect();
        let mut copies = files(&folder)?;
        copies.sort_by_key(|copy| copy_number(copy));
        let last = copies.iter().chain(&referenced).map(|copy| copy_number(copy)).max();
        let number = last.map_or(now, |last| now.max(last.saturating_add(1)));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let copy = folder.join(format!("{number}-{name}"));
        private::write_private(&copy, content)?;
        let surplus = (copies.len() + 1).saturating_sub(KEPT);
        for old in copies.iter().take(surplus).filter(|old| !referenced.contains(old)) {
            let _ = std::fs::remove_file(old);
        }
        Ok(copy)
    }
}

fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(folder) {
        Ok(entries) => Ok(entries.flatten().map(|entry| entry.path()).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// The number before the dash in a copy's name; 0 for any other file.
fn copy_number(copy: &Path) -> u64 {
    let name = copy.file_name().unwrap_or_default().to_string_lossy();
    name.split_once('-').and_then(|(number, _)| number.parse().ok()).unwrap_or(0)
}

/// A checksum, to see whether a file is still as Evermoor wrote it.
pub fn checksum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "/home/a/.cursor/mcp.json";

    fn names(copies: &[PathBuf]) -> Vec<String> {
        copies.iter().map(|copy| copy.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn copies_made_in_the_same_millisecond_never_reuse_a_number() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::below(folder.path());
        let keep = |text: &str| journal.keep_at(1_000, "cursor", Path::new(FILE), text.as_bytes());
        let made: Vec<PathBuf> =
            ["a", "b", "c", "d", "e", "f"].iter().map(|text| keep(text).unwrap()).collect();
        let expected: Vec<String> = (1_000..1_006).map(|n| format!("{n}-mcp.json")).collect();
        assert_eq!(names(&made), expected);
        let mut left = files(made[0].parent().unwrap()).unwrap();
        left.sort();
        assert_eq!(left, made[3..], "the last three are kept");
    }

    #[test]
    fn a_copy_that_a_record_refers_to_keeps_its_number_even_when_its_file_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::below(folder.path());
        let first = journal.keep_at(1_000, "cursor", Path::new(FILE), b"first").unwrap();
        let record = JournalRecord {
            client: "cursor".to_owned(),
            location: ConfigLocation::of(PathBuf::from(FILE)),
            gateway_entries: Vec::new(),
            earlier: Vec::new(),
            before: OriginalFile::Kept(first.clone()),
            written: String::new(),
            made_place: false,
            made_folders: Vec::new(),
        };
        journal.put(record).unwrap();
        std::fs::remove_file(&first).unwrap();
        let second = journal.keep_at(1_000, "cursor", Path::new(FILE), b"second").unwrap();
        assert_eq!(names(&[second]), ["1001-mcp.json"]);
        assert!(!first.exists());
    }

    #[test]
    fn a_record_that_replaces_another_keeps_the_names_of_its_entries() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::below(folder.path());
        let location = ConfigLocation::of(PathBuf::from(FILE));
        let all = GatewayEntry::for_all();
        let one = GatewayEntry::for_upstream("probe");
        let two = GatewayEntry::for_upstream("notes");
        for entries in [vec![all.clone()], vec![one.clone(), two.clone()], vec![one.clone()]] {
            let record = JournalRecord {
                client: "claude-code".to_owned(),
                location: location.clone(),
                gateway_entries: entries,
                earlier: Vec::new(),
                before: OriginalFile::Command,
                written: String::new(),
                made_place: false,
                made_folders: Vec::new(),
            };
            journal.put(record).unwrap();
        }
        let record = journal.record("claude-code", &location).unwrap();
        assert_eq!(record.names(), [all.name, two.name, one.name]);
    }

    #[test]
    fn a_clock_that_goes_back_does_not_make_the_newest_copy_the_oldest() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::below(folder.path());
        let times = [9_000, 9_001, 9_002, 10, 20];
        let keep = |at| journal.keep_at(at, "cursor", Path::new(FILE), b"").unwrap();
        let made: Vec<PathBuf> = times.map(keep).into();
        let mut left = files(made[0].parent().unwrap()).unwrap();
        left.sort();
        assert_eq!(left, made[2..]);
    }
}
