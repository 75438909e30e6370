//! Unix sockets.

use std::fs::{self, Permissions};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

use crate::fs::private;

pub type LocalReader = OwnedReadHalf;
pub type LocalWriter = OwnedWriteHalf;

/// A listening socket. Dropping it removes it, unless another one has replaced it or it belongs to another
/// process.
#[derive(Debug)]
pub struct LocalListener {
    listener: UnixListener,
    path: PathBuf,
    /// Identifies this socket, in case another one replaced it at its path.
    inode: u64,
    /// Whether this process removes it.
    owned: bool,
}

impl LocalListener {
    /// Listens at `path`, in place of an earlier listener.
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
        Ok(Self { listener, path: path.to_owned(), inode, owned: true })
    }

    /// The listener at `path` that another process passed. It stays the other's until [`own`](Self::own).
    pub(crate) fn adopt(listener: OwnedFd, path: &Path) -> io::Result<Self> {
        let listener = std::os::unix::net::UnixListener::from(listener);
        // Fails unless this is a Unix socket.
        listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let inode = fs::symlink_metadata(path)?.ino();
        Ok(Self {
            listener: UnixListener::from_std(listener)?,
            path: path.to_owned(),
            inode,
            owned: false,
        })
    }

    /// From now on this process removes the socket.
    pub fn own(&mut self) {
        self.owned = true;
    }

    /// From now on the process that received the listener removes the socket.
    pub fn disown(&mut self) {
        self.owned = false;
    }

    /// Whether no other listener has replaced it.
    pub fn is_in_place(&self) -> bool {
        fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode)
    }

    /// Accepts the next connection of this user. Cancel safe.
    pub async fn accept(&self) -> io::Result<(LocalReader, LocalWriter)> {
        let (stream, _) = self.listener.accept().await?;
        checked(stream)
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        if self.owned && self.is_in_place() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl AsFd for LocalListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
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
