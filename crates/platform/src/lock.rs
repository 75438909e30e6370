//! One instance only.
//!
//! The system itself keeps the lock and lets go of it when the holder dies, however it dies, so a
//! lock can never be stale.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Held for as long as it lives.
#[derive(Debug)]
pub struct InstanceLock {
    _file: File,
}

impl InstanceLock {
    /// Takes the lock, or says `None` if another process has it.
    pub fn take(path: &Path) -> io::Result<Option<Self>> {
        if let Some(folder) = path.parent() {
            crate::files::private_folder(folder)?;
        }
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
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
