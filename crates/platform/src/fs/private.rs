//! Files that only their owner may read, written atomically.
//!
//! A write goes to a new file next to the old one, is synced to disk, and is then renamed over it: a
//! reader sees the old content or the new, even after a crash.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Why a secret file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnsafeFile {
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("other users can read {}: run `chmod 600 {}`", path.display(), path.display())]
    OpenToOthers { path: PathBuf },
    #[error("{} is not a regular file: replace it with a regular file", path.display())]
    NotPlain { path: PathBuf },
    #[error("{} belongs to another user: remove it", path.display())]
    NotOurs { path: PathBuf },
}

/// Creates a folder that only its owner may enter.
pub fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Checks that a folder is not a link, belongs to this user and is closed to other users.
#[cfg(unix)]
pub(crate) fn check_private_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::symlink_metadata(folder)?;
    let ours = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    if ours && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    let why = format!("other users can enter {}", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Writes a file that only its owner may read.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    prepare_private(path, content)?.put()
}

/// Writes the new content to disk without replacing the file yet.
pub fn prepare_private(path: &Path, content: &[u8]) -> io::Result<PreparedFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    private_folder(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let new = folder.join(format!(".{name}.{}.new", std::process::id()));
    let prepared = PreparedFile { new, path: path.to_owned(), pending: true };
    write_new(&prepared.new, content)?;
    Ok(prepared)
}

/// New content on disk, not yet renamed over the old file. Dropping it deletes it.
#[derive(Debug)]
pub struct PreparedFile {
    new: PathBuf,
    path: PathBuf,
    /// Whether it still has to be deleted on drop.
    pending: bool,
}

impl PreparedFile {
    /// Renames the new file over the old one.
    pub fn put(mut self) -> io::Result<()> {
        super::rename::rename_over(&self.new, &self.path)?;
        self.pending = false;
        Ok(())
    }
}

impl Drop for PreparedFile {
    fn drop(&mut self) {
        if self.pending {
            let _ = fs::remove_file(&self.new);
        }
    }
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Creates an empty file that only its owner may read, if there is none. Removes other users' access
/// from an existing file.
pub fn create_private(path: &Path) -> io::Result<()> {
    private_folder(path.parent().unwrap_or(Path::new(".")))?;
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata()?.permissions().mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
    }
    drop(file);
    Ok(())
}

/// Whether this process can write to a folder.
pub fn is_writable_folder(path: &Path) -> bool {
    let trial = path.join(format!(".{}.trial", std::process::id()));
    let written = File::create(&trial).is_ok();
    let _ = fs::remove_file(&trial);
    written
}

/// Whether other users have access to a file or a folder.
#[cfg(unix)]
pub fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).is_ok_and(|found| found.mode() & 0o077 != 0)
}

/// On Windows, the folder is in the user's profile.
#[cfg(not(unix))]
pub fn is_open_to_others(_: &Path) -> bool {
    false
}

/// Removes other users' access to a folder.
#[cfg(unix)]
pub fn close_to_others(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// On Windows, the folder is in the user's profile.
#[cfg(not(unix))]
pub fn close_to_others(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether a file is executable.
pub fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && may_run(&found))
}

#[cfg(unix)]
fn may_run(found: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0
}

/// On Windows, the file name extension decides.
#[cfg(not(unix))]
fn may_run(_: &fs::Metadata) -> bool {
    true
}

/// Reads a file with a secret, if no other user can. `None` if there is none.
pub fn read_private(path: &Path) -> Result<Option<Vec<u8>>, UnsafeFile> {
    let unreadable = |source| UnsafeFile::Unreadable { path: path.to_owned(), source };
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !found.is_file() {
        return Err(UnsafeFile::NotPlain { path: path.to_owned() });
    }
    check_owner(path, &found)?;
    let mut content = Vec::new();
    File::open(path).and_then(|mut file| file.read_to_end(&mut content)).map_err(unreadable)?;
    Ok(Some(content))
}

#[cfg(unix)]
fn check_owner(path: &Path, found: &fs::Metadata) -> Result<(), UnsafeFile> {
    use std::os::unix::fs::MetadataExt as _;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(UnsafeFile::NotOurs { path: path.to_owned() });
    }
    if found.mode() & 0o077 != 0 {
        return Err(UnsafeFile::OpenToOthers { path: path.to_owned() });
    }
    Ok(())
}

/// On Windows, files inherit the permissions of the user's profile.
#[cfg(not(unix))]
fn check_owner(_: &Path, _: &fs::Metadata) -> Result<(), UnsafeFile> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_private_file_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/secret");
        write_private(&path, b"one").unwrap();
        write_private(&path, b"two").unwrap();
        assert_eq!(read_private(&path).unwrap().unwrap(), b"two");
        assert_eq!(entries(path.parent().unwrap()), 1, "nothing is left behind");
    }

    #[test]
    fn a_prepared_file_that_is_dropped_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        write_private(&path, b"one").unwrap();
        drop(prepare_private(&path, b"two").unwrap());
        assert_eq!(read_private(&path).unwrap().unwrap(), b"one");
        assert_eq!(entries(folder.path()), 1);
        prepare_private(&path, b"three").unwrap().put().unwrap();
        assert_eq!(read_private(&path).unwrap().unwrap(), b"three");
    }

    #[test]
    fn an_existing_file_keeps_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        create_private(&path).unwrap();
        fs::write(&path, b"content").unwrap();
        create_private(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"content");
    }

    #[test]
    fn a_folder_is_refused_and_a_missing_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(read_private(folder.path()), Err(UnsafeFile::NotPlain { .. })));
        assert!(read_private(&folder.path().join("none")).unwrap().is_none());
        assert!(is_writable_folder(folder.path()));
        assert!(!is_writable_folder(&folder.path().join("none")));
        assert_eq!(entries(folder.path()), 0);
    }

    #[cfg(unix)]
    mod modes {
        use super::*;
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o777
        }

        fn open_to_all(path: &Path) {
            fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
        }

        #[test]
        fn files_and_folders_are_closed_to_other_users() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("deep/secret");
            write_private(&path, b"one").unwrap();
            assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
            open_to_all(&path);
            create_private(&path).unwrap();
            assert_eq!(mode(&path), 0o600);
        }

        #[test]
        fn a_secret_that_other_users_can_read_is_refused_and_the_error_says_what_to_do() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("secret");
            write_private(&path, b"x").unwrap();
            open_to_all(&path);
            let error = read_private(&path).unwrap_err();
            assert!(error.to_string().contains("chmod 600"), "{error}");
        }

        #[test]
        fn a_link_is_refused() {
            let folder = tempfile::tempdir().unwrap();
            let (target, link) = (folder.path().join("target"), folder.path().join("link"));
            write_private(&target, b"x").unwrap();
            symlink(&target, &link).unwrap();
            assert!(matches!(read_private(&link), Err(UnsafeFile::NotPlain { .. })));
        }
    }
}
