//! Hands over to another gateway.
//!
//! # Theory of operation
//! Another gateway connects and requests a handover. From then on this one accepts no connections;
//! new ones wait in the socket's backlog. It sends duplicates of the sockets and the lock and keeps
//! its own, so that it can continue until the other gateway reports that it serves. If that report
//! does not arrive in time, or the connection breaks, this gateway continues.
//!
//! Afterwards it drops its own copies. Notification streams end, so that editors reopen them at the
//! successor; idle connections are sent there, and closed here when it has received them. Calls in flight are answered here. When the last one
//! is answered, or the time is up, this gateway ends.

use std::collections::VecDeque;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use evermoor_core::lifecycle::handover_messages::{
    HANDOVER_VERSION, PredecessorMessage, SuccessorMessage,
};
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::ipc::handover::{
    HandoverConnection, HandoverListener, HandoverReceiver, HandoverSender,
};
use evermoor_platform::ipc::local_socket::LocalListener;

use crate::lifecycle::assembly::Assembly;
use crate::mcp::endpoint::McpEndpoint;
use crate::mcp::handover_queue;
use crate::mcp::handover_queue::HandoverItem;

/// A gateway that requests a handover.
pub(crate) struct HandoverRequest {
    pub(crate) version: String,
    pub(crate) pid: u32,
    line: HandoverConnection,
    acknowledges: bool,
    /// It takes the private socket for shims.
    takes_shim_socket: bool,
}

/// The line to the successor after the handover.
pub(crate) struct SuccessorLine {
    line: HandoverConnection,
    /// It reports each connection that it has received.
    acknowledges: bool,
}

/// Why the handover failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandoverError {
    #[error("the connection broke: {0}")]
    Broken(#[from] std::io::Error),
    #[error("it closed the connection")]
    HungUp,
    #[error("it took too long")]
    Silent,
    #[error("a sign-in is being renewed")]
    Writing,
}

/// How long each step may take while no connection is accepted.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the other gateway may take to send its request: it connects to its upstreams first.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// The wait after an error of the handover socket.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Waits for a request to take over; forever without a handover socket. Meanwhile, sends copies of
/// `listener` to programs that ask for one.
pub(crate) async fn requested(
    handover_listener: Option<&mut HandoverListener>,
    listener: &TcpListener,
) -> HandoverRequest {
    let Some(handover_listener) = handover_listener else { return std::future::pending().await };
    loop {
        let mut line = match handover_listener.next().await {
            Ok(line) => line,
            Err(error) => {
                tracing::warn!(%error, "a handover request failed");
                sleep(RETRY_DELAY).await;
                continue;
            }
        };
        if send_message(&mut line.sender, &PredecessorMessage::Welcome).await.is_err() {
            continue;
        }
        match timeout(REQUEST_TIMEOUT, receive_message(&mut line.receiver)).await {
            Ok(Ok(SuccessorMessage::Ask {
                conversation: HANDOVER_VERSION,
                version,
                pid,
                acknowledges,
                shim_socket,
            })) => {
                let takes_shim_socket = shim_socket;
                return HandoverRequest { version, pid, line, acknowledges, takes_shim_socket };
            }
            Ok(Ok(SuccessorMessage::Ask { version, .. })) => {
                let why = format!("version {version} uses another handover protocol");
                let _ = send_message(&mut line.sender, &PredecessorMessage::Refused { why }).await;
            }
            Ok(Ok(SuccessorMessage::Copy)) => {
                let copy = encoded(&PredecessorMessage::Copy);
                let sent = with_timeout(line.sender.send_copy(&copy, listener)).await;
                // macOS can close a socket in transit when its sender is gone, so wait for the end.
                let _ = timeout(STEP_TIMEOUT, line.receiver.next()).await;
                if let Err(error) = sent {
                    tracing::warn!(%error, "the tray cannot keep the address open");
                }
            }
            Ok(Ok(_) | Err(_)) | Err(_) => {
                tracing::debug!("a gateway connected but sent no request")
            }
        }
    }
}

