//! Reads and follows log files, also while a gateway writes them.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use evermoor_core::api::{LogLevel, LogLine};

use crate::file::{ROTATED_FILES, rotated};

/// The newest wanted lines, the newest last, including rotated files.
pub fn newest(path: &Path, count: usize, wanted: impl Fn(&LogLine) -> bool) -> Vec<LogLine> {
    let mut found: Vec<LogLine> = Vec::new();
    for file in log_files(path) {
        if found.len() >= count {
            break;
        }
        let Ok(content) = std::fs::read(&file) else { continue };
        let content = String::from_utf8_lossy(&content);
        let lines = content.lines().rev().map(parse).filter(|line| wanted(line));
        found.extend(lines.take(count - found.len()));
    }
    found.reverse();
    found
}

/// The files of the log, the newest first.
pub fn log_files(path: &Path) -> Vec<PathBuf> {
    let rotated_files = (1..=ROTATED_FILES).map(|number| rotated(path, number));
    std::iter::once(path.to_owned()).chain(rotated_files).filter(|file| file.is_file()).collect()
}

/// Follows a log file as it grows.
#[derive(Debug)]
pub struct LogFollower {
    path: PathBuf,
    file: Option<File>,
    at: u64,
    /// The start of a line that is not complete yet.
    partial: Vec<u8>,
}

impl LogFollower {
    /// Starts at the current end of the file.
    pub fn new(path: PathBuf) -> Self {
        let at = std::fs::metadata(&path).map_or(0, |found| found.len());
        let file = File::open(&path).ok();
        Self { path, file, at, partial: Vec::new() }
    }

    /// The lines written since the last call.
    pub fn poll(&mut self) -> Vec<LogLine> {
        let mut bytes = std::mem::take(&mut self.partial);
        let _ = self.read_on(&mut bytes);
        // A file that is shorter than the position is a new one: the old one was rotated.
        if std::fs::metadata(&self.path).is_ok_and(|found| found.len() < self.at)
            || self.file.is_none()
        {
            (self.file, self.at) = (File::open(&self.path).ok(), 0);
            let _ = self.read_on(&mut bytes);
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.partial = bytes.split_off(whole);
        String::from_utf8_lossy(&bytes).lines().map(parse).collect()
    }

    fn read_on(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(SeekFrom::Start(self.at))?;
        let read = file.read_to_end(bytes)?;
        self.at += read as u64;
        Ok(())
    }
}

/// A line that is not JSON, such as one of an older version, is shown as it is.
fn parse(line: &str) -> LogLine {
    serde_json::from_str(line).unwrap_or_else(|_| LogLine {
        at: 0,
        level: LogLevel::Info,
        upstream: None,
        text: line.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_file_is_followed_as_it_grows_and_when_it_is_rotated() {
        let frotated = tempfile::tempdir().unwrap();
        let path = frotated.path().join("gateway.log");
        let append = |text: &str| {
            let mut file = File::options().create(true).append(true).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        let texts = |follower: &mut LogFollower| -> Vec<String> {
            follower.poll().into_iter().map(|line| line.text).collect()
        };
        append("an old line that is long enough\n");
        let mut follower = LogFollower::new(path.clone());
        assert!(texts(&mut follower).is_empty());
        append("one\ntw");
        assert_eq!(texts(&mut follower), ["one"]);
        append("o\n");
        assert_eq!(texts(&mut follower), ["two"]);
        append("last\n");
        std::fs::rename(&path, rotated(&path, 1)).unwrap();
        append("first\n");
        assert_eq!(texts(&mut follower), ["last", "first"]);
    }

    #[test]
    fn a_line_that_is_not_json_is_shown_as_it_is() {
        assert_eq!(parse("plain").text, "plain");
        let line = parse(r#"{"at":5,"level":"warn","upstream":"a","text":"x"}"#);
        assert_eq!((line.at, line.level, line.upstream.as_deref()), (5, LogLevel::Warn, Some("a")));
    }
}
