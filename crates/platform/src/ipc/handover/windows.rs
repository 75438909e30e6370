//! Handover on Windows: a named pipe that carries the descriptions of duplicated sockets, and the number
//! of the lock file's handle, which the receiver duplicates out of the sender's process.
//!
//! The name of the pipe contains the folder and the process id, so a gateway and its successor never
//! use the same name.

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::mem::{size_of, zeroed};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::windows::io::{
    AsHandle as _, AsRawHandle as _, AsRawSocket, BorrowedHandle, BorrowedSocket,
    FromRawHandle as _, FromRawSocket as _, OwnedHandle, OwnedSocket, RawHandle,
};
use std::path::Path;
use std::ptr::{from_mut, from_ref, null_mut};

use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf,
};
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeServer, ServerOptions};
use windows_sys::Win32::Foundation::{DUPLICATE_SAME_ACCESS, DuplicateHandle, LocalFree};
use windows_sys::Win32::Networking::WinSock::{
    FROM_PROTOCOL_INFO, INVALID_SOCKET, WSA_FLAG_NO_HANDLE_INHERIT, WSA_FLAG_OVERLAPPED,
    WSADuplicateSocketW, WSAGetLastError, WSAPROTOCOL_INFOW, WSASocketW,
};
use windows_sys::Win32::Security::Authorization::{
    ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::SECURITY_ATTRIBUTES;
use windows_sys::Win32::System::Pipes::{GetNamedPipeClientProcessId, GetNamedPipeServerProcessId};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcess, PROCESS_DUP_HANDLE};

use super::{HEADER, HandoverConnection, HandoverPacket, header, read_header};
use crate::fs::lock::InstanceLock;
use crate::ipc::local_socket::LocalListener;

/// The socket on which a running gateway waits for its successor.
#[derive(Debug)]
pub struct HandoverListener {
    name: String,
    /// The instance that waits for the next connection.
    waiting: NamedPipeServer,
}

pub struct HandoverSender {
    pipe: WriteHalf<Box<dyn Pipe>>,
    /// The process that sockets are duplicated into.
    peer: u32,
}

pub struct HandoverReceiver {
    pipe: ReadHalf<Box<dyn Pipe>>,
    /// The process that files are duplicated out of.
    peer: u32,
}

trait Pipe: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<P: AsyncRead + AsyncWrite + Send + Sync + Unpin> Pipe for P {}

/// A received socket or file.
#[derive(Debug)]
pub(super) enum PacketAttachment {
    Socket(OwnedSocket),
    File(OwnedHandle),
}

/// A socket or file to send, which stays open here.
pub(super) enum BorrowedAttachment<'a> {
    Socket(BorrowedSocket<'a>),
    File(BorrowedHandle<'a>),
}

/// The first byte of an attachment.
const SOCKET: u8 = 1;
const FILE: u8 = 2;
/// The length of a socket's description.
const DESCRIPTION: usize = size_of::<WSAPROTOCOL_INFOW>();

impl HandoverListener {
    /// Creates the pipe.
    pub fn open(path: &Path) -> io::Result<Self> {
        let name = name(path, std::process::id());
        let waiting = end(&name, true)?;
        Ok(Self { name, waiting })
    }

    /// Accepts the next connection.
    pub async fn next(&mut self) -> io::Result<HandoverConnection> {
        self.waiting.connect().await?;
        let pipe = std::mem::replace(&mut self.waiting, end(&self.name, false)?);
        let peer = process_at(pipe.as_raw_handle(), GetNamedPipeClientProcessId)?;
        Ok(line(pipe, peer))
    }
}

pub(super) async fn connect(path: &Path, pid: u32) -> io::Result<HandoverConnection> {
    let pipe = ClientOptions::new().open(name(path, pid))?;
    // Another process may have created a pipe with this name.
    let peer = process_at(pipe.as_raw_handle(), GetNamedPipeServerProcessId)?;
    if peer != pid {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(line(pipe, peer))
}

fn line(pipe: impl Pipe + 'static, peer: u32) -> HandoverConnection {
    let pipe: Box<dyn Pipe> = Box::new(pipe);
    let (receiver, pipe) = tokio::io::split(pipe);
    HandoverConnection {
        sender: HandoverSender { pipe, peer },
        receiver: HandoverReceiver { pipe: receiver, peer },
    }
}

/// The name of a process's pipe. The path is hashed because it may contain characters that are not
/// allowed in the name of a pipe. Two spellings of a path have the same name.
fn name(path: &Path, pid: u32) -> String {
    let parts = path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase());
    let folder = parts.collect::<Vec<_>>().join("\\");
    let hash = folder.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!(r"\\.\pipe\evermoor-{hash:016x}-{pid}")
}

/// One instance of the pipe, open only to its owner on this machine.
#[expect(unsafe_code, reason = "the security descriptor is passed by pointer")]
fn end(name: &str, first: bool) -> io::Result<NamedPipeServer> {
    let owner_only: Vec<u16> = "D:P(A;;GA;;;OW)\0".encode_utf16().collect();
    let mut descriptor = null_mut();
    // SAFETY: the text is zero-terminated, and the result is checked before it is used.
    let made = unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            owner_only.as_ptr(),
            SDDL_REVISION_1,
            &raw mut descriptor,
            null_mut(),
        )
    };
    if made == 0 {
        return Err(io::Error::last_os_error());
    }
    let mut attributes = SECURITY_ATTRIBUTES {
        nLength: u32::try_from(size_of::<SECURITY_ATTRIBUTES>()).unwrap_or(u32::MAX),
        lpSecurityDescriptor: descriptor,
        bInheritHandle: 0,
    };
    let mut options = ServerOptions::new();
    options.first_pipe_instance(first).reject_remote_clients(true);
    let attributes = from_mut(&mut attributes).cast::<c_void>();
    // SAFETY: the attributes and what they point to live until after the call.
    let pipe = unsafe { options.create_with_security_attributes_raw(name, attributes) };
    // SAFETY: the system allocated it, and nothing uses it any more.
    unsafe { LocalFree(descriptor) };
    pipe
}

