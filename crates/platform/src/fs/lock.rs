//! One instance only.
//!
//! The system itself keeps the lock and lets go of it when the holder dies, however it dies, so a
//! lock can never be stale. On Unix it belongs to the open file: whoever is given that file too
//! ([`crate::handover`]) holds the same lock, and there is no moment at which nobody does. On
//! Windows it belongs to the process: it is let go of and taken.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Held for as long as it lives.
#[derive(Debug)]
pub struct InstanceLock {
    file: File,
}

impl InstanceLock {
    /// Takes the lock, or says `None` if another process has it.
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

    /// The lock as the system knows it.
    #[cfg(unix)]
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// A lock that somebody else took and gave to us.
    #[cfg(unix)]
    pub(crate) fn given(file: File) -> Self {
        Self { file }
    }

    /// Lets another process take it.
    #[cfg(windows)]
    pub(crate) fn lend(&self) -> io::Result<()> {
        self.file.unlock()
    }

    /// Takes it again after it was given to somebody who did not want it.
    #[cfg(windows)]
    pub fn take_back(&self) -> io::Result<()> {
        Ok(self.file.try_lock()?)
    }

    /// Takes it again after it was given to somebody who did not want it. It was never let go of.
    #[cfg(unix)]
    pub fn take_back(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_instance_is_told_and_a_third_may_follow_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/lock");
        let first = InstanceLock::take(&path).unwrap();
        assert!(first.is_some());
        assert!(InstanceLock::take(&path).unwrap().is_none());
        drop(first);
        assert!(InstanceLock::take(&path).unwrap().is_some());
    }
}
