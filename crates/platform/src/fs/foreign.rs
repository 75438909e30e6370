//! Reads a file whose path others name: the configuration, a secret, an editor's file.
//!
//! Only a regular file of limited size is read. A device or a pipe could deliver bytes forever or
//! none at all. A file on a network mount that hangs blocks its reader in the kernel, so the reading
//! is done by a thread that the caller waits for a limited time. A thread that hangs is abandoned;
//! while [`MOST_HANGING`] of them hang, nothing more is read.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How long a file may take.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// How many reads may hang at the same time.
const MOST_HANGING: usize = 16;

/// The reads that were abandoned and still hang.
static HANGING: AtomicUsize = AtomicUsize::new(0);

/// Why a file that exists is not read.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("it is not a regular file")]
    NotRegular,
    #[error("it is larger than {} KB", .0 >> 10)]
    TooLarge(u64),
    #[error("it could not be read within {} s; is it on a network drive that hangs?", .0.as_secs())]
    Hangs(Duration),
}

/// The content of a regular file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_within(path, limit, PATIENCE, read_regular)
}

/// The first `limit` bytes of a regular file.
pub fn read_start(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_within(path, limit, PATIENCE, read_prefix)
}

/// The text of a regular file of at most `limit` bytes.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let text = String::from_utf8(read(path, limit)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

fn read_within(
    path: &Path,
    limit: u64,
    patience: Duration,
    reader: fn(&Path, u64) -> io::Result<Vec<u8>>,
) -> io::Result<Vec<u8>> {
    let hangs = || io::Error::new(io::ErrorKind::TimedOut, Unfit::Hangs(patience));
    if HANGING.load(Ordering::Relaxed) >= MOST_HANGING {
        return Err(hangs());
    }
    let (done, wait) = sync_channel(1);
    // Set by the first of the two: the reader when it ends, or the caller when it gives up.
    let settled = Arc::new(AtomicBool::new(false));
    let (path, ended) = (path.to_owned(), Arc::clone(&settled));
    std::thread::Builder::new().name("read file".into()).spawn(move || {
        let content = reader(&path, limit);
        if ended.swap(true, Ordering::AcqRel) {
            HANGING.fetch_sub(1, Ordering::Relaxed);
        } else {
            let _ = done.try_send(content);
        }
    })?;
    let received = wait.recv_timeout(patience).or_else(|error| {
        if error == RecvTimeoutError::Disconnected {
            return Err(error);
        }
        HANGING.fetch_add(1, Ordering::Relaxed);
        if settled.swap(true, Ordering::AcqRel) {
            HANGING.fetch_sub(1, Ordering::Relaxed);
            return wait.recv().map_err(|_| RecvTimeoutError::Disconnected);
        }
        Err(error)
    });
    match received {
        Ok(content) => content,
        Err(RecvTimeoutError::Timeout) => Err(hangs()),
        Err(RecvTimeoutError::Disconnected) => Err(io::Error::other("the reader ended")),
    }
}

fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let content = read_prefix(path, limit.saturating_add(1))?;
    if content.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, Unfit::TooLarge(limit)));
    }
    Ok(content)
}

fn read_prefix(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let unfit = |why| io::Error::new(io::ErrorKind::InvalidInput, why);
    // Opening a device can have effects, so its kind is checked before and after.
    if !std::fs::metadata(path)?.is_file() {
        return Err(unfit(Unfit::NotRegular));
    }
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(unfit(Unfit::NotRegular));
    }
    let mut content = Vec::new();
    file.take(limit).read_to_end(&mut content)?;
    Ok(content)
}

/// Opens a file without waiting for the other end of a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).expect("open flags fit an int");
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn file(content: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, content).unwrap();
        (folder, path)
    }

    #[test]
    fn a_regular_file_is_read_up_to_its_limit() {
        let (_folder, path) = file(b"text");
        assert_eq!(read_text(&path, 4).unwrap(), "text");
        let error = read(&path, 3).unwrap_err();
        assert!(error.to_string().contains("larger"), "{error}");
        let below = read(&path.join("none"), 3).unwrap_err().kind();
        let wanted = match cfg!(windows) {
            true => io::ErrorKind::NotFound,
            false => io::ErrorKind::NotADirectory,
        };
        assert_eq!(below, wanted, "a file is no folder");
        let none = path.with_file_name("none");
        assert_eq!(read(&none, 3).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn text_must_be_text() {
        let (_folder, path) = file(b"\xff\xfe");
        assert_eq!(read_text(&path, 9).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_pipes_and_folders_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        for path in [Path::new("/dev/zero"), &pipe, folder.path()] {
            let error = read(path, 1 << 20).unwrap_err();
            assert_eq!(error.to_string(), "it is not a regular file", "{}", path.display());
        }
    }

    #[test]
    fn a_read_that_hangs_ends_after_its_time() {
        let hangs = |_: &Path, _| loop {
            std::thread::park();
        };
        let error = read_within(Path::new("x"), 1, Duration::from_millis(10), hangs).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
