//! A named pipe, over which the description of a duplicated socket is sent.
//!
//! The pipe is named after the folder and the process, so that two gateways of which one takes over
//! from the other never want the same name.

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

use super::{HEAD, Line, Packet, head, read_head};
use crate::fs::lock::InstanceLock;

/// Where the gateway that runs is found.
#[derive(Debug)]
pub struct Stand {
    name: String,
    /// The end that waits for the next one who comes.
    waiting: NamedPipeServer,
}

pub struct Speaking {
    pipe: WriteHalf<Box<dyn Pipe>>,
    /// The process that sockets are duplicated for.
    peer: u32,
}

pub struct Hearing(ReadHalf<Box<dyn Pipe>>);

trait Pipe: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<P: AsyncRead + AsyncWrite + Send + Sync + Unpin> Pipe for P {}

/// What is passed on: a socket.
#[derive(Debug)]
pub(super) struct Thing(OwnedSocket);

/// A socket that is given while it is kept.
pub(super) struct Given<'a>(BorrowedSocket<'a>);

const DESCRIPTION: usize = size_of::<WSAPROTOCOL_INFOW>();

impl Stand {
    /// Opens a stand.
    pub fn open(path: &Path) -> io::Result<Self> {
        let name = name(path, std::process::id());
        let waiting = end(&name, true)?;
        Ok(Self { name, waiting })
    }

    /// The next one who comes.
    pub async fn next(&mut self) -> io::Result<Line> {
        self.waiting.connect().await?;
        let pipe = std::mem::replace(&mut self.waiting, end(&self.name, false)?);
        let peer = process_at(pipe.as_raw_handle(), GetNamedPipeClientProcessId)?;
        Ok(line(pipe, peer))
    }
}

