//! Handover on Windows: a named pipe that carries the descriptions of duplicated sockets.
//!
//! The name of the pipe contains the folder and the process id, so a gateway and its successor never
//! use the same name.

use std::ffi::c_void;
use std::io;
use std::mem::{size_of, zeroed};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::windows::io::{
    AsRawHandle as _, AsRawSocket, BorrowedSocket, FromRawSocket as _, OwnedSocket, RawHandle,
};
use std::path::Path;
use std::ptr::{from_mut, from_ref, null_mut};

use tokio::io::{
    AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadHalf, WriteHalf,
};
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeServer, ServerOptions};
use windows_sys::Win32::Foundation::LocalFree;
use windows_sys::Win32::Networking::WinSock::{
    FROM_PROTOCOL_INFO, INVALID_SOCKET, WSA_FLAG_NO_HANDLE_INHERIT, WSA_FLAG_OVERLAPPED,
    WSADuplicateSocketW, WSAGetLastError, WSAPROTOCOL_INFOW, WSASocketW,
};
use windows_sys::Win32::Security::Authorization::{
    ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::SECURITY_ATTRIBUTES;
use windows_sys::Win32::System::Pipes::{GetNamedPipeClientProcessId, GetNamedPipeServerProcessId};

use super::{HEADER, HandoverConnection, HandoverPacket, header, read_header};
use crate::fs::lock::InstanceLock;

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

pub struct HandoverReceiver(ReadHalf<Box<dyn Pipe>>);

trait Pipe: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<P: AsyncRead + AsyncWrite + Send + Sync + Unpin> Pipe for P {}

/// A received socket.
#[derive(Debug)]
pub(super) struct Attachment(OwnedSocket);

/// A socket to send, which stays open here.
pub(super) struct BorrowedSocketHandle<'a>(BorrowedSocket<'a>);

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

pub(super) async fn connect(stand: &Path, pid: u32) -> io::Result<HandoverConnection> {
    let pipe = ClientOptions::new().open(name(stand, pid))?;
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
        receiver: HandoverReceiver(receiver),
    }
}

/// The name of a process's pipe. The path is hashed because it may contain characters that are not
/// allowed in the name of a pipe.
fn name(path: &Path, pid: u32) -> String {
    let folder = path.to_string_lossy().to_lowercase();
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
    /// Sends the listening socket and releases the lock. The socket stays open here until it is
    /// dropped.
    pub async fn send_listener(
        &mut self,
        payload: &[u8],
        listener: &impl AsRawSocket,
        lock: &InstanceLock,
    ) -> io::Result<()> {
        lock.release()?;
        self.send_copy(payload, listener).await
    }

    /// Sends a copy of the listening socket.
    pub async fn send_copy(
        &mut self,
        payload: &[u8],
        listener: &impl AsRawSocket,
    ) -> io::Result<()> {
        #[expect(unsafe_code, reason = "tokio's listener exposes its socket only as a raw handle")]
        // SAFETY: the socket is open for as long as the listener, which outlives the call.
        let socket = unsafe { BorrowedSocket::borrow_raw(listener.as_raw_socket()) };
        self.send_packet(payload, &[BorrowedSocketHandle(socket)]).await
    }

    pub(super) async fn send_packet(
        &mut self,
        payload: &[u8],
        attachments: &[BorrowedSocketHandle<'_>],
    ) -> io::Result<()> {
        let mut bytes = header(payload, attachments.len())?.to_vec();
        for BorrowedSocketHandle(socket) in attachments {
            bytes.extend_from_slice(&describe(socket, self.peer)?);
        }
        bytes.extend_from_slice(payload);
        self.pipe.write_all(&bytes).await?;
        self.pipe.flush().await
    }
}

impl HandoverReceiver {
    /// The next packet; `None` when the other end has closed the connection.
    pub async fn next(&mut self) -> io::Result<Option<HandoverPacket>> {
        let mut header = [0; HEADER];
        match self.0.read_exact(&mut header).await {
            Ok(_) => {}
            Err(error) if is_end(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        let (length, count) = read_header(header)?;
        let mut attachments = Vec::new();
        for _ in 0..count {
            let mut description = [0; DESCRIPTION];
            self.0.read_exact(&mut description).await?;
            attachments.push(Attachment(open_described(&description)?));
        }
        let mut payload = vec![0; length];
        self.0.read_exact(&mut payload).await?;
        Ok(Some(HandoverPacket { payload, attachments }))
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

impl Attachment {
    pub(super) fn into_listener(self) -> io::Result<TcpListener> {
        let listener = TcpListener::from(self.0);
        listener.local_addr()?;
        Ok(listener)
    }

    pub(super) fn into_connection(self) -> io::Result<TcpStream> {
        Ok(TcpStream::from(self.0))
    }
}

/// The old gateway has released the lock.
pub(super) fn lock(_: Option<Attachment>, path: &Path) -> io::Result<InstanceLock> {
    InstanceLock::take(path)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
}

impl<'a> From<&'a TcpStream> for BorrowedSocketHandle<'a> {
    fn from(connection: &'a TcpStream) -> Self {
        use std::os::windows::io::AsSocket as _;
        Self(connection.as_socket())
    }
}

impl std::fmt::Debug for HandoverSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandoverSender").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for HandoverReceiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandoverReceiver").finish_non_exhaustive()
    }
}
