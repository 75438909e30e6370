//! Giving a listening socket, a lock and connections to another process of the same user.
//!
//! # Theory of operation
//! The gateway that runs keeps a [`Stand`], where another one finds it and gets a [`Line`]. Over the
//! line go packets: words, and with them sockets, which the system itself makes the other's too. A
//! socket that was given is the same socket: what waits in it waits for whoever looks next, and it
//! is open for as long as one of the two has it open. On Unix the stand is a socket in a folder that
//! nobody else may enter, and who comes must be of the same user. On Windows it is a named pipe that
//! only its owner may open, and who asks makes sure that the process at its other end is the one
//! that it expects.

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

pub use system::{Hearing, Speaking, Stand};

/// Both ends of what is said between two processes.
#[derive(Debug)]
pub struct Line {
    pub speaking: Speaking,
    pub hearing: Hearing,
}

/// What was said at once.
#[derive(Debug)]
pub struct Packet {
    pub words: Vec<u8>,
    things: Vec<system::Thing>,
}

/// More than this is said at once by nobody who means well.
const LONGEST: usize = 8 << 20;
const MOST_THINGS: usize = 2;
/// How many bytes say how long the words are, and how many things come along.
const HEAD: usize = 5;

impl Line {
    /// Finds the process `pid` at its stand.
    pub async fn to(stand: &Path, pid: u32) -> io::Result<Self> {
        system::connect(stand, pid).await
    }
}

impl Speaking {
    /// Says something.
    pub async fn say(&mut self, words: &[u8]) -> io::Result<()> {
        self.send(words, &[]).await
    }

    /// Gives a connection away, and says something about it.
    pub async fn give(&mut self, words: &[u8], connection: &TcpStream) -> io::Result<()> {
        self.send(words, &[connection.into()]).await
    }
}

impl Packet {
    /// The listening socket and the lock that came along. `path` is where the lock lies.
    pub fn into_place(self, path: &Path) -> io::Result<(TcpListener, InstanceLock)> {
        let mut things = self.things.into_iter();
        let listener = things.next().ok_or(io::ErrorKind::InvalidData)?;
        Ok((listener.into_listener()?, system::lock(things.next(), path)?))
    }

    /// The connection that came along.
    pub fn into_connection(self) -> io::Result<TcpStream> {
        let thing = self.things.into_iter().next().ok_or(io::ErrorKind::InvalidData)?;
        thing.into_connection()
    }
}

fn head(words: &[u8], things: usize) -> io::Result<[u8; HEAD]> {
    let too_much = |_| io::Error::from(io::ErrorKind::InvalidInput);
    let [a, b, c, d] = u32::try_from(words.len()).map_err(too_much)?.to_le_bytes();
    Ok([a, b, c, d, u8::try_from(things).map_err(too_much)?])
}

/// How long the words are, and how many things come along.
fn read_head([a, b, c, d, things]: [u8; HEAD]) -> io::Result<(usize, usize)> {
    let length = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
    let things = usize::from(things);
    if length > LONGEST || things > MOST_THINGS {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok((length, things))
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::PermissionsExt as _;

    /// A stand in a folder of its own, and both ends of a line to it.
    async fn meeting() -> (tempfile::TempDir, Line, Line) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/stand");
        let mut stand = Stand::open(&path).unwrap();
        let (here, there) = tokio::join!(stand.next(), Line::to(&path, std::process::id()));
        (folder, here.unwrap(), there.unwrap())
    }

    #[tokio::test]
    async fn a_listening_socket_goes_over_with_the_connections_that_wait_in_it() {
        let (folder, mut here, mut there) = meeting().await;
        let lock_path = folder.path().join("run/lock");
        let lock = InstanceLock::take(&lock_path).unwrap().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(b"early").unwrap();
        here.speaking.give_place(b"yours", &listener, &lock).await.unwrap();
        drop((listener, lock));
        let packet = there.hearing.next().await.unwrap().unwrap();
        assert_eq!(packet.words, b"yours");
        let (listener, lock) = packet.into_place(&lock_path).unwrap();
        let mut said = [0; 5];
        listener.accept().unwrap().0.read_exact(&mut said).unwrap();
        assert_eq!(&said, b"early");
        assert!(InstanceLock::take(&lock_path).unwrap().is_none(), "it was never free");
        drop(lock);
        assert!(InstanceLock::take(&lock_path).unwrap().is_some());
    }

    #[tokio::test]
    async fn connections_and_words_keep_their_order() {
        let (_folder, mut here, mut there) = meeting().await;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut clients = Vec::new();
        for number in 0..20_u8 {
            clients.push(TcpStream::connect(address).unwrap());
            let (connection, _) = listener.accept().unwrap();
            here.speaking.say(b"a word in between").await.unwrap();
            here.speaking.give(&[number], &connection).await.unwrap();
        }
        for (number, client) in clients.iter_mut().enumerate() {
            assert_eq!(there.hearing.next().await.unwrap().unwrap().words, b"a word in between");
            let packet = there.hearing.next().await.unwrap().unwrap();
            let words = packet.words.clone();
            packet.into_connection().unwrap().write_all(&words).unwrap();
            let mut said = [0];
            client.read_exact(&mut said).unwrap();
            assert_eq!(usize::from(said[0]), number);
        }
    }

    #[tokio::test]
    async fn long_words_arrive_whole_and_the_end_is_no_error() {
        let (_folder, mut here, mut there) = meeting().await;
        let long: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        let (said, heard) = tokio::join!(here.speaking.say(&long), there.hearing.next());
        said.unwrap();
        assert!(heard.unwrap().unwrap().words == long);
        drop(here);
        assert!(there.hearing.next().await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_packet_that_claims_too_much_is_not_waited_for() {
        assert!(read_head([0, 0, 0, 0x7f, 0]).is_err());
        assert!(read_head([1, 0, 0, 0, 200]).is_err());
        assert_eq!(read_head(head(b"four", 2).unwrap()).unwrap(), (4, 2));
    }

    #[tokio::test]
    async fn nobody_else_may_come_near_a_stand() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/stand");
        let _stand = Stand::open(&path).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[tokio::test]
    async fn there_is_no_stand_in_a_folder_that_others_may_enter() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
        let error = Stand::open(&open.join("stand")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[tokio::test]
    async fn a_stand_that_a_killed_gateway_left_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/stand");
        let first = Stand::open(&path).unwrap();
        std::mem::forget(first);
        let mut second = Stand::open(&path).unwrap();
        let (here, there) = tokio::join!(second.next(), Line::to(&path, std::process::id()));
        assert!(here.is_ok() && there.is_ok());
        drop(second);
        assert!(!path.exists(), "what is closed leaves nothing");
    }
}