pub(super) async fn connect(stand: &Path, pid: u32) -> io::Result<Line> {
    let pipe = ClientOptions::new().open(name(stand, pid))?;
    // Somebody else may have made a pipe of this name; our process would not be at its end.
    let peer = process_at(pipe.as_raw_handle(), GetNamedPipeServerProcessId)?;
    if peer != pid {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(line(pipe, peer))
}

fn line(pipe: impl Pipe + 'static, peer: u32) -> Line {
    let pipe: Box<dyn Pipe> = Box::new(pipe);
    let (hearing, pipe) = tokio::io::split(pipe);
    Line { speaking: Speaking { pipe, peer }, hearing: Hearing(hearing) }
}

/// The name of the pipe of a process. The folder's name may hold what the name of a pipe may not.
fn name(path: &Path, pid: u32) -> String {
    let folder = path.to_string_lossy().to_lowercase();
    let hash = folder.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!(r"\\.\pipe\evermoor-{hash:016x}-{pid}")
}

/// One end of the pipe, open to its owner on this machine only.
#[expect(unsafe_code, reason = "who may open a pipe is told to the system by pointers")]
fn end(name: &str, first: bool) -> io::Result<NamedPipeServer> {
    let owner_only: Vec<u16> = "D:P(A;;GA;;;OW)\0".encode_utf16().collect();
    let mut descriptor = null_mut();
    // SAFETY: the text ends with a zero, and the result is checked before it is used.
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
    // SAFETY: the system made it, and nobody uses it any more.
    unsafe { LocalFree(descriptor) };
    pipe
}

/// The process at the other end of a pipe.
#[expect(unsafe_code, reason = "the system is asked by a call")]
fn process_at(
    pipe: RawHandle,
    ask: unsafe extern "system" fn(*mut c_void, *mut u32) -> i32,
) -> io::Result<u32> {
    let mut process = 0;
    // SAFETY: the handle is open for the length of the call.
    let told = unsafe { ask(pipe, &raw mut process) };
    if told == 0 { Err(io::Error::last_os_error()) } else { Ok(process) }
}

impl Speaking {
    /// Gives the listening socket away and lets go of the lock. The socket is kept too, until it is
    /// dropped.
    pub async fn give_place(
        &mut self,
        words: &[u8],
        listener: &impl AsRawSocket,
        lock: &InstanceLock,
    ) -> io::Result<()> {
        lock.lend()?;
        #[expect(unsafe_code, reason = "tokio's listener lends its socket only as a number")]
        // SAFETY: the socket is open for as long as the listener, which outlives the call.
        let socket = unsafe { BorrowedSocket::borrow_raw(listener.as_raw_socket()) };
        self.send(words, &[Given(socket)]).await
    }

    pub(super) async fn send(&mut self, words: &[u8], things: &[Given<'_>]) -> io::Result<()> {
        let mut bytes = head(words, things.len())?.to_vec();
        for Given(socket) in things {
            bytes.extend_from_slice(&describe(socket, self.peer)?);
        }
        bytes.extend_from_slice(words);
        self.pipe.write_all(&bytes).await?;
        self.pipe.flush().await
    }
}

impl Hearing {
    /// What is said next; `None` when the other has hung up.
    pub async fn next(&mut self) -> io::Result<Option<Packet>> {
        let mut head = [0; HEAD];
        match self.0.read_exact(&mut head).await {
            Ok(_) => {}
            Err(error) if is_end(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        let (length, count) = read_head(head)?;
        let mut things = Vec::new();
        for _ in 0..count {
            let mut description = [0; DESCRIPTION];
            self.0.read_exact(&mut description).await?;
            things.push(Thing(made_of(&description)?));
        }
        let mut words = vec![0; length];
        self.0.read_exact(&mut words).await?;
        Ok(Some(Packet { words, things }))
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe)
}

/// What another process needs to have the same socket.
#[expect(unsafe_code, reason = "a socket is duplicated by a call into the system")]
fn describe(socket: &BorrowedSocket<'_>, process: u32) -> io::Result<[u8; DESCRIPTION]> {
    // SAFETY: numbers and bytes may all be zero.
    let mut description: WSAPROTOCOL_INFOW = unsafe { zeroed() };
    let raw = usize::try_from(socket.as_raw_socket()).unwrap_or(INVALID_SOCKET);
    // SAFETY: the socket is open, and the description has the size that the system expects.
    let failed = unsafe { WSADuplicateSocketW(raw, process, &raw mut description) };
    if failed != 0 {
        return Err(last_error());
    }
    let mut bytes = [0; DESCRIPTION];
    // SAFETY: it has this size and consists of numbers.
    bytes.copy_from_slice(unsafe {
        std::slice::from_raw_parts(from_ref(&description).cast::<u8>(), DESCRIPTION)
    });
    Ok(bytes)
}

/// The socket that was described to this process.
#[expect(unsafe_code, reason = "a socket is made by a call into the system")]
fn made_of(bytes: &[u8; DESCRIPTION]) -> io::Result<OwnedSocket> {
    // The first socket that the standard library makes wakes the system's network.
    drop(UdpSocket::bind("127.0.0.1:0"));
    // SAFETY: numbers and bytes may all be zero, and as many bytes are copied as there are.
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
    // SAFETY: it was just made and nobody else owns it.
    Ok(unsafe { OwnedSocket::from_raw_socket(socket as _) })
}

#[expect(unsafe_code, reason = "the system is asked by a call")]
fn last_error() -> io::Error {
    // SAFETY: it reads a number of this thread.
    io::Error::from_raw_os_error(unsafe { WSAGetLastError() })
}

impl Thing {
    pub(super) fn into_listener(self) -> io::Result<TcpListener> {
        let listener = TcpListener::from(self.0);
        listener.local_addr()?;
        Ok(listener)
    }

    pub(super) fn into_connection(self) -> io::Result<TcpStream> {
        Ok(TcpStream::from(self.0))
    }
}

/// The lock was let go of.
pub(super) fn lock(_: Option<Thing>, path: &Path) -> io::Result<InstanceLock> {
    InstanceLock::take(path)?.ok_or_else(|| io::ErrorKind::WouldBlock.into())
}

impl<'a> From<&'a TcpStream> for Given<'a> {
    fn from(connection: &'a TcpStream) -> Self {
        use std::os::windows::io::AsSocket as _;
        Self(connection.as_socket())
    }
}

impl std::fmt::Debug for Speaking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Speaking").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Hearing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hearing").finish_non_exhaustive()
    }
}
