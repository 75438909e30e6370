//! Writing a log: one JSON object per line, and never more than a few files of it.
//!
//! A thread of its own writes. When the file has grown large enough it is put aside as
//! `gateway.log.1`, the one before as `.2`, and the last one is dropped. Two gateways may write for
//! a moment, while one takes over from the other: each line is one write at the end of the file, and
//! only a full file is put aside, by one of them. So whoever still has that one open finds it full,
//! and goes on in the new one.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use evermoor_core::api::{LogLevel, LogLine};
use evermoor_platform::fs::private;

/// A file of this size is put aside.
const LARGEST: u64 = 2 << 20;
/// How many files are kept besides the one that is written to.
pub(crate) const OLDER: usize = 4;
/// How many lines may wait for the disk.
const ROOM: usize = 1_024;

/// Where lines are left for the thread that writes them.
pub struct Desk {
    orders: SyncSender<Order>,
    lost: Arc<AtomicU64>,
}

enum Order {
    Write(LogLine),
    /// Say when all before it is written.
    Finish(SyncSender<()>),
}

impl Desk {
    /// Starts the thread; without one there is no file.
    pub fn start(path: PathBuf) -> Option<Self> {
        let (orders, take) = sync_channel(ROOM);
        let lost = Arc::new(AtomicU64::new(0));
        let writer = Writer { path, file: None, largest: LARGEST, lost: Arc::clone(&lost) };
        let thread = std::thread::Builder::new().name("log".into());
        thread.spawn(move || writer.run(&take)).ok()?;
        Some(Self { orders, lost })
    }

    /// Leaves a line, if there is room.
    pub fn write(&self, line: &LogLine) {
        if self.orders.try_send(Order::Write(line.clone())).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits, for a limited time, until what was left is written.
    pub fn finish(&self, within: Duration) {
        let (done, wait) = sync_channel(1);
        if self.orders.try_send(Order::Finish(done)).is_ok() {
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
    fn run(mut self, orders: &Receiver<Order>) {
        while let Ok(order) = orders.recv() {
            match order {
                Order::Write(line) => self.take(&line),
                Order::Finish(done) => drop(done.try_send(())),
            }
        }
    }

    fn take(&mut self, line: &LogLine) {
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let text = format!("{lost} lines are missing here: the disk did not take them");
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
                    // The other gateway may be about to do the same.
                    file.lock()?;
                    if is_full(&open(&self.path)?)? {
                        put_aside(&self.path)?;
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
    // Windows locks no file that can only be added to.
    File::options().read(true).append(true).open(path)
}

/// The file that was put aside as the `number`th.
pub(crate) fn older(path: &Path, number: usize) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{name}.{number}"))
}

fn put_aside(path: &Path) -> io::Result<()> {
    for number in (1..OLDER).rev() {
        let from = older(path, number);
        if from.exists() {
            std::fs::rename(&from, older(path, number + 1))?;
        }
    }
    std::fs::rename(path, older(path, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: String) -> LogLine {
        LogLine { at: 1, level: LogLevel::Info, upstream: None, text }
    }

    #[test]
    fn the_log_never_takes_more_than_its_share_of_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("logs/gateway.log");
        let lost = Arc::default();
        let mut writer = Writer { path: path.clone(), file: None, largest: 1_000, lost };
        for number in 0..500 {
            writer.take(&line(format!("line {number}")));
        }
        let files: Vec<PathBuf> = std::fs::read_dir(folder.path().join("logs"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        assert_eq!(files.len(), 1 + OLDER);
        assert!(files.iter().all(|file| file.metadata().unwrap().len() < 1_200));
        let newest = crate::read::newest(&path, 30, |_| true);
        assert_eq!(newest.len(), 30);
        assert_eq!(newest[29].text, "line 499");
        assert_eq!(newest[0].text, "line 470", "also from a file that was put aside");
    }

    #[test]
    fn two_gateways_lose_no_line_and_put_only_full_files_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.log");
        let largest = 4_000;
        std::thread::scope(|threads| {
            for name in ["old", "new"] {
                let path = path.clone();
                threads.spawn(move || {
                    let mut writer = Writer { path, file: None, largest, lost: Arc::default() };
                    (0..120).for_each(|number| writer.take(&line(format!("{name} {number}"))));
                });
            }
        });
        for number in (1..=OLDER).filter(|number| older(&path, *number).exists()) {
            assert!(older(&path, number).metadata().unwrap().len() >= largest);
        }
        let lines = crate::read::newest(&path, usize::MAX, |_| true);
        for name in ["old", "new"] {
            let theirs = lines.iter().filter_map(|line| line.text.strip_prefix(name));
            let theirs: Vec<usize> = theirs.map(|it| it.trim().parse().unwrap()).collect();
            assert_eq!(theirs, (0..120).collect::<Vec<_>>(), "{name}: in order, none lost");
        }
    }

    #[test]
    fn what_could_not_be_written_is_counted_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.log");
        std::fs::create_dir(&path).unwrap();
        let lost = Arc::default();
        let mut writer = Writer { path: path.clone(), file: None, largest: 1_000, lost };
        writer.take(&line("one".into()));
        writer.take(&line("two".into()));
        std::fs::remove_dir(&path).unwrap();
        writer.take(&line("three".into()));
        let told = crate::read::newest(&path, 9, |_| true);
        assert!(told[0].text.starts_with("2 lines are missing"), "{told:?}");
        assert_eq!(told[1].text, "three");
    }

    #[test]
    fn what_was_said_is_on_the_disk_when_the_log_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gateway.log");
        let desk = Desk::start(path.clone()).unwrap();
        desk.write(&line("last words".into()));
        desk.finish(Duration::from_secs(20));
        assert_eq!(crate::read::newest(&path, 9, |_| true)[0].text, "last words");
    }
}
