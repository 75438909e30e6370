//! Files that only their owner may read, and writes that never tear.
//!
//! A write goes to a new file beside the old one, reaches the disk, and then takes its place: a
//! reader sees the old content or the new, whatever happens in between.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Why a secret file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Unsafe {
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} can be read by others: run `chmod 600 {}`", path.display(), path.display())]
    OpenToOthers { path: PathBuf },
    #[error("{} is a link or no plain file: replace it by a file of your own", path.display())]
    NotPlain { path: PathBuf },
    #[error("{} belongs to another user: remove it", path.display())]
    NotOurs { path: PathBuf },
}

/// Makes a folder that only its owner may enter.
pub fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Writes a file that only its owner may read.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    prepare_private(path, content)?.put()
}

/// Writes such a file, but not in its place yet.
pub fn prepare_private(path: &Path, content: &[u8]) -> io::Result<Prepared> {
    let folder = path.parent().unwrap_or(Path::new("."));
    private_folder(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let new = folder.join(format!(".{name}.{}.new", std::process::id()));
    let prepared = Prepared { new, path: path.to_owned(), waits: true };
    write_new(&prepared.new, content)?;
    Ok(prepared)
}

/// A file that is on the disk already and only has to be put in its place. It is gone if it is not.
#[derive(Debug)]
pub struct Prepared {
    new: PathBuf,
    path: PathBuf,
    /// It has not been put in its place; the next one to be prepared has the same name.
    waits: bool,
}

impl Prepared {
    pub fn put(mut self) -> io::Result<()> {
        fs::rename(&self.new, &self.path)?;
        self.waits = false;
        Ok(())
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        if self.waits {
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

/// Makes an empty file that only its owner may read, if there is none. One that others can read is
/// closed to them.
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

/// Whether a folder is one that we can write to.
pub fn is_writable_folder(path: &Path) -> bool {
    let trial = path.join(format!(".{}.trial", std::process::id()));
    let written = File::create(&trial).is_ok();
    let _ = fs::remove_file(&trial);
    written
}

/// Whether others can look into a folder of ours.
#[cfg(unix)]
pub fn is_open(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).is_ok_and(|found| found.mode() & 0o077 != 0)
}

/// On Windows the folder is the user's own.
#[cfg(not(unix))]
pub fn is_open(_: &Path) -> bool {
    false
}

/// Closes a folder to others.
#[cfg(unix)]
pub fn close(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

/// On Windows the folder is the user's own.
#[cfg(not(unix))]
pub fn close(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether a file is one that can be run.
pub fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && may_run(&found))
}

#[cfg(unix)]
fn may_run(found: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0
}

/// On Windows the name says so.
#[cfg(not(unix))]
fn may_run(_: &fs::Metadata) -> bool {
    true
}

/// Reads a file that holds a secret, if nobody else can. `None` if there is none.
pub fn read_private(path: &Path) -> Result<Option<Vec<u8>>, Unsafe> {
    let unreadable = |source| Unsafe::Unreadable { path: path.to_owned(), source };
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !found.is_file() {
        return Err(Unsafe::NotPlain { path: path.to_owned() });
    }
    check_owner(path, &found)?;
    let mut content = Vec::new();
    File::open(path).and_then(|mut file| file.read_to_end(&mut content)).map_err(unreadable)?;
    Ok(Some(content))
}

#[cfg(unix)]
fn check_owner(path: &Path, found: &fs::Metadata) -> Result<(), Unsafe> {
    use std::os::unix::fs::MetadataExt as _;
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Err(Unsafe::NotOurs { path: path.to_owned() });
    }
    if found.mode() & 0o077 != 0 {
        return Err(Unsafe::OpenToOthers { path: path.to_owned() });
    }
    Ok(())
}

/// On Windows the folder is the user's own and its files inherit that.
#[cfg(not(unix))]
fn check_owner(_: &Path, _: &fs::Metadata) -> Result<(), Unsafe> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn what_is_written_privately_is_read_back_and_closed_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/secret");
        write_private(&path, b"one").unwrap();
        write_private(&path, b"two").unwrap();
        assert_eq!(read_private(&path).unwrap().unwrap(), b"two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(
            fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "nothing is left behind"
        );
    }

    #[test]
    fn what_is_only_prepared_is_not_in_its_place_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        write_private(&path, b"one").unwrap();
        drop(prepare_private(&path, b"two").unwrap());
        assert_eq!(read_private(&path).unwrap().unwrap(), b"one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        prepare_private(&path, b"three").unwrap().put().unwrap();
        assert_eq!(read_private(&path).unwrap().unwrap(), b"three");
    }

    #[test]
    fn a_file_is_made_closed_to_others_and_keeps_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/file");
        create_private(&path).unwrap();
        fs::write(&path, b"content").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        create_private(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&path).unwrap(), b"content");
    }

    #[test]
    fn a_secret_that_others_can_read_is_refused_with_the_way_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        write_private(&path, b"x").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = read_private(&path).unwrap_err();
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }

    #[test]
    fn a_link_is_refused_and_a_missing_file_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        write_private(&target, b"x").unwrap();
        symlink(&target, &link).unwrap();
        assert!(matches!(read_private(&link), Err(Unsafe::NotPlain { .. })));
        assert!(read_private(&folder.path().join("none")).unwrap().is_none());
    }
}
