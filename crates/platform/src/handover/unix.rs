//! A Unix socket, over which the system passes file descriptors on.

use std::fs::{self, File, Permissions};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, Interest};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

use super::{HEAD, Line, MOST_THINGS, Packet, head, read_head};
use crate::fs::lock::InstanceLock;

/// Where the gateway that runs is found.
#[derive(Debug)]
pub struct Stand {
    listener: UnixListener,
    path: PathBuf,
    /// What tells our socket from one that somebody put in its place since.
    inode: u64,
}

#[derive(Debug)]
pub struct Speaking(OwnedWriteHalf);

#[derive(Debug)]
pub struct Hearing(OwnedReadHalf);

/// What is passed on: a file, which may be a socket.
#[derive(Debug)]
pub(super) struct Thing(OwnedFd);

/// A thing that is given while it is kept.
pub(super) struct Given<'a>(BorrowedFd<'a>);

impl Stand {
    /// Opens a stand. What lies in its place was left by a gateway that is gone, or goes.
    pub fn open(path: &Path) -> io::Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("."));
        crate::fs::private::private_folder(folder)?;
        check_folder(folder)?;
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        let inode = fs::symlink_metadata(path)?.ino();
        Ok(Self { listener, path: path.to_owned(), inode })
    }

    /// The next one who comes.
    pub async fn next(&mut self) -> io::Result<Line> {
        let (stream, _) = self.listener.accept().await?;
        line(stream)
    }
}

impl Drop for Stand {
    /// The next gateway has a stand in the same place; that one is not ours to remove.
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The process at the other end is not asked who it is: whoever may enter the folder is us.
pub(super) async fn connect(stand: &Path, _: u32) -> io::Result<Line> {
    line(UnixStream::connect(stand).await?)
}

fn line(stream: UnixStream) -> io::Result<Line> {
    if stream.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let (hearing, speaking) = stream.into_split();
    Ok(Line { speaking: Speaking(speaking), hearing: Hearing(hearing) })
}

/// A folder of our own, and no link to one, that nobody else may enter.
fn check_folder(folder: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(folder)?;
    let ours = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
    if ours && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    let why = format!("{} can be entered by others", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

impl Speaking {
    /// Gives the listening socket and the lock away. They are kept too, until they are dropped.
    pub async fn give_place(
        &mut self,
        words: &[u8],
        listener: &impl AsFd,
        lock: &InstanceLock,
    ) -> io::Result<()> {
        self.send(words, &[Given(listener.as_fd()), Given(lock.file().as_fd())]).await
    }

    pub(super) async fn send(&mut self, words: &[u8], things: &[Given<'_>]) -> io::Result<()> {
        let mut bytes = head(words, things.len())?.to_vec();
        bytes.extend_from_slice(words);
        let stream = self.0.as_ref();
        let send = || {
            let descriptors: Vec<_> = things.iter().map(|thing| thing.0).collect();
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_THINGS))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if !descriptors.is_empty() {
                control.push(SendAncillaryMessage::ScmRights(&descriptors));
            }
            let sent = sendmsg(stream, &[IoSlice::new(&bytes)], &mut control, flags())?;
            Ok(sent)
        };
        // Things travel with the first byte, so only the rest of the words can be left over.
        let sent = stream.async_io(Interest::WRITABLE, send).await?;
        self.0.write_all(&bytes[sent..]).await
    }
}

/// Whoever hung up is an error, and no signal.
#[cfg(not(target_vendor = "apple"))]
fn flags() -> SendFlags {
    SendFlags::NOSIGNAL
}

/// Rust's runtime ignores the signal by which this system tells of whoever hung up.
#[cfg(target_vendor = "apple")]
fn flags() -> SendFlags {
    SendFlags::empty()
}

impl Hearing {
    /// What is said next; `None` when the other has hung up.
    pub async fn next(&mut self) -> io::Result<Option<Packet>> {
        let (mut head, mut read, mut things) = ([0; HEAD], 0, Vec::new());
        while read < HEAD {
            let stream = self.0.as_ref();
            let count = {
                let receive = || receive(stream, &mut head[read..], &mut things);
                stream.async_io(Interest::READABLE, receive).await?
            };
            match count {
                0 if read == 0 => return Ok(None),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => read += count,
            }
        }
        let (length, announced) = read_head(head)?;
        if things.len() != announced {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut words = vec![0; length];
        self.0.read_exact(&mut words).await?;
        Ok(Some(Packet { words, things }))
    }
}

fn receive(stream: &UnixStream, into: &mut [u8], things: &mut Vec<Thing>) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_THINGS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(stream, &mut [IoSliceMut::new(into)], &mut control, receive_flags())?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            for descriptor in descriptors {
                keep_from_children(&descriptor)?;
                things.push(Thing(descriptor));
            }
        }
    }
    Ok(received.bytes)
}

/// No program that we start gets what we were given.
#[cfg(not(target_vendor = "apple"))]
fn receive_flags() -> RecvFlags {
    RecvFlags::CMSG_CLOEXEC
}

#[cfg(target_vendor = "apple")]
fn receive_flags() -> RecvFlags {
    RecvFlags::empty()
}

#[cfg(not(target_vendor = "apple"))]
fn keep_from_children(_: &OwnedFd) -> io::Result<()> {
    Ok(())
}

/// This system cannot say so while it passes things on.
#[cfg(target_vendor = "apple")]
fn keep_from_children(descriptor: &OwnedFd) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?)
}

impl Thing {
    pub(super) fn into_listener(self) -> io::Result<TcpListener> {
        let listener = TcpListener::from(self.0);
        // What is not a socket of this kind has no such address.
        listener.local_addr()?;
        Ok(listener)
    }

    pub(super) fn into_connection(self) -> io::Result<TcpStream> {
        Ok(TcpStream::from(self.0))
    }
}

/// The lock came along.
pub(super) fn lock(thing: Option<Thing>, _: &Path) -> io::Result<InstanceLock> {
    let thing = thing.ok_or(io::ErrorKind::InvalidData)?;
    Ok(InstanceLock::given(File::from(thing.0)))
}

impl<'a> From<&'a TcpStream> for Given<'a> {
    fn from(connection: &'a TcpStream) -> Self {
        Self(connection.as_fd())
    }
}
