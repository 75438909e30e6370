//! A socket that only processes of the same user can connect to.
//!
//! On Unix it is a socket in a folder that no other user may enter, and both ends check that the
//! other belongs to the same user. A gateway that takes over receives the listener itself
//! ([`crate::ipc::handover`]), with the connections that wait in it. If its predecessor cannot pass it, a new
//! listener replaces the other one at its path in one step, so that every attempt to connect reaches one of
//! the two.
//!
//! On Windows there is none yet: opening and connecting fail, and the shim uses HTTP.
//!
//! Depends on [`crate::fs`] for private folders.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::{LocalListener, LocalReader, LocalWriter, connect};

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::Path;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[tokio::test]
    async fn the_socket_is_closed_to_other_users() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/shim.sock");
        let _listener = LocalListener::open(&path).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        let open = folder.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
        let refused = LocalListener::open(&open.join("shim.sock")).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
    }

    #[tokio::test]
    async fn a_second_listener_takes_the_place_of_the_first_and_loses_no_connection() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/shim.sock");
        let first = LocalListener::open(&path).unwrap();
        let (_reader, mut early) = connect(&path).await.unwrap();
        early.write_all(b"early").await.unwrap();
        let second = LocalListener::open(&path).unwrap();
        let (_reader, mut late) = connect(&path).await.unwrap();
        late.write_all(b"later").await.unwrap();
        for (listener, wanted) in [(&first, b"early"), (&second, b"later")] {
            let mut bytes = [0; 5];
            listener.accept().await.unwrap().0.read_exact(&mut bytes).await.unwrap();
            assert_eq!(&bytes, wanted);
        }
        drop(first);
        assert!(path.exists(), "the path belongs to the second listener");
        assert!(second.is_in_place());
        drop(second);
        assert!(!path.exists(), "the socket is removed on drop");
    }

    #[tokio::test]
    async fn a_listener_that_belongs_to_another_process_stays_in_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/shim.sock");
        let mut given = LocalListener::open(&path).unwrap();
        given.disown();
        drop(given);
        assert!(path.exists(), "the socket belongs to whoever received it");
        let replaced = LocalListener::open(&path).unwrap();
        let _other = LocalListener::open(&path).unwrap();
        assert!(!replaced.is_in_place());
    }
}
