//! The lock that allows one gateway at a time.
//!
//! The system releases the lock when its holder dies, so it can never be stale. On Unix the lock
//! belongs to the open file: a process that receives the file ([`crate::handover`]) holds the same
//! lock, so the lock is never free in between. On Windows it belongs to the process: the old gateway
//! releases it and the new one takes it.

use std::fs::{File, TryLockError};
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
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The locked file.
    #[cfg(unix)]
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// A lock that another process took and passed on.
    #[cfg(unix)]
    pub(crate) fn from_locked(file: File) -> Self {
        Self { file }
    }

    /// Releases the lock so that another process can take it.
    #[cfg(windows)]
    pub(crate) fn release(&self) -> io::Result<()> {
        use windows_sys::Win32::Foundation::ERROR_LOCK_VIOLATION;
        match self.file.unlock() {
            // The standard library unlocks until nothing is locked. Windows reports that in a way it
            // expects, Wine with this error.
            Err(error) if error.raw_os_error() == Some(ERROR_LOCK_VIOLATION.cast_signed()) => {
                Ok(())
            }
            released => released,
        }
    }

    /// Takes the lock again after a handover that failed.
    #[cfg(windows)]
    pub fn take_back(&self) -> io::Result<()> {
        Ok(self.file.try_lock()?)
    }

    /// Takes the lock again after a handover that failed. On Unix it was never released.
    #[cfg(unix)]
    pub fn take_back(&self) -> io::Result<()> {
        Ok(())
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
