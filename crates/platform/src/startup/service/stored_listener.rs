//! The listening socket of the service, which the service manager keeps open while the gateway restarts.
//!
//! launchd opens the socket itself, as the property list says (`Sockets` in launchd.plist(5)), and passes it
//! to each gateway that it starts. It closes it when the service is unloaded. A systemd service can give systemd
//! copies of descriptors, and gets them back at its next start (`FDSTORE=1` in sd_notify(3), `LISTEN_FDS` in
//! sd_listen_fds(3)). When the service is stopped on purpose, systemd closes them. Windows has nothing like it.

use std::io;
use std::net::TcpListener;

#[cfg(target_os = "linux")]
pub use linux::{store, take};
#[cfg(target_os = "macos")]
pub use macos::{store, take};
#[cfg(windows)]
pub use other::{store, take};

/// Closes the connections that wait for a gateway, because none can start. Returns how many there were.
pub fn close_waiting(listener: &TcpListener) -> io::Result<usize> {
    listener.set_nonblocking(true)?;
    let mut closed = 0;
    loop {
        match listener.accept() {
            Ok(_) => closed += 1,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(closed),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(target_os = "macos")]
mod macos {
    use std::ffi::{c_char, c_int};
    use std::net::TcpListener;
    use std::os::fd::{FromRawFd as _, OwnedFd};

    use crate::startup::service::unit::SOCKET;

    #[expect(
        unsafe_code,
        reason = "declares a function of the C library that `libc` does not have"
    )]
    unsafe extern "C" {
        fn launch_activate_socket(
            name: *const c_char,
            descriptors: *mut *mut c_int,
            count: *mut usize,
        ) -> c_int;
    }

    /// The socket that launchd opened. Only the first call returns it.
    pub fn take() -> Option<TcpListener> {
        let (mut descriptors, mut count) = (std::ptr::null_mut::<c_int>(), 0_usize);
        #[expect(unsafe_code, reason = "calls launchd's function")]
        // SAFETY: the pointers are valid. On success the result is an array of `count` descriptors that
        // belong to this process, which `free` releases.
        let sockets: Vec<OwnedFd> = unsafe {
            let status =
                launch_activate_socket(SOCKET.as_ptr(), &raw mut descriptors, &raw mut count);
            if status != 0 || descriptors.is_null() {
                return None;
            }
            let numbers = std::slice::from_raw_parts(descriptors, count);
            let sockets = numbers.iter().map(|number| OwnedFd::from_raw_fd(*number)).collect();
            libc::free(descriptors.cast());
            sockets
        };
        let socket = sockets.into_iter().next()?;
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC).ok()?;
        let listener = TcpListener::from(socket);
        // Fails unless this is an internet socket.
        listener.local_addr().ok()?;
        Some(listener)
    }

    /// Does nothing: launchd has the socket that it opened.
    pub fn store(_: &tokio::net::TcpListener) {}
}

#[cfg(windows)]
mod other {
    /// Always `None`: this system stores no sockets.
    pub fn take() -> Option<std::net::TcpListener> {
        None
    }

    /// Does nothing: this system stores no sockets.
    pub fn store(_: &tokio::net::TcpListener) {}
}

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{self, IoSlice};
    use std::mem::MaybeUninit;
    use std::net::TcpListener;
    use std::os::fd::{AsFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::net::{
        AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
        SocketFlags, SocketType, sendmsg_addr, socket_with,
    };

    /// The number of the first descriptor that systemd passes.
    const FIRST: i32 = 3;
    const NAME: &str = "listener";

    /// The socket that systemd kept. Only the first call returns it.
    pub fn take() -> Option<TcpListener> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        let variable = |name| std::env::var(name).ok();
        let passed = (variable("LISTEN_PID"), variable("LISTEN_FDS"));
        if !is_for(std::process::id(), passed) || TAKEN.swap(true, Ordering::Relaxed) {
            return None;
        }
        #[expect(unsafe_code, reason = "systemd passes descriptors by number")]
        // SAFETY: systemd opened it for this process, and it is taken once.
        let socket = unsafe { OwnedFd::from_raw_fd(FIRST) };
        rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC).ok()?;
        let listener = TcpListener::from(socket);
        // Fails unless this is an internet socket.
        listener.local_addr().ok()?;
        Some(listener)
    }

    /// Whether `LISTEN_PID` and `LISTEN_FDS` pass descriptors to this process.
    fn is_for(process: u32, (pid, count): (Option<String>, Option<String>)) -> bool {
        let number = |text: Option<String>| text.and_then(|text| text.parse::<u32>().ok());
        number(pid) == Some(process) && number(count).is_some_and(|count| count > 0)
    }

    /// Lets systemd keep a copy of the socket, in place of the one it has.
    pub fn store(listener: &tokio::net::TcpListener) {
        let Some(manager) = std::env::var_os("NOTIFY_SOCKET") else { return };
        let manager = manager.to_string_lossy();
        let stored =
            send(&manager, &format!("FDSTOREREMOVE=1\nFDNAME={NAME}"), None).and_then(|()| {
                let message = format!("FDSTORE=1\nFDNAME={NAME}");
                send(&manager, &message, Some(listener.as_fd()))
            });
        if let Err(error) = stored {
            tracing::warn!(%error, "systemd cannot keep the address open");
        }
    }

    fn send(manager: &str, message: &str, descriptor: Option<BorrowedFd<'_>>) -> io::Result<()> {
        let address = match manager.strip_prefix('@') {
            Some(name) => SocketAddrUnix::new_abstract_name(name.as_bytes())?,
            None => SocketAddrUnix::new(manager)?,
        };
        let socket =
            socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<_> = descriptor.into_iter().collect();
        if !descriptors.is_empty() {
            control.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let message = [IoSlice::new(message.as_bytes())];
        sendmsg_addr(&socket, &address, &message, &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn descriptors_are_taken_only_if_they_are_for_this_process() {
            let passed = |pid: &str, count: &str| (Some(pid.to_owned()), Some(count.to_owned()));
            assert!(is_for(7, passed("7", "1")));
            assert!(!is_for(7, passed("8", "1")));
            assert!(!is_for(7, passed("7", "0")));
            assert!(!is_for(7, passed("seven", "one")));
            assert!(!is_for(7, (None, Some("1".to_owned()))));
        }
    }
}

#[cfg(test)]
mod waiting_tests {
    use std::io::Read as _;
    use std::net::TcpStream;

    use super::*;

    #[test]
    fn connections_that_no_gateway_will_accept_are_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut waiting: Vec<TcpStream> =
            (0..3).map(|_| TcpStream::connect(address).unwrap()).collect();
        assert_eq!(close_waiting(&listener).unwrap(), 3);
        for connection in &mut waiting {
            assert_eq!(connection.read(&mut [0]).unwrap_or(0), 0);
        }
        assert_eq!(close_waiting(&listener).unwrap(), 0);
    }
}
