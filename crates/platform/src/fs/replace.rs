//! Replaces a file of another program atomically.
//!
//! The new content goes to a file next to the old one, is synced to disk and renamed over it. A reader
//! sees the old file or the new one, even after a crash. A symbolic link stays: its target is
//! replaced. Mode and owner stay.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::foreign;
use super::rename::rename_over;

/// A larger file is not one that a user edits.
const MAX_SIZE: u64 = 32 << 20;

/// Why the file was not replaced.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} is not a regular file", path.display())]
    NotPlain { path: PathBuf },
    #[error("{} is not writable: {source}", path.display())]
    NotWritable { path: PathBuf, source: io::Error },
    #[error("{} was changed by another program at the same time", path.display())]
    Changed { path: PathBuf },
}

/// The content of a file; `None` if there is none.
pub fn content(path: &Path) -> Result<Option<Vec<u8>>, ReplaceError> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(ReplaceError::NotPlain { path: path.to_owned() }),
        Ok(_) => match foreign::read(path, MAX_SIZE) {
            Ok(content) => Ok(Some(content)),
            Err(source) => Err(ReplaceError::Unreadable { path: path.to_owned(), source }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ReplaceError::Unreadable { path: path.to_owned(), source }),
    }
}

/// Replaces the content `before` with `after`, and fails if the file has another content. `None` before:
/// there is no file yet; the new one is private to its owner. `None` after: the file is removed.
pub fn replace(
    path: &Path,
    before: Option<&[u8]>,
    after: Option<&[u8]>,
) -> Result<(), ReplaceError> {
    let target = target(path);
    let failed = |source| ReplaceError::NotWritable { path: path.to_owned(), source };
    let old = fs::metadata(&target).ok();
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err(failed(io::Error::from(io::ErrorKind::PermissionDenied)));
    }
    if old.is_some() {
        File::options().write(true).open(&target).map_err(failed)?;
    }
    let Some(after) = after else {
        if content(path)?.as_deref() != before {
            return Err(ReplaceError::Changed { path: path.to_owned() });
        }
        return fs::remove_file(&target).map_err(failed);
    };
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let new =
        TemporaryFile { path: folder.join(format!(".{name}.{}.evermoor", std::process::id())) };
    write(&new.path, after, old.as_ref()).map_err(failed)?;
    // Checked as late as possible, so that a concurrent write is not lost.
    if content(path)?.as_deref() != before {
        return Err(ReplaceError::Changed { path: path.to_owned() });
    }
    rename_over(&new.path, &target).map_err(failed)?;
    sync_folder(folder);
    Ok(())
}

/// The missing folders of a path, the outermost first.
pub fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let target = target(path);
    let folders = target.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
    let mut missing: Vec<PathBuf> =
        folders.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Follows symbolic links, also to a target that does not exist.
fn target(path: &Path) -> PathBuf {
    // As many links as Linux follows.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => break,
        }
    }
    path
}

/// A temporary file that is deleted unless it was renamed.
struct TemporaryFile {
    path: PathBuf,
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn write(path: &Path, content: &[u8], old: Option<&fs::Metadata>) -> io::Result<()> {
    // A killed process may have left one.
    let _ = fs::remove_file(path);
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    if let Some(old) = old {
        keep_owner(&file, old)?;
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()
}

#[cfg(unix)]
fn keep_owner(file: &File, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    fchown(file, Some(old.uid()), Some(old.gid()))
}

/// On Windows, a file inherits owner and permissions from its folder.
#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Syncs the rename to disk, on systems that can sync a folder.
#[cfg(unix)]
fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary folder")
    }

    #[cfg(unix)]
    #[test]
    fn links_and_modes_stay_and_no_temporary_file_is_left() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
        let folder = folder();
        let (real, link) =
            (folder.path().join("dotfiles/real.json"), folder.path().join("link.json"));
        fs::create_dir(folder.path().join("dotfiles")).unwrap();
        fs::write(&real, b"old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("dotfiles/real.json", &link).unwrap();
        let owner = fs::metadata(&real).unwrap().uid();
        replace(&link, Some(b"old"), Some(b"new")).unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let kept = fs::metadata(&real).unwrap();
        assert_eq!((kept.permissions().mode() & 0o777, kept.uid()), (0o640, owner));
        assert_eq!(fs::read_dir(folder.path().join("dotfiles")).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn the_target_of_a_dangling_link_is_created() {
        use std::os::unix::fs::symlink;
        let folder = folder();
        let link = folder.path().join("link.json");
        symlink("deep/real.json", &link).unwrap();
        assert_eq!(missing_folders(&link), [folder.path().join("deep")]);
        replace(&link, None, Some(b"new")).unwrap();
        assert_eq!(fs::read(folder.path().join("deep/real.json")).unwrap(), b"new");
    }

    #[test]
    fn a_file_that_changed_or_is_read_only_is_not_replaced() {
        let folder = folder();
        let path = folder.path().join("file");
        fs::write(&path, b"theirs").unwrap();
        assert!(matches!(
            replace(&path, Some(b"old"), Some(b"new")),
            Err(ReplaceError::Changed { .. })
        ));
        assert!(matches!(replace(&path, None, Some(b"new")), Err(ReplaceError::Changed { .. })));
        assert!(matches!(replace(&path, Some(b"old"), None), Err(ReplaceError::Changed { .. })));
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        assert!(matches!(
            replace(&path, Some(b"theirs"), Some(b"new")),
            Err(ReplaceError::NotWritable { .. })
        ));
        assert_eq!(fs::read(&path).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(matches!(content(folder.path()), Err(ReplaceError::NotPlain { .. })));
    }

    #[test]
    fn a_file_is_created_replaced_and_removed() {
        let folder = folder();
        let path = folder.path().join("a/b/file");
        assert_eq!(missing_folders(&path), [folder.path().join("a"), folder.path().join("a/b")]);
        assert_eq!(content(&path).unwrap(), None);
        replace(&path, None, Some(b"new")).unwrap();
        assert!(missing_folders(&path).is_empty());
        replace(&path, Some(b"new"), Some(b"newer")).unwrap();
        assert_eq!(content(&path).unwrap().as_deref(), Some(&b"newer"[..]));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        replace(&path, Some(b"newer"), None).unwrap();
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_is_private_to_its_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = folder();
        let path = folder.path().join("file");
        replace(&path, None, Some(b"new")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
