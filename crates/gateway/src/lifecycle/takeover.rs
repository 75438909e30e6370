//! Takes over from a running gateway.
//!
//! # Theory of operation
//! The new gateway reads its configuration and keys and connects to its upstreams first, so that
//! little can fail later. Then it requests the handover, receives the listening sockets and the lock,
//! reports that it is ready, and serves when the old gateway tells it to
//! (`evermoor_core::lifecycle::handover_messages` defines the messages). If anything fails before that, the
//! new gateway exits and the old one continues unchanged.
//!
//! The old gateway then finishes its calls. It sends connections as they become idle, and receives
//! what editors send about its calls.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};

use evermoor_core::lifecycle::handover_messages::{
    HANDOVER_VERSION, PredecessorMessage, SuccessorMessage,
};
use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_core::lifecycle::version;
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::fs::private;
use evermoor_platform::fs::private::PreparedFile;
use evermoor_platform::ipc::handover::{
    HandoverConnection, HandoverListener, HandoverPacket, ReceivedPlace,
};
use evermoor_platform::ipc::local_socket::LocalListener;
use evermoor_platform::paths::Paths;

use crate::VERSION;
use crate::lifecycle::assembly::Assembly;
use crate::lifecycle::predecessor;
use crate::server::bind;
use crate::server::bind::LOCK_PATIENCE;
use crate::server::serve_error::ServeError;
use crate::server::serve_error::TakeoverError;

/// Which gateway may be taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakeoverTerms {
    /// Any version.
    Any,
    /// Only an older version.
    Older,
}

/// The running gateway, connected and ready to hand over.
pub(crate) struct RunningGateway {
    pub(crate) runtime: RuntimeFile,
    line: HandoverConnection,
}

/// How long it may be busy with another gateway, which connects to its upstreams first.
const TURN_TIMEOUT: Duration = Duration::from_secs(10);
/// How often to try again if it hands over to another gateway just then.
const MAX_TURNS: u32 = 3;
/// How long each answer may take. The old gateway waits longer, so that it never believes in a
/// successor that has already given up.
const STEP_TIMEOUT: Duration = Duration::from_secs(5);

impl RunningGateway {
    /// Connects to the running gateway and waits until it accepts.
    pub(crate) async fn find(paths: &Paths, terms: TakeoverTerms) -> Result<Self, TakeoverError> {
        let runtime = announced(paths).ok_or(TakeoverError::Unannounced)?;
        let path = paths.handover_file();
        let line = timeout(STEP_TIMEOUT, HandoverConnection::connect(&path, runtime.pid)).await;
        let line = line.map_err(|_| TakeoverError::Silent)?.map_err(TakeoverError::NoStand)?;
        let mut running = Self { runtime, line };
        match running.receive_within(TURN_TIMEOUT).await?.1 {
            PredecessorMessage::Welcome => {}
            PredecessorMessage::Refused { why } => return Err(TakeoverError::Refused(why)),
            PredecessorMessage::Granted
            | PredecessorMessage::Go { .. }
            | PredecessorMessage::Copy
            | PredecessorMessage::Connection { .. }
            | PredecessorMessage::Subscriptions { .. }
            | PredecessorMessage::Unknown => return Err(TakeoverError::HungUp),
        }
        // Another gateway may have taken over since the file was read; by now it has written its own.
        running.runtime = announced(paths).ok_or(TakeoverError::Unannounced)?;
        if terms == TakeoverTerms::Older && !version::is_older(&running.runtime.version, VERSION) {
            return Err(TakeoverError::NotOlder);
        }
        Ok(running)
    }

    /// Requests the listener, the lock and the private socket for shims.
    async fn ask(&mut self, paths: &Paths) -> Result<ReceivedPlace, TakeoverError> {
        let (version, pid) = (VERSION.to_owned(), std::process::id());
        let (conversation, acknowledges) = (HANDOVER_VERSION, true);
        let shim_socket = true;
        let ask = SuccessorMessage::Ask { conversation, version, pid, acknowledges, shim_socket };
        self.send(&ask).await?;
        let (packet, message) = self.receive().await?;
        match message {
            PredecessorMessage::Granted => {}
            PredecessorMessage::Refused { why } => return Err(TakeoverError::Refused(why)),
            PredecessorMessage::Welcome
            | PredecessorMessage::Go { .. }
            | PredecessorMessage::Copy
            | PredecessorMessage::Connection { .. }
            | PredecessorMessage::Subscriptions { .. }
            | PredecessorMessage::Unknown => return Err(TakeoverError::HungUp),
        }
        packet.into_place(&paths.shim_socket()).map_err(TakeoverError::Useless)
    }

