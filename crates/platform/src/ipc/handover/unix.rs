//! Handover on Unix: a Unix socket that carries file descriptors.

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

use super::{HEADER, HandoverConnection, HandoverPacket, MAX_ATTACHMENTS, header, read_header};
use crate::fs::lock::InstanceLock;
use crate::ipc::local_socket::LocalListener;

/// The socket on which a running gateway waits for its successor.
#[derive(Debug)]
pub struct HandoverListener {
    listener: UnixListener,
    path: PathBuf,
    /// Identifies this socket, in case another one replaced it at its path.
    inode: u64,
}

#[derive(Debug)]
pub struct HandoverSender(OwnedWriteHalf);

#[derive(Debug)]
pub struct HandoverReceiver(OwnedReadHalf);

/// A received file descriptor: a socket or the lock file.
#[derive(Debug)]
pub(super) struct PacketAttachment(OwnedFd);

/// A file descriptor to send, which stays open here.
pub(super) struct BorrowedAttachment<'a>(BorrowedFd<'a>);

impl HandoverListener {
    /// Binds the socket. An existing one belongs to a gateway that has ended or is ending.
    pub fn open(path: &Path) -> io::Result<Self> {
        let folder = path.parent().unwrap_or(Path::new("."));
        crate::fs::private::private_folder(folder)?;
        crate::fs::private::check_private_folder(folder)?;
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        let inode = fs::symlink_metadata(path)?.ino();
        Ok(Self { listener, path: path.to_owned(), inode })
    }

    /// Accepts the next connection.
    pub async fn next(&mut self) -> io::Result<HandoverConnection> {
        let (stream, _) = self.listener.accept().await?;
        accept(stream)
    }
}

impl Drop for HandoverListener {
    /// Leaves the path alone if the socket of the next gateway is there.
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The process id needs no check: only this user may enter the folder.
pub(super) async fn connect(path: &Path, _: u32) -> io::Result<HandoverConnection> {
    accept(UnixStream::connect(path).await?)
}

fn accept(stream: UnixStream) -> io::Result<HandoverConnection> {
    if stream.peer_cred()?.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let (receiver, sender) = stream.into_split();
    Ok(HandoverConnection { sender: HandoverSender(sender), receiver: HandoverReceiver(receiver) })
}

impl HandoverSender {
    /// Sends a copy of the listening socket.
    pub async fn send_copy(&mut self, payload: &[u8], listener: &impl AsFd) -> io::Result<()> {
        self.send_packet(payload, &[BorrowedAttachment(listener.as_fd())]).await
    }

    /// Sends the listening socket, the lock, and the private socket for shims. They must stay open here
    /// until they are received.
    pub async fn send_place(
        &mut self,
        payload: &[u8],
        listener: &impl AsFd,
        lock: &InstanceLock,
        shim_socket: Option<&LocalListener>,
    ) -> io::Result<()> {
        let (listener, lock) = (listener.as_fd(), lock.file().as_fd());
        let place = [listener, lock].into_iter().chain(shim_socket.map(AsFd::as_fd));
        let place: Vec<_> = place.map(BorrowedAttachment).collect();
        self.send_packet(payload, &place).await
    }

    pub(super) async fn send_packet(
        &mut self,
        payload: &[u8],
        attachments: &[BorrowedAttachment<'_>],
    ) -> io::Result<()> {
        let mut bytes = header(payload, attachments.len())?.to_vec();
        bytes.extend_from_slice(payload);
        let stream = self.0.as_ref();
        let send = || {
            let descriptors: Vec<_> = attachments.iter().map(|attachment| attachment.0).collect();
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_ATTACHMENTS))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if !descriptors.is_empty() {
                control.push(SendAncillaryMessage::ScmRights(&descriptors));
            }
            let sent = sendmsg(stream, &[IoSlice::new(&bytes)], &mut control, flags())?;
            Ok(sent)
        };
        // Attachments travel with the first byte, so only bytes can be left to send.
        let sent = stream.async_io(Interest::WRITABLE, send).await?;
        self.0.write_all(&bytes[sent..]).await
    }
}

/// A closed connection is an error, not a signal.
#[cfg(not(target_vendor = "apple"))]
fn flags() -> SendFlags {
    SendFlags::NOSIGNAL
}

/// Rust's runtime ignores SIGPIPE, and this system has no flag for it.
#[cfg(target_vendor = "apple")]
fn flags() -> SendFlags {
    SendFlags::empty()
}

impl HandoverReceiver {
    /// The next packet; `None` when the other end has closed the connection.
    pub async fn next(&mut self) -> io::Result<Option<HandoverPacket>> {
        let (mut header, mut read, mut attachments) = ([0; HEADER], 0, Vec::new());
        while read < HEADER {
            let stream = self.0.as_ref();
            let count = {
                let receive = || receive(stream, &mut header[read..], &mut attachments);
                stream.async_io(Interest::READABLE, receive).await?
            };
            match count {
                0 if read == 0 => return Ok(None),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => read += count,
            }
        }
        let (length, announced) = read_header(header)?;
        if attachments.len() != announced {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).await?;
        Ok(Some(HandoverPacket { payload, attachments }))
    }
}

fn receive(
    stream: &UnixStream,
    into: &mut [u8],
    attachments: &mut Vec<PacketAttachment>,
) -> io::Result<usize> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_ATTACHMENTS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(stream, &mut [IoSliceMut::new(into)], &mut control, receive_flags())?;
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            for descriptor in descriptors {
                set_close_on_exec(&descriptor)?;
                attachments.push(PacketAttachment(descriptor));
            }
        }
    }
    Ok(received.bytes)
}

/// Child processes must not inherit received descriptors.
#[cfg(not(target_vendor = "apple"))]
fn receive_flags() -> RecvFlags {
    RecvFlags::CMSG_CLOEXEC
}

#[cfg(target_vendor = "apple")]
fn receive_flags() -> RecvFlags {
    RecvFlags::empty()
}

#[cfg(not(target_vendor = "apple"))]
fn set_close_on_exec(_: &OwnedFd) -> io::Result<()> {
    Ok(())
}

/// This system cannot set the flag while it receives.
#[cfg(target_vendor = "apple")]
fn set_close_on_exec(descriptor: &OwnedFd) -> io::Result<()> {
    Ok(rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?)
}

impl PacketAttachment {
    pub(super) fn into_listener(self) -> io::Result<TcpListener> {
        let listener = TcpListener::from(self.0);
        // Fails unless this is an internet socket.
        listener.local_addr()?;
        Ok(listener)
    }

    pub(super) fn into_local_listener(self, path: &Path) -> io::Result<LocalListener> {
        LocalListener::adopt(self.0, path)
    }

    pub(super) fn into_connection(self) -> io::Result<TcpStream> {
        Ok(TcpStream::from(self.0))
    }
}

/// The lock file is an attachment.
pub(super) fn lock(attachment: Option<PacketAttachment>) -> io::Result<InstanceLock> {
    let attachment = attachment.ok_or(io::ErrorKind::InvalidData)?;
    Ok(InstanceLock::from_locked(File::from(attachment.0)))
}

impl<'a> From<&'a TcpStream> for BorrowedAttachment<'a> {
    fn from(connection: &'a TcpStream) -> Self {
        Self(connection.as_fd())
    }
}