impl HandoverRequest {
    /// Hands over. After an error this gateway still serves.
    pub(crate) async fn give(
        self,
        listener: &TcpListener,
        lock: &InstanceLock,
        shim_socket: Option<&LocalListener>,
        assembly: &Assembly,
    ) -> Result<SuccessorLine, HandoverError> {
        let mut line = self.line;
        let encoded = encoded(&PredecessorMessage::Granted);
        // A listener that has been replaced at its path would never be found.
        let shim_socket = shim_socket.filter(|one| self.takes_shim_socket && one.is_in_place());
        with_timeout(line.sender.send_place(&encoded, listener, lock, shim_socket)).await?;
        expect_message(&mut line.receiver, &SuccessorMessage::Ready).await?;
        if !assembly.lease.release().await {
            return Err(HandoverError::Writing);
        }
        let millis = |age: Duration| u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        let unused = assembly.control.links.unused().into_iter();
        let links = unused.map(|(code, age)| (code, millis(age))).collect();
        send_message(&mut line.sender, &PredecessorMessage::Go { links }).await?;
        expect_message(&mut line.receiver, &SuccessorMessage::Serving).await?;
        Ok(SuccessorLine { line, acknowledges: self.acknowledges })
    }
}

/// Sends queued handoffs to the successor and handles its messages, until `done` and all is sent and
/// received.
pub(crate) async fn attend(
    successor: SuccessorLine,
    queued_handover_items: mpsc::Receiver<HandoverItem>,
    endpoint: Arc<McpEndpoint>,
    done: CancellationToken,
) {
    let SuccessorLine { line, acknowledges } = successor;
    let (acknowledged, acknowledgements) = mpsc::channel(handover_queue::CAPACITY);
    let in_transit = InTransit { acknowledgements, kept: VecDeque::new(), acknowledges };
    let receiving = async {
        let forward = |session: &str, message: String| {
            endpoint.receive_forwarded(session, &message.into());
        };
        receive(line.receiver, forward, acknowledged).await;
        std::future::pending().await
    };
    tokio::select! {
        () = send(line.sender, queued_handover_items, in_transit, done) => {}
        () = receiving => {}
    }
}

/// Our copies of the connections that the successor has not received yet. The system can close a socket
/// that is in transit when we close it.
struct InTransit {
    acknowledgements: mpsc::Receiver<()>,
    kept: VecDeque<TcpStream>,
    /// Otherwise nothing is kept.
    acknowledges: bool,
}

impl InTransit {
    fn keep(&mut self, connection: TcpStream) {
        if self.acknowledges {
            self.kept.push_back(connection);
        }
    }

    /// Waits for the next acknowledgement and closes our copy. Returns `false` when nothing is in transit
    /// or none will come. Cancel safe.
    async fn received(&mut self) -> bool {
        if self.kept.is_empty() {
            return false;
        }
        let acknowledged = self.acknowledgements.recv().await.is_some();
        match acknowledged {
            true => drop(self.kept.pop_front()),
            false => self.kept.clear(),
        }
        acknowledged
    }
}

async fn receive(
    mut receiver: HandoverReceiver,
    forward: impl Fn(&str, String),
    acknowledged: mpsc::Sender<()>,
) {
    while let Ok(message) = receive_message(&mut receiver).await {
        match message {
            SuccessorMessage::Forward { session, message } => forward(&session, message),
            SuccessorMessage::Received => {
                // This fails only when all is sent.
                let _ = acknowledged.send(()).await;
            }
            SuccessorMessage::Ask { .. }
            | SuccessorMessage::Copy
            | SuccessorMessage::Ready
            | SuccessorMessage::Serving
            | SuccessorMessage::Unknown => {}
        }
    }
}

async fn send(
    mut sender: HandoverSender,
    mut queued_handover_items: mpsc::Receiver<HandoverItem>,
    mut in_transit: InTransit,
    done: CancellationToken,
) {
    loop {
        let parcel = tokio::select! {
            parcel = queued_handover_items.recv() => parcel,
            true = in_transit.received() => continue,
            () = done.cancelled(), if !queued_handover_items.is_closed() => {
                queued_handover_items.close();
                continue;
            }
        };
        let sent = match parcel {
            None => break,
            Some(HandoverItem::Connection { stream, known, read }) => {
                let encoded =
                    encoded(&PredecessorMessage::Connection { known, read: BASE64.encode(read) });
                match stream.into_std() {
                    Ok(stream) => {
                        let sent = with_timeout(sender.give(&encoded, &stream)).await;
                        if sent.is_ok() {
                            in_transit.keep(stream);
                        }
                        sent
                    }
                    Err(error) => Err(error.into()),
                }
            }
            Some(HandoverItem::Subscriptions { session, subscriptions }) => {
                let (resources, level) = (subscriptions.resources, subscriptions.level);
                send_message(
                    &mut sender,
                    &PredecessorMessage::Subscriptions { session, resources, level },
                )
                .await
            }
        };
        if let Err(error) = sent {
            tracing::warn!(%error, "a handoff to the successor failed");
        }
    }
    let all_received = async { while in_transit.received().await {} };
    if timeout(STEP_TIMEOUT, all_received).await.is_err() {
        tracing::warn!("the successor did not acknowledge a connection");
    }
}

