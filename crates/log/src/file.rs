//! Writes log lines and rotates the files.
//!
//! A thread does the writing. A full file is renamed to `gateway.log.1`, the previous one to `.2`, and
//! the oldest is overwritten. During a takeover two gateways write to the same log: each line is one
//! append, and only a full file is rotated, by one of them under a lock. The other one finds its open
//! file full and continues in the new file.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use evermoor_core::api::{LogLevel, LogLine};
use evermoor_platform::fs::private;

/// A file of this size is rotated.
const MAX_SIZE: u64 = 2 << 20;
/// How many rotated files are kept.
pub(crate) const ROTATED_FILES: usize = 4;
/// How many lines may wait for the disk.
const QUEUE_LENGTH: usize = 1_024;

/// A handle to the thread that writes log lines.
pub struct LogWriter {
    commands: SyncSender<WriterCommand>,
    lost: Arc<AtomicU64>,
}

enum WriterCommand {
    Write(LogLine),
    /// Reply when everything before it is written.
    Finish(SyncSender<()>),
}

impl LogWriter {
    /// Starts the thread; `None` if it cannot be started.
    pub fn start(path: PathBuf) -> Option<Self> {
        let (commands, received) = sync_channel(QUEUE_LENGTH);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = Writer { path, file: None, largest: MAX_SIZE, lost: Arc::clone(&lost) };
        let thread = std::thread::Builder::new().name("log".into());
        thread.spawn(move || writer.run(&received)).ok()?;
        Some(Self { commands, lost })
    }

    /// Queues a line. If the queue is full, the line is lost and counted.
    pub fn write(&self, line: &LogLine) {
        if self.commands.try_send(WriterCommand::Write(line.clone())).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits, for a limited time, until all queued lines are written.
    pub fn finish(&self, within: Duration) {
        let (done, wait) = sync_channel(1);
        if self.commands.try_send(WriterCommand::Finish(done)).is_ok() {
            let _ = wait.recv_timeout(within);
        }
    }
}

struct Writer {
    path: PathBuf,
    file: Option<File>,
    largest: u64,
    lost: Arc<AtomicU64>,
}

impl Writer {
    fn run(mut self, commands: &Receiver<WriterCommand>) {
        while let Ok(command) = commands.recv() {
            match command {
                WriterCommand::Write(line) => self.write_counted(&line),
                WriterCommand::Finish(done) => drop(done.try_send(())),
            }
        }
    }

    fn write_counted(&mut self, line: &LogLine) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let text = format!("{lost} lines are missing here: they could not be written");
            let gap = LogLine { level: LogLevel::Warn, upstream: None, text, ..line.clone() };
            if self.write(&gap).is_err() {
                self.lost.fetch_add(lost, Ordering::Relaxed);
            }
        }
        if self.write(line).is_err() {
            self.file = None;
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn write(&mut self, line: &LogLine) -> io::Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        let largest = self.largest;
        let is_full = |file: &File| Ok::<_, io::Error>(file.metadata()?.len() >= largest);
        let file = match self.file.take() {
            Some(file) if !is_full(&file)? => file,
            Some(_) | None => {
                let file = open(&self.path)?;
                if is_full(&file)? {
                    // Another gateway may be rotating the same file.
                    file.lock()?;
                    if is_full(&open(&self.path)?)? {
                        rotate(&self.path)?;
                    }
                    open(&self.path)?
                } else {
                    file
                }
            }
        };
        (&file).write_all(&bytes)?;
        self.file = Some(file);
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    private::create_private(path)?;
    // Windows cannot lock a file that is open for appending only.
    File::options().read(true).append(true).open(path)
}

/// The path of the rotated file with this number.
pub(crate) fn rotated(path: &Path, number: usize) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.{number}"))
}

fn rotate(path: &Path) -> io::Result<()> {
    for number in (1..ROTATED_FILES).rev() {
        let from = rotated(path, number);
        if from.exists() {
            std::fs::rename(&from, rotated(path, number + 1))?;
        }
    }
    std::fs::rename(path, rotated(path, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: String) -> LogLine {
        LogLine { at: 1, level: LogLevel::Info, upstream: None, text }
    }

    #[test]
    fn the_size_of_the_log_is_limited() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/gateway.log");
        let lost = Arc::default();
        let mut writer = Writer { path: path.clone(), file: None, largest: 1_000, lost };
        for number in 0..500 {
            writer.write_counted(&line(format!("line {number}")));
        }
        let files: Vec<PathBuf> = std::fs::read_dir(folder.path().join("logs"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(files.len(), 1 + ROTATED_FILES);
        assert!(files.iter().all(|file| file.metadata().unwrap().len() < 1_200));
        let newest = crate::read::newest(&path, 30, |_| true);
        assert_eq!(newest.len(), 30);
        assert_eq!(newest[29].text, "line 499");
        assert_eq!(newest[0].text, "line 470", "also from a rotated file");
    }

    #[test]
    fn two_gateways_lose_no_line_and_rotate_only_full_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.log");
        let largest = 4_000;
        std::thread::scope(|threads| {
            for name in ["old", "new"] {
                let path = path.clone();
                threads.spawn(move || {
                    let mut writer = Writer { path, file: None, largest, lost: Arc::default() };
                    (0..120)
                        .for_each(|number| writer.write_counted(&line(format!("{name} {number}"))));
                });
            }
        });
        for number in (1..=ROTATED_FILES).filter(|number| rotated(&path, *number).exists()) {
            assert!(rotated(&path, number).metadata().unwrap().len() >= largest);
        }
        let lines = crate::read::newest(&path, usize::MAX, |_| true);
        for name in ["old", "new"] {
            let theirs = lines.iter().filter_map(|line| line.text.strip_prefix(name));
            let theirs: Vec<usize> = theirs.map(|it| it.trim().parse().unwrap()).collect();
            assert_eq!(theirs, (0..120).collect::<Vec<_>>(), "{name}: in order, none lost");
        }
    }

    #[test]
    fn lines_that_could_not_be_written_are_counted_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.log");
        std::fs::create_dir(&path).unwrap();
        let lost = Arc::default();
        let mut writer = Writer { path: path.clone(), file: None, largest: 1_000, lost };
        writer.write_counted(&line("one".into()));
        writer.write_counted(&line("two".into()));
        std::fs::remove_dir(&path).unwrap();
        writer.write_counted(&line("three".into()));
        let lines = crate::read::newest(&path, 9, |_| true);
        assert!(lines[0].text.starts_with("2 lines are missing"), "{lines:?}");
        assert_eq!(lines[1].text, "three");
    }

    #[test]
    fn finish_waits_until_all_lines_are_on_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.log");
        let log = LogWriter::start(path.clone()).unwrap();
        log.write(&line("last line".into()));
        log.finish(Duration::from_secs(20));
        assert_eq!(crate::read::newest(&path, 9, |_| true)[0].text, "last line");
    }
}