    /// Reports that all is ready, and waits until the old gateway has stopped writing files. Returns
    /// its unused login links.
    pub(crate) async fn ready(&mut self) -> Result<Vec<(String, Duration)>, TakeoverError> {
        let ready = Instant::now();
        self.send(&SuccessorMessage::Ready).await?;
        match self.receive().await?.1 {
            // If this process was suspended meanwhile, the old gateway no longer waits.
            PredecessorMessage::Go { links } if ready.elapsed() < STEP_TIMEOUT => {
                let age = |(code, millis)| (code, Duration::from_millis(millis));
                Ok(links.into_iter().map(age).collect())
            }
            PredecessorMessage::Go { .. } => Err(TakeoverError::Silent),
            PredecessorMessage::Refused { why } => Err(TakeoverError::Refused(why)),
            PredecessorMessage::Welcome
            | PredecessorMessage::Granted
            | PredecessorMessage::Copy
            | PredecessorMessage::Connection { .. }
            | PredecessorMessage::Subscriptions { .. }
            | PredecessorMessage::Unknown => Err(TakeoverError::HungUp),
        }
    }

    /// Reports that this gateway serves, and handles what the old one still sends.
    pub(crate) async fn serving(mut self, assembly: &Assembly) -> Result<(), TakeoverError> {
        self.send(&SuccessorMessage::Serving).await?;
        let (endpoint, connections) =
            (Arc::clone(&assembly.endpoint), Arc::clone(&assembly.connections));
        let stop = assembly.connections.stop();
        let attending = predecessor::attend(self.line, endpoint, connections);
        assembly.calls.spawn(stop.run_until_cancelled_owned(attending));
        Ok(())
    }

    async fn send(&mut self, message: &SuccessorMessage) -> Result<(), TakeoverError> {
        let payload = serde_json::to_vec(message).expect("strings and numbers serialise");
        match timeout(STEP_TIMEOUT, self.line.sender.say(&payload)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(TakeoverError::HungUp),
            Err(_) => Err(TakeoverError::Silent),
        }
    }

    async fn receive(&mut self) -> Result<(HandoverPacket, PredecessorMessage), TakeoverError> {
        self.receive_within(STEP_TIMEOUT).await
    }

    async fn receive_within(
        &mut self,
        patience: Duration,
    ) -> Result<(HandoverPacket, PredecessorMessage), TakeoverError> {
        let received = timeout(patience, self.line.receiver.next()).await;
        match received.map_err(|_| TakeoverError::Silent)? {
            Ok(Some(packet)) => {
                let message =
                    serde_json::from_slice(&packet.payload).unwrap_or(PredecessorMessage::Unknown);
                Ok((packet, message))
            }
            Ok(None) | Err(_) => Err(TakeoverError::HungUp),
        }
    }
}

fn announced(paths: &Paths) -> Option<RuntimeFile> {
    let content = private::read_private(&paths.runtime_file()).ok()??;
    serde_json::from_slice(&content).ok()
}

/// What a gateway has after a takeover.
pub(crate) struct TakenOver {
    pub(crate) listener: TcpListener,
    pub(crate) lock: InstanceLock,
    pub(crate) handover_listener: Option<HandoverListener>,
    pub(crate) shim_socket: Option<LocalListener>,
}

/// Takes over from the running gateway. Until the last step the old one can continue.
pub(crate) async fn move_in(
    mut running: RunningGateway,
    assembly: &Assembly,
    announcement: PreparedFile,
    paths: &Paths,
) -> Result<TakenOver, ServeError> {
    let place = running.ask(paths).await.map_err(ServeError::NotTakenOver)?;
    let ReceivedPlace { listener, lock, mut shim_socket } = place;
    let listener = usable(listener)
        .map_err(|error| ServeError::NotTakenOver(TakeoverError::Useless(error)))?;
    let links = running.ready().await.map_err(ServeError::NotTakenOver)?;
    assembly.control.links.inherit(links);
    // From here on the old gateway writes nothing, and its files are complete.
    assembly.lease.grant();
    assembly.endpoint.sessions.load();
    if shim_socket.is_none() {
        // A shim that reads the announcement must find the socket of this gateway.
        shim_socket = bind::open_shim_socket(paths);
    }
    announcement.put().map_err(|source| bind::unwritable(paths, source))?;
    let handover_listener = bind::open_handover_listener(paths);
    running.serving(assembly).await.map_err(ServeError::NotTakenOver)?;
    shim_socket.iter_mut().for_each(LocalListener::own);
    Ok(TakenOver { listener, lock, handover_listener, shim_socket })
}

fn usable(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

/// The gateway that serves at the moment.
pub(crate) enum CurrentGateway {
    None(InstanceLock),
    Running(RunningGateway),
}

/// Finds the running gateway, or takes the lock if there is none. Retries while one starts or ends.
pub(crate) async fn find(
    paths: &Paths,
    terms: TakeoverTerms,
) -> Result<CurrentGateway, ServeError> {
    let (deadline, mut turns) = (Instant::now() + LOCK_PATIENCE, 0);
    loop {
        if let Some(lock) = bind::try_lock(paths)? {
            return Ok(CurrentGateway::None(lock));
        }
        match RunningGateway::find(paths, terms).await {
            Ok(running) => return Ok(CurrentGateway::Running(running)),
            Err(TakeoverError::NotOlder) => return Err(ServeError::AlreadyRunning),
            // It has just handed over to another gateway.
            Err(TakeoverError::HungUp) if turns < MAX_TURNS => turns += 1,
            Err(error) if Instant::now() >= deadline => {
                return Err(ServeError::NotTakenOver(error));
            }
            Err(_) => sleep(LOCK_PATIENCE / 20).await,
        }
    }
}
