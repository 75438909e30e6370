//! Passes listening sockets, the instance lock and connections to another process of the same user.
//!
//! # Theory of operation
//! The running gateway listens on a [`HandoverListener`]. Its successor connects to it and both get
//! a [`HandoverConnection`]. A connection carries packets: a payload, and sockets and files that the
//! system duplicates into the other process. A duplicated socket is the same socket: pending connections
//! stay in its queue, and it is open until both processes close it. A duplicated lock is the same lock.
//!
//! On Unix the listener is a socket in a folder that no other user may enter, and the peer must be
//! of the same user. On Windows it is a named pipe that only its owner may open, and the client
//! checks that the process at the other end is the expected one.
//!
//! `unix` and `windows` send and receive the sockets. When that happens is decided in the gateway's
//! `lifecycle/handover` and `lifecycle/takeover`.
//!
//! Depends on [`crate::fs`] for the lock and for private folders, and on [`crate::ipc::local_socket`].

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::Path;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use crate::fs::lock::InstanceLock;
use crate::ipc::local_socket::LocalListener;

pub use system::{HandoverListener, HandoverReceiver, HandoverSender};

/// A connection between two processes.
#[derive(Debug)]
pub struct HandoverConnection {
    pub sender: HandoverSender,
    pub receiver: HandoverReceiver,
}

/// One message, with the sockets that came with it.
#[derive(Debug)]
pub struct HandoverPacket {
    pub payload: Vec<u8>,
    attachments: Vec<system::PacketAttachment>,
}

/// What a gateway needs to take another one's place.
#[derive(Debug)]
pub struct ReceivedPlace {
    pub listener: TcpListener,
    pub lock: InstanceLock,
    /// The private socket for shims, if it was passed.
    pub shim_socket: Option<LocalListener>,
}

/// The maximum length of a payload.
const MAX_PAYLOAD: usize = 8 << 20;
/// A receiver of 0.1.0 accepts two, so a third is only sent to one that asked for it.
const MAX_ATTACHMENTS: usize = 3;
/// The length of a packet header: four bytes for the length of the payload, one for the number of
/// attachments.
const HEADER: usize = 5;

impl HandoverConnection {
    /// Connects to the gateway with this process id.
    pub async fn connect(path: &Path, pid: u32) -> io::Result<Self> {
        system::connect(path, pid).await
    }
}

impl HandoverSender {
    /// Sends a payload.
    pub async fn say(&mut self, payload: &[u8]) -> io::Result<()> {
        self.send_packet(payload, &[]).await
    }

    /// Sends a payload with a connection.
    pub async fn give(&mut self, payload: &[u8], connection: &TcpStream) -> io::Result<()> {
        self.send_packet(payload, &[connection.into()]).await
    }
}

impl HandoverPacket {
    /// The listening socket in this packet.
    pub fn into_copy(self) -> io::Result<TcpListener> {
        let attachment = self.attachments.into_iter().next().ok_or(io::ErrorKind::InvalidData)?;
        attachment.into_listener()
    }

    /// The listening socket, the lock, and the private socket for shims at `shim_socket` in this packet.
    pub fn into_place(self, shim_socket: &Path) -> io::Result<ReceivedPlace> {
        let mut attachments = self.attachments.into_iter();
        let listener = attachments.next().ok_or(io::ErrorKind::InvalidData)?.into_listener()?;
        let lock = system::lock(attachments.next())?;
        let shim_socket = attachments.next().map(|one| one.into_local_listener(shim_socket));
        Ok(ReceivedPlace { listener, lock, shim_socket: shim_socket.transpose()? })
    }

    /// The connection in this packet.
    pub fn into_connection(self) -> io::Result<TcpStream> {
        let attachment = self.attachments.into_iter().next().ok_or(io::ErrorKind::InvalidData)?;
        attachment.into_connection()
    }
}

fn header(payload: &[u8], attachments: usize) -> io::Result<[u8; HEADER]> {
    let too_long = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let [a, b, c, d] = u32::try_from(payload.len()).map_err(too_long)?.to_le_bytes();
    Ok([a, b, c, d, u8::try_from(attachments).map_err(too_long)?])
}