/// The process at the other end of a pipe.
#[expect(unsafe_code, reason = "calls the Win32 API")]
fn process_at(
    pipe: RawHandle,
    ask: unsafe extern "system" fn(*mut c_void, *mut u32) -> i32,
) -> io::Result<u32> {
    let mut process = 0;
    // SAFETY: the handle is open for the length of the call.
    let ok = unsafe { ask(pipe, &raw mut process) };
    if ok == 0 { Err(io::Error::last_os_error()) } else { Ok(process) }
}

impl HandoverSender {
    /// Sends the listening socket and the lock. They must stay open here until they are received. There is
    /// no private socket on this system.
    pub async fn send_place(
        &mut self,
        payload: &[u8],
        listener: &impl AsRawSocket,
        lock: &InstanceLock,
        _: Option<&LocalListener>,
    ) -> io::Result<()> {
        let lock = BorrowedAttachment::File(lock.file().as_handle());
        self.send_packet(payload, &[socket_of(listener), lock]).await
    }

    /// Sends a copy of the listening socket.
    pub async fn send_copy(
        &mut self,
        payload: &[u8],
        listener: &impl AsRawSocket,
    ) -> io::Result<()> {
        self.send_packet(payload, &[socket_of(listener)]).await
    }

    pub(super) async fn send_packet(
        &mut self,
        payload: &[u8],
        attachments: &[BorrowedAttachment<'_>],
    ) -> io::Result<()> {
        let mut bytes = header(payload, attachments.len())?.to_vec();
        for attachment in attachments {
            match attachment {
                BorrowedAttachment::Socket(socket) => {
                    bytes.push(SOCKET);
                    bytes.extend_from_slice(&describe(socket, self.peer)?);
                }
                BorrowedAttachment::File(file) => {
                    bytes.push(FILE);
                    let number = u64::try_from(file.as_raw_handle().addr()).unwrap_or_default();
                    bytes.extend_from_slice(&number.to_le_bytes());
                }
            }
        }
        bytes.extend_from_slice(payload);
        self.pipe.write_all(&bytes).await?;
        self.pipe.flush().await
    }
}

#[expect(unsafe_code, reason = "tokio's listener exposes its socket only as a raw handle")]
fn socket_of(listener: &impl AsRawSocket) -> BorrowedAttachment<'_> {
    // SAFETY: the socket is open for as long as the listener, which is borrowed.
    BorrowedAttachment::Socket(unsafe { BorrowedSocket::borrow_raw(listener.as_raw_socket()) })
}

