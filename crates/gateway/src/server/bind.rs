//! The lock, the port and the runtime file of a gateway.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::fs::private;
use evermoor_platform::fs::private::PreparedFile;
use evermoor_platform::ipc::handover::{HandoverConnection, HandoverListener};
use evermoor_platform::ipc::local_socket::LocalListener;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::port;
use evermoor_platform::startup::service::stored_listener;

use crate::VERSION;
use crate::server::serve_error::ServeError;

/// A program that checks for a gateway holds the lock briefly; wait for that.
pub(crate) const LOCK_PATIENCE: Duration = Duration::from_millis(500);

/// Takes the lock; `None` if another gateway has it.
pub(crate) fn try_lock(paths: &Paths) -> Result<Option<InstanceLock>, ServeError> {
    let path = paths.lock_file();
    InstanceLock::take(&path)
        .map_err(|source| ServeError::Unwritable { path: path.display().to_string(), source })
}

pub(crate) async fn take_lock(paths: &Paths) -> Result<InstanceLock, ServeError> {
    let deadline = Instant::now() + LOCK_PATIENCE;
    loop {
        match try_lock(paths)? {
            Some(lock) => return Ok(lock),
            None if Instant::now() >= deadline => return Err(ServeError::AlreadyRunning),
            None => sleep(LOCK_PATIENCE / 20).await,
        }
    }
}

/// How long the holder of the address may take to answer.
const HOLDER_TIMEOUT: Duration = Duration::from_secs(1);

/// The socket that the service manager kept open while the gateway starts.
pub(crate) struct StoredListener(Option<std::net::TcpListener>);

impl StoredListener {
    pub(crate) fn take() -> Self {
        Self(stored_listener::take())
    }

    fn copy(&self) -> Option<std::net::TcpListener> {
        self.0.as_ref().and_then(|listener| listener.try_clone().ok())
    }

    /// Closes the connections that wait, because the gateway cannot start. The service manager keeps the
    /// socket, so they would wait for ever.
    pub(crate) fn close_waiting(&self) {
        let closed = self.0.as_ref().map(stored_listener::close_waiting);
        if let Some(Err(error)) = closed {
            tracing::warn!(%error, "connections still wait for a gateway that cannot start");
        }
    }
}

/// The socket that the last gateway listened on, if the system or the tray kept it open, with the
/// connections that wait in it. Otherwise a new one.
pub(crate) async fn listen_or_inherit(
    paths: &Paths,
    stored: &StoredListener,
    address: SocketAddr,
) -> Result<TcpListener, ServeError> {
    let held = match stored.copy() {
        Some(listener) => Some(listener),
        None => timeout(HOLDER_TIMEOUT, held_by_tray(paths)).await.ok().flatten(),
    };
    let listener = match held.and_then(|listener| usable(listener, address)) {
        Some(listener) => {
            tracing::info!("took the address from the program that kept it open");
            listener
        }
        None => listen(address).await?,
    };
    stored_listener::store(&listener);
    Ok(listener)
}

async fn held_by_tray(paths: &Paths) -> Option<std::net::TcpListener> {
    let pid = private::read_private(&paths.listener_holder_pid_file()).ok()??;
    let pid = std::str::from_utf8(&pid).ok()?.parse().ok()?;
    let path = paths.listener_holder_file();
    let mut line = HandoverConnection::connect(&path, pid).await.ok()?;
    let packet = line.receiver.next().await.ok()??;
    packet.into_copy().ok()
}

/// The socket, if it has the configured address. Port 0 means any.
fn usable(listener: std::net::TcpListener, wanted: SocketAddr) -> Option<TcpListener> {
    let address = listener.local_addr().ok()?;
    let fits = address == wanted || (address.ip() == wanted.ip() && wanted.port() == 0);
    listener.set_nonblocking(true).ok()?;
    fits.then(|| TcpListener::from_std(listener).ok())?
}

pub(crate) async fn listen(address: SocketAddr) -> Result<TcpListener, ServeError> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let owner = port::owner(address.port()).await;
            let by = match owner {
                Some(port::PortOwner { pid, name: Some(name) }) => {
                    format!("\"{name}\" (process {pid})")
                }
                Some(port::PortOwner { pid, name: None }) => format!("process {pid}"),
                None => "another program".into(),
            };
            let what = format!("Port {} is used by {by}.", address.port());
            let remedy =
                "End that program, or set another `listen` under [gateway] in config.toml.";
            Err(ServeError::PortTaken(Failure::new(Code::PortTaken, what, remedy)))
        }
        Err(source) => Err(ServeError::Listen { address, source }),
    }
}

/// The runtime file's content: how to reach this process.
pub(crate) fn runtime(origin: String, control_token: String) -> RuntimeFile {
    RuntimeFile { pid: std::process::id(), version: VERSION.into(), origin, control_token }
}

/// Writes the runtime file.
pub(crate) fn announce(paths: &Paths, runtime: &RuntimeFile) -> Result<(), ServeError> {
    prepare(paths, runtime)?.put().map_err(|source| unwritable(paths, source))
}

/// Prepares the runtime file; what remains is a rename, which rarely fails.
pub(crate) fn prepare(paths: &Paths, runtime: &RuntimeFile) -> Result<PreparedFile, ServeError> {
    let content = serde_json::to_vec(runtime).expect("strings and numbers serialise");
    private::prepare_private(&paths.runtime_file(), &content)
        .map_err(|source| unwritable(paths, source))
}

pub(crate) fn unwritable(paths: &Paths, source: std::io::Error) -> ServeError {
    ServeError::Unwritable { path: paths.runtime_file().display().to_string(), source }
}

/// Opens the socket where another gateway can request a handover.
pub(crate) fn open_handover_listener(paths: &Paths) -> Option<HandoverListener> {
    HandoverListener::open(&paths.handover_file())
        .inspect_err(|error| tracing::warn!(%error, "this gateway cannot be taken over"))
        .ok()
}

/// Opens the socket for stdio shims, in place of that of a gateway that was taken over.
pub(crate) fn open_shim_socket(paths: &Paths) -> Option<LocalListener> {
    LocalListener::open(&paths.shim_socket())
        .inspect_err(|error| tracing::debug!(%error, "stdio shims use HTTP"))
        .ok()
}
