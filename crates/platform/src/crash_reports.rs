//! Finds the crash reports that the system wrote.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::fs::foreign;
use crate::system::System;

/// A crash report on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrashReportFile {
    pub path: PathBuf,
    pub modified: SystemTime,
    /// The content, cut off at a maximum length.
    pub bytes: Vec<u8>,
}

const MAX_LENGTH: u64 = 4 << 20;
/// The file in the folder of a report on Windows.
const WINDOWS_REPORT: &str = "Report.wer";

/// The folders with crash reports. Linux has none; its reports are in the journal.
pub fn folders(system: System, env: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    match system {
        System::MacOs => {
            let own = set("HOME").map(|home| home.join("Library/Logs/DiagnosticReports"));
            let shared = PathBuf::from("/Library/Logs/DiagnosticReports");
            let folders = own.into_iter().chain([shared]);
            folders.flat_map(|folder| [folder.join("Retired"), folder]).collect()
        }
        System::Windows => {
            let roots = [set("LOCALAPPDATA"), set("PROGRAMDATA")].into_iter().flatten();
            let roots = roots.map(|root| root.join("Microsoft").join("Windows").join("WER"));
            roots.flat_map(|root| [root.join("ReportArchive"), root.join("ReportQueue")]).collect()
        }
        System::Linux => Vec::new(),
    }
}

/// Whether a crash on this machine leaves a report that can be found.
pub fn are_available() -> bool {
    match System::HERE {
        System::MacOs => true,
        // Windows reports the exit code of a process, which says more.
        System::Windows => false,
        System::Linux => fs::read_to_string("/proc/sys/kernel/core_pattern")
            .is_ok_and(|pattern| are_dumps_kept(&pattern)),
    }
}

/// Whether the kernel passes core dumps to systemd, which writes them to the journal.
fn are_dumps_kept(pattern: &str) -> bool {
    pattern.trim_start().starts_with('|') && pattern.contains("systemd-coredump")
}

/// The newest reports with a wanted name, written at `after` or later, the newest first. For a folder
/// with a wanted name, the report in it.
pub fn newest(
    folders: &[PathBuf],
    wanted: impl Fn(&str) -> bool,
    after: SystemTime,
    most: usize,
) -> Vec<CrashReportFile> {
    let mut found: Vec<(SystemTime, PathBuf)> = folders
        .iter()
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flat_map(Iterator::flatten)
        .filter(|entry| entry.file_name().to_str().is_some_and(&wanted))
        .map(|entry| entry.path())
        .map(|path| if path.is_dir() { path.join(WINDOWS_REPORT) } else { path })
        .filter_map(|path| Some((fs::metadata(&path).ok()?.modified().ok()?, path)))
        .filter(|(modified, _)| *modified >= after)
        .collect();
    found.sort_by(|one, other| other.cmp(one));
    found.truncate(most);
    found
        .into_iter()
        .filter_map(|(modified, path)| {
            Some(CrashReportFile { bytes: read(&path)?, path, modified })
        })
        .collect()
}

fn read(path: &Path) -> Option<Vec<u8>> {
    foreign::read_start(path, MAX_LENGTH).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn shown(system: System, env: &[(&str, &str)]) -> Vec<String> {
        let env = |name: &str| {
            env.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
        };
        let shown = |path: &PathBuf| path.to_string_lossy().replace('\\', "/");
        folders(system, env).iter().map(shown).collect()
    }

    #[test]
    fn each_system_has_its_own_folders() {
        assert_eq!(
            shown(System::MacOs, &[("HOME", "/Users/a")]),
            [
                "/Users/a/Library/Logs/DiagnosticReports/Retired",
                "/Users/a/Library/Logs/DiagnosticReports",
                "/Library/Logs/DiagnosticReports/Retired",
                "/Library/Logs/DiagnosticReports",
            ]
        );
        assert_eq!(
            shown(System::Windows, &[("LOCALAPPDATA", "C:/L"), ("PROGRAMDATA", "C:/P")]),
            [
                "C:/L/Microsoft/Windows/WER/ReportArchive",
                "C:/L/Microsoft/Windows/WER/ReportQueue",
                "C:/P/Microsoft/Windows/WER/ReportArchive",
                "C:/P/Microsoft/Windows/WER/ReportQueue",
            ]
        );
        assert!(shown(System::Linux, &[("HOME", "/home/a")]).is_empty());
    }

    #[test]
    fn core_dumps_are_kept_if_systemd_collects_them() {
        assert!(are_dumps_kept("|/usr/lib/systemd/systemd-coredump %P %u %g %s %t %c %h"));
        assert!(!are_dumps_kept("|/usr/share/apport/apport -p%p"));
        assert!(!are_dumps_kept("core"));
    }

    #[test]
    fn the_newest_wanted_reports_are_found_in_files_and_folders() {
        let root = tempfile::tempdir().unwrap();
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        let write = |name: &str, seconds: u64| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, name).unwrap();
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(at(seconds)).unwrap();
        };
        write("App-1.ips", 100);
        write("App-2.ips", 300);
        write("App-3.ips", 400);
        write("Other-4.ips", 500);
        write("AppCrash_x/Report.wer", 350);
        write("AppCrash_x/memory.dmp", 900);
        let missing = root.path().join("not there");
        let folders = [missing, root.path().to_owned()];
        let found = newest(&folders, |name| name.starts_with("App"), at(300), 10);
        let bytes: Vec<&[u8]> = found.iter().map(|report| report.bytes.as_slice()).collect();
        assert_eq!(bytes, [&b"App-3.ips"[..], b"AppCrash_x/Report.wer", b"App-2.ips"]);
        assert_eq!(newest(&folders, |_| true, at(0), 1).len(), 1);
    }
}
