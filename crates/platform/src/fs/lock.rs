//! The lock that allows one gateway at a time.
//!
//! The system releases the lock when its holder dies, so it can never be stale. It belongs to the open
//! file: a process that receives the file ([`crate::ipc::handover`]) holds the same lock, so the lock is
//! never free in between.

use std::fs::File;
use std::io;
use std::path::Path;

/// The lock is held until this is dropped.
#[derive(Debug)]
pub struct InstanceLock {
    file: File,
}

impl InstanceLock {
    /// Takes the lock; `None` if another process holds it.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        if let Some(folder) = path.parent() {
            crate::fs::private::private_folder(folder)?;
        }
        Ok(locked(path)?.map(|file| Self { file }))
    }

    /// The locked file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// A lock that another process took and passed on.
    pub(crate) fn from_locked(file: File) -> Self {
        Self { file }
    }
}

#[cfg(unix)]
fn locked(path: &Path) -> io::Result<Option<File>> {
    use std::fs::TryLockError;
    let file = File::options().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// `LockFileEx` would lock for this process, not for the open file. So nobody else may open it.
#[cfg(windows)]
fn locked(path: &Path) -> io::Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt as _;
    use windows_sys::Win32::Foundation::ERROR_SHARING_VIOLATION;
    let mut options = File::options();
    match options.write(true).create(true).truncate(false).share_mode(0).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION.cast_signed()) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_can_be_taken_once_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/lock");
        let first = InstanceLock::take(&path).unwrap();
        assert!(first.is_some());
        assert!(InstanceLock::take(&path).unwrap().is_none());
        drop(first);
        assert!(InstanceLock::take(&path).unwrap().is_some());
    }
}