async fn expect_message(
    receiver: &mut HandoverReceiver,
    wanted: &SuccessorMessage,
) -> Result<(), HandoverError> {
    let message = timeout(STEP_TIMEOUT, receive_message(receiver))
        .await
        .map_err(|_| HandoverError::Silent)??;
    if message == *wanted { Ok(()) } else { Err(HandoverError::HungUp) }
}

async fn receive_message(
    receiver: &mut HandoverReceiver,
) -> Result<SuccessorMessage, HandoverError> {
    let packet = receiver.next().await?.ok_or(HandoverError::HungUp)?;
    Ok(serde_json::from_slice(&packet.payload).unwrap_or(SuccessorMessage::Unknown))
}

async fn send_message(
    sender: &mut HandoverSender,
    message: &PredecessorMessage,
) -> Result<(), HandoverError> {
    with_timeout(sender.say(&encoded(message))).await
}

async fn with_timeout(
    work: impl Future<Output = std::io::Result<()>>,
) -> Result<(), HandoverError> {
    Ok(timeout(STEP_TIMEOUT, work).await.map_err(|_| HandoverError::Silent)??)
}

fn encoded(message: &PredecessorMessage) -> Vec<u8> {
    serde_json::to_vec(message).expect("strings and numbers serialise")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::net::TcpListener as StdListener;

    /// The two ends of a line.
    async fn line() -> (tempfile::TempDir, HandoverConnection, HandoverConnection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run/handover");
        let mut listener = HandoverListener::open(&path).unwrap();
        let connecting = HandoverConnection::connect(&path, std::process::id());
        let (here, there) = tokio::join!(listener.next(), connecting);
        (folder, here.unwrap(), there.unwrap())
    }

    /// A client and its connection to a gateway.
    fn connection() -> (TcpStream, HandoverItem) {
        let listener = StdListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let stream = tokio::net::TcpStream::from_std(stream).unwrap();
        (client, HandoverItem::Connection { stream, known: true, read: Default::default() })
    }

    /// Whether any process has the other end of a connection open.
    fn is_open(client: &mut TcpStream) -> bool {
        client.set_nonblocking(true).unwrap();
        matches!(client.read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    }

    /// Sends one connection to a successor, which closes it at once. Returns whether our copy is open
    /// before and after the acknowledgement.
    async fn open_before_and_after(acknowledges: bool) -> (bool, bool) {
        let (_folder, here, mut there) = line().await;
        let (queue, items) = mpsc::channel(1);
        let (acknowledged, acknowledgements) = mpsc::channel(handover_queue::CAPACITY);
        let in_transit = InTransit { acknowledgements, kept: VecDeque::new(), acknowledges };
        let done = CancellationToken::new();
        let sending = send(here.sender, items, in_transit, done.clone());
        let receiving = receive(here.receiver, |_, _| {}, acknowledged);
        let (mut client, item) = connection();
        let successor = async {
            queue.send(item).await.unwrap();
            let packet = there.receiver.next().await.unwrap().unwrap();
            drop(packet.into_connection().unwrap());
            // The sender has gone on once it accepts the next item.
            let subscriptions = Default::default();
            let session = String::new();
            queue.send(HandoverItem::Subscriptions { session, subscriptions }).await.unwrap();
            there.receiver.next().await.unwrap().unwrap();
            let before = is_open(&mut client);
            done.cancel();
            let received = serde_json::to_vec(&SuccessorMessage::Received).unwrap();
            there.sender.say(&received).await.unwrap();
            (before, there)
        };
        let running = async {
            tokio::select! { () = sending => {}, () = async { receiving.await; std::future::pending().await } => {} }
        };
        let ((before, _there), ()) = tokio::join!(successor, running);
        (before, is_open(&mut client))
    }

    #[tokio::test]
    async fn a_connection_stays_open_here_until_the_successor_has_received_it() {
        assert_eq!(open_before_and_after(true).await, (true, false));
    }

    #[tokio::test]
    async fn a_successor_that_acknowledges_nothing_gets_the_only_copy() {
        assert_eq!(open_before_and_after(false).await, (false, false));
    }
}