impl HandoverReceiver {
    /// The next packet; `None` when the other end has closed the connection.
    pub async fn next(&mut self) -> io::Result<Option<HandoverPacket>> {
        let mut header = [0; HEADER];
        match self.pipe.read_exact(&mut header).await {
            Ok(_) => {}
            Err(error) if is_end(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        let (length, count) = read_header(header)?;
        let mut attachments = Vec::new();
        for _ in 0..count {
            attachments.push(self.attachment().await?);
        }
        let mut payload = vec![0; length];
        self.pipe.read_exact(&mut payload).await?;
        Ok(Some(HandoverPacket { payload, attachments }))
    }

    async fn attachment(&mut self) -> io::Result<PacketAttachment> {
        match self.pipe.read_u8().await? {
            SOCKET => {
                let mut description = [0; DESCRIPTION];
                self.pipe.read_exact(&mut description).await?;
                Ok(PacketAttachment::Socket(open_described(&description)?))
            }
            FILE => {
                let number = self.pipe.read_u64_le().await?;
                Ok(PacketAttachment::File(duplicate_out_of(self.peer, number)?))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// Duplicates a file of another process into this one.
#[expect(unsafe_code, reason = "calls the Win32 API")]
fn duplicate_out_of(process: u32, number: u64) -> io::Result<OwnedHandle> {
    let number = usize::try_from(number).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: the result is checked before it is used.
    let process = unsafe { OpenProcess(PROCESS_DUP_HANDLE, 0, process) };
    if process.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is open and has no other owner.
    let process = unsafe { OwnedHandle::from_raw_handle(process) };
    let (theirs, mut ours) = (std::ptr::without_provenance_mut(number), null_mut());
    // SAFETY: the number is looked up in the other process only, and the result is checked.
    unsafe {
        let (from, into) = (process.as_raw_handle(), GetCurrentProcess());
        match DuplicateHandle(from, theirs, into, &raw mut ours, 0, 0, DUPLICATE_SAME_ACCESS) {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(OwnedHandle::from_raw_handle(ours)),
        }
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe)
}

/// The description that another process needs to open the same socket.
#[expect(unsafe_code, reason = "calls the Winsock API")]
fn describe(socket: &BorrowedSocket<'_>, process: u32) -> io::Result<[u8; DESCRIPTION]> {
    // SAFETY: all zeros is a valid value of this struct.
    let mut description: WSAPROTOCOL_INFOW = unsafe { zeroed() };
    let raw = usize::try_from(socket.as_raw_socket()).unwrap_or(INVALID_SOCKET);
    // SAFETY: the socket is open, and the description has the size that the system expects.
    let failed = unsafe { WSADuplicateSocketW(raw, process, &raw mut description) };
    if failed != 0 {
        return Err(last_error());
    }
    let mut bytes = [0; DESCRIPTION];
    // SAFETY: the struct has this size and no padding that matters.
    bytes.copy_from_slice(unsafe {
        std::slice::from_raw_parts(from_ref(&description).cast::<u8>(), DESCRIPTION)
    });
    Ok(bytes)
}

/// Opens the socket that was described to this process.
#[expect(unsafe_code, reason = "calls the Winsock API")]
fn open_described(bytes: &[u8; DESCRIPTION]) -> io::Result<OwnedSocket> {
    // The first socket that the standard library opens initializes Winsock.
    drop(UdpSocket::bind("127.0.0.1:0"));
    // SAFETY: all zeros is a valid value of this struct, and the copy has its size.
    let description = unsafe {
        let mut description: WSAPROTOCOL_INFOW = zeroed();
        let place = from_mut(&mut description).cast::<u8>();
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, DESCRIPTION);
        description
    };
    let flags = WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT;
    // SAFETY: the description lives for the length of the call; the result is checked.
    let socket = unsafe {
        WSASocketW(
            FROM_PROTOCOL_INFO,
            FROM_PROTOCOL_INFO,
            FROM_PROTOCOL_INFO,
            &raw const description,
            0,
            flags,
        )
    };
    if socket == INVALID_SOCKET {
        return Err(last_error());
    }
    // SAFETY: it was just opened and has no other owner.
    Ok(unsafe { OwnedSocket::from_raw_socket(socket as _) })
}

#[expect(unsafe_code, reason = "calls the Win32 API")]
fn last_error() -> io::Error {
    // SAFETY: it reads a value of this thread.
    io::Error::from_raw_os_error(unsafe { WSAGetLastError() })
}

impl PacketAttachment {
    pub(super) fn into_listener(self) -> io::Result<TcpListener> {
        let listener = TcpListener::from(self.into_socket()?);
        listener.local_addr()?;
        Ok(listener)
    }

    pub(super) fn into_local_listener(self, _: &Path) -> io::Result<LocalListener> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn into_connection(self) -> io::Result<TcpStream> {
        Ok(TcpStream::from(self.into_socket()?))
    }

    fn into_socket(self) -> io::Result<OwnedSocket> {
        match self {
            Self::Socket(socket) => Ok(socket),
            Self::File(_) => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

/// The lock file is an attachment.
pub(super) fn lock(attachment: Option<PacketAttachment>) -> io::Result<InstanceLock> {
    match attachment {
        Some(PacketAttachment::File(file)) => Ok(InstanceLock::from_locked(File::from(file))),
        Some(PacketAttachment::Socket(_)) | None => Err(io::ErrorKind::InvalidData.into()),
    }
}

impl<'a> From<&'a TcpStream> for BorrowedAttachment<'a> {
    fn from(connection: &'a TcpStream) -> Self {
        use std::os::windows::io::AsSocket as _;
        Self::Socket(connection.as_socket())
    }
}

impl std::fmt::Debug for HandoverSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandoverSender").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for HandoverReceiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandoverReceiver").field("peer", &self.peer).finish_non_exhaustive()
    }
}
