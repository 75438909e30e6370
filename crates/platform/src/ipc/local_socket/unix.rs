//! Unix sockets.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

use crate::fs::private;

pub type LocalReader = OwnedReadHalf;
pub type LocalWriter = OwnedWriteHalf;

/// A listening socket. Dropping it removes it, unless another one has replaced it.
#[derive(Debug)]
pub struct LocalListener {
    listener: UnixListener,
    path: PathBuf,
    /// Identifies this socket, in case another one replaced it at its path.
    inode: u64,
}

impl LocalListener {
    /// Listens at `path`, in place of whoever listened there.
    pub fn open(path: &Path) -> io::Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("."));
        private::private_folder(folder)?;
        private::check_private_folder(folder)?;
        let new = path.with_extension("new");
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(&new)?;
        fs::set_permissions(&new, Permissions::from_mode(0o600))?;
        let inode = fs::symlink_metadata(&new)?.ino();
        fs::rename(&new, path)?;
        Ok(Self { listener, path: path.to_owned(), inode })
    }

    /// Accepts the next connection of this user. Cancel safe.
    pub async fn accept(&self) -> io::Result<(LocalReader, LocalWriter)> {
        let (stream, _) = self.listener.accept().await?;
        checked(stream)
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Connects to the listener at `path`.
pub async fn connect(path: &Path) -> io::Result<(LocalReader, LocalWriter)> {
    checked(UnixStream::connect(path).await?)
}

fn checked(stream: UnixStream) -> io::Result<(LocalReader, LocalWriter)> {
    if stream.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(stream.into_split())
}
