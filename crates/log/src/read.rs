//! Reading a log, also while somebody writes it, and when nobody does.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use evermoor_core::api::{LogLevel, LogLine};

use crate::file::{OLDER, older};

/// The newest lines that are wanted, the newest last; also from files that were put aside.
pub fn newest(path: &Path, count: usize, wanted: impl Fn(&LogLine) -> bool) -> Vec<LogLine> {
    let mut found: Vec<LogLine> = Vec::new();
    for file in all(path) {
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
pub fn all(path: &Path) -> Vec<PathBuf> {
    let aside = (1..=OLDER).map(|number| older(path, number));
    std::iter::once(path.to_owned()).chain(aside).filter(|file| file.is_file()).collect()
}

/// Follows the file as it grows.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    file: Option<File>,
    at: u64,
    /// The beginning of a line whose end is not there yet.
    begun: Vec<u8>,
}

impl Follower {
    /// From what the file says now.
    pub fn new(path: PathBuf) -> Self {
        let at = std::fs::metadata(&path).map_or(0, |found| found.len());
        let file = File::open(&path).ok();
        Self { path, file, at, begun: Vec::new() }
    }

    /// What was written since the last look.
    pub fn look(&mut self) -> Vec<LogLine> {
        let mut bytes = std::mem::take(&mut self.begun);
        let _ = self.read_on(&mut bytes);
        // A file that is shorter than what was read of it is another one: the old was put aside.
        if std::fs::metadata(&self.path).is_ok_and(|found| found.len() < self.at)
            || self.file.is_none()
        {
            (self.file, self.at) = (File::open(&self.path).ok(), 0);
            let _ = self.read_on(&mut bytes);
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        self.begun = bytes.split_off(whole);
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

/// A line that is none of ours, such as one of an older Evermoor, is shown as it stands.
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
    fn a_file_is_followed_as_it_grows_and_when_it_is_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.log");
        let say = |text: &str| {
            let mut file = File::options().create(true).append(true).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        let texts = |follower: &mut Follower| -> Vec<String> {
            follower.look().into_iter().map(|line| line.text).collect()
        };
        say("an old line that is long enough\n");
        let mut follower = Follower::new(path.clone());
        assert!(texts(&mut follower).is_empty());
        say("one\ntw");
        assert_eq!(texts(&mut follower), ["one"]);
        say("o\n");
        assert_eq!(texts(&mut follower), ["two"]);
        say("last\n");
        std::fs::rename(&path, older(&path, 1)).unwrap();
        say("first\n");
        assert_eq!(texts(&mut follower), ["last", "first"]);
    }

    #[test]
    fn a_line_that_is_no_json_is_shown_as_it_stands() {
        assert_eq!(parse("plain").text, "plain");
        let line = parse(r#"{"at":5,"level":"warn","upstream":"a","text":"x"}"#);
        assert_eq!((line.at, line.level, line.upstream.as_deref()), (5, LogLevel::Warn, Some("a")));
    }
}
