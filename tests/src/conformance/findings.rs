//! The results of a run of the suite.

use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::path::Path;

use serde::Deserialize;

/// The suite's verdict on one check. If a check runs several times, the worst verdict counts, so
/// the order matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CheckStatus {
    Info,
    Skipped,
    Success,
    Warning,
    Failure,
}

#[derive(Deserialize)]
struct FinishedCheck {
    id: String,
    status: CheckStatus,
    #[serde(rename = "errorMessage")]
    complaint: Option<String>,
}

/// The results of one run, by `scenario check`.
#[derive(Debug, Default)]
pub struct Findings {
    verdicts: BTreeMap<String, CheckStatus>,
    complaints: BTreeMap<String, String>,
}

impl Findings {
    pub fn passed(&self) -> impl Iterator<Item = &str> {
        let passed = self.verdicts.iter().filter(|(_, verdict)| **verdict == CheckStatus::Success);
        passed.map(|(name, _)| name.as_str())
    }

    pub fn failed(&self) -> impl Iterator<Item = &str> {
        let failed = self.verdicts.iter().filter(|(_, verdict)| **verdict > CheckStatus::Success);
        failed.map(|(name, _)| name.as_str())
    }

    /// Passed checks out of all checks that ran.
    pub fn count(&self) -> String {
        let made =
            self.verdicts.values().filter(|verdict| **verdict >= CheckStatus::Success).count();
        format!("{} of {made} checks pass", self.passed().count())
    }

    /// The suite's message for a check, or an empty string.
    pub fn complaint(&self, check: &str) -> &str {
        self.complaints.get(check).map_or("", String::as_str)
    }

    /// The checks that pass here but not in `there`, each with the suite's message from there. A
    /// check that did not run there counts as failed, because something it depends on failed.
    pub fn lost_in(&self, there: &Self) -> BTreeMap<&str, String> {
        let lost =
            self.passed().filter(|name| there.verdicts.get(*name) != Some(&CheckStatus::Success));
        let said = |name: &str| match (there.verdicts.get(name), there.complaints.get(name)) {
            (Some(verdict), complaint) => {
                format!("{verdict:?} {}", complaint.map_or("", String::as_str))
            }
            (None, _) => "not made".to_owned(),
        };
        lost.map(|name| (name, said(name))).collect()
    }

    pub(super) fn read(results: &Path) -> Self {
        let mut findings = Self::default();
        for entry in folders(results) {
            let name = entry.file_name().into_string().expect("a plain name");
            // The scenarios of a group, such as `auth/iss-supported`, are in a folder of that name.
            let group = !name.ends_with('Z');
            let inner = if group { folders(&entry.path()) } else { vec![entry] };
            for folder in inner {
                findings.read_folder(&folder);
            }
        }
        findings
    }

    fn read_folder(&mut self, entry: &DirEntry) {
        let folder = entry.file_name().into_string().expect("a plain name");
        // The suite leaves an empty folder for a scenario in which it crashed.
        let content = std::fs::read(entry.path().join("checks.json"));
        let content = content.unwrap_or_else(|_| b"[]".to_vec());
        let checks: Vec<FinishedCheck> = serde_json::from_slice(&content).expect("checks are JSON");
        for check in checks {
            self.note(scenario(&folder), check);
        }
    }

    fn note(&mut self, scenario: &str, check: FinishedCheck) {
        let name = format!("{scenario} {}", check.id);
        let verdict = self.verdicts.entry(name.clone()).or_insert(check.status);
        if check.status >= *verdict {
            *verdict = check.status;
            let first = |complaint: String| complaint.lines().next().unwrap_or_default().to_owned();
            self.complaints.extend(check.complaint.map(first).map(|complaint| (name, complaint)));
        }
    }
}

fn folders(of: &Path) -> Vec<DirEntry> {
    std::fs::read_dir(of).expect("the suite wrote results").flatten().collect()
}

/// The scenario of a results folder: `server-<scenario>-<time>`, or `<scenario>-<time>` for a
/// client.
fn scenario(folder: &str) -> &str {
    const TIME: usize = "-2026-07-28T00-00-00-000Z".len();
    let end = folder.len().checked_sub(TIME).expect("a folder ends with a time");
    folder[..end].strip_prefix("server-").unwrap_or(&folder[..end])
}