/// The length of the payload and the number of attachments.
fn read_header([a, b, c, d, attachments]: [u8; HEADER]) -> io::Result<(usize, usize)> {
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
    let attachments = usize::from(attachments);
    if length > MAX_PAYLOAD || attachments > MAX_ATTACHMENTS {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((length, attachments))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    /// Both ends of a connection, and the folder of its socket.
    async fn connected() -> (tempfile::TempDir, HandoverConnection, HandoverConnection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/handover");
        let mut listener = HandoverListener::open(&path).unwrap();
        let (here, there) =
            tokio::join!(listener.next(), HandoverConnection::connect(&path, std::process::id()));
        (folder, here.unwrap(), there.unwrap())
    }

    #[tokio::test]
    async fn a_listening_socket_is_passed_on_with_its_pending_connections() {
        let (folder, mut here, mut there) = connected().await;
        let lock_path = folder.path().join("run/lock");
        let lock = InstanceLock::take(&lock_path).unwrap().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(b"early").unwrap();
        let is_free = || InstanceLock::take(&lock_path).unwrap().is_some();
        here.sender.send_place(b"yours", &listener, &lock, None).await.unwrap();
        assert!(!is_free(), "nobody can come in between");
        let packet = there.receiver.next().await.unwrap().unwrap();
        drop((listener, lock));
        assert_eq!(packet.payload, b"yours");
        let ReceivedPlace { listener, lock, shim_socket } = packet.into_place(&lock_path).unwrap();
        assert!(shim_socket.is_none());
        let mut bytes = [0; 5];
        listener.accept().unwrap().0.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"early");
        assert!(!is_free(), "the lock was never free");
        drop(lock);
        assert!(is_free());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_private_socket_is_passed_on_with_the_shims_that_wait_in_it() {
        use crate::ipc::local_socket;
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (folder, mut here, mut there) = connected().await;
        let path = folder.path().join("run/shim.sock");
        let lock = InstanceLock::take(&folder.path().join("run/lock")).unwrap().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut old = LocalListener::open(&path).unwrap();
        let (_reader, mut shim) = local_socket::connect(&path).await.unwrap();
        shim.write_all(b"early").await.unwrap();
        here.sender.send_place(b"yours", &listener, &lock, Some(&old)).await.unwrap();
        let packet = there.receiver.next().await.unwrap().unwrap();
        let mut new = packet.into_place(&path).unwrap().shim_socket.unwrap();
        old.disown();
        drop(old);
        let mut bytes = [0; 5];
        new.accept().await.unwrap().0.read_exact(&mut bytes).await.unwrap();
        assert_eq!(&bytes, b"early");
        assert!(new.is_in_place());
        new.own();
        drop(new);
        assert!(!path.exists(), "the socket is removed by the process that has it now");
    }

    #[tokio::test]
    async fn a_handover_that_fails_leaves_the_lock_where_it_was() {
        let (folder, mut here, there) = connected().await;
        let lock_path = folder.path().join("run/lock");
        let lock = InstanceLock::take(&lock_path).unwrap().unwrap();
        let is_free = || InstanceLock::take(&lock_path).unwrap().is_some();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        here.sender.send_place(b"yours", &listener, &lock, None).await.unwrap();
        drop(there);
        assert!(!is_free());
        drop((here, lock));
        assert!(is_free());
    }

    #[tokio::test]
    async fn connections_and_messages_keep_their_order() {
        let (_folder, mut here, mut there) = connected().await;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut clients = Vec::new();
        for number in 0..20_u8 {
            clients.push(TcpStream::connect(address).unwrap());
            let (connection, _) = listener.accept().unwrap();
            here.sender.say(b"message").await.unwrap();
            here.sender.give(&[number], &connection).await.unwrap();
        }
        for (number, client) in clients.iter_mut().enumerate() {
            assert_eq!(there.receiver.next().await.unwrap().unwrap().payload, b"message");
            let packet = there.receiver.next().await.unwrap().unwrap();
            let payload = packet.payload.clone();
            packet.into_connection().unwrap().write_all(&payload).unwrap();
            let mut bytes = [0];
            client.read_exact(&mut bytes).unwrap();
            assert_eq!(usize::from(bytes[0]), number);
        }
    }

    #[tokio::test]
    async fn a_long_payload_arrives_whole_and_the_end_is_not_an_error() {
        let (_folder, mut here, mut there) = connected().await;
        let long: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let (sent, received) = tokio::join!(here.sender.say(&long), there.receiver.next());
        sent.unwrap();
        assert!(received.unwrap().unwrap().payload == long);
        drop(here);
        assert!(there.receiver.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_packet_with_excessive_lengths_is_rejected() {
        assert!(read_header([0, 0, 0, 0x7f, 0]).is_err());
        assert!(read_header([1, 0, 0, 0, 200]).is_err());
        assert_eq!(read_header(header(b"four", 2).unwrap()).unwrap(), (4, 2));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_socket_is_closed_to_other_users() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/handover");
        let _stand = HandoverListener::open(&path).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_folder_that_other_users_may_enter_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = HandoverListener::open(&open.join("listener")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[cfg(windows)]
    #[tokio::test]
    async fn a_pipe_of_another_process_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/handover");
        let mut listener = HandoverListener::open(&path).unwrap();
        assert!(HandoverConnection::connect(&path, std::process::id() + 1).await.is_err());
        let (here, there) =
            tokio::join!(listener.next(), HandoverConnection::connect(&path, std::process::id()));
        assert!(here.is_ok() && there.is_ok());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_socket_of_a_killed_gateway_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/handover");
        let first = HandoverListener::open(&path).unwrap();
        std::mem::forget(first);
        let mut second = HandoverListener::open(&path).unwrap();
        let (here, there) =
            tokio::join!(second.next(), HandoverConnection::connect(&path, std::process::id()));
        assert!(here.is_ok() && there.is_ok());
        drop(second);
        assert!(!path.exists(), "the socket is removed on drop");
    }
}
