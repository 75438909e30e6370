//! Hands over to another gateway.
//!
//! # Theory of operation
//! Another gateway connects and requests a handover. From then on this one accepts no connections;
//! new ones wait in the socket's backlog. It sends duplicates of the socket and the lock and keeps
//! its own, so that it can continue until the other gateway reports that it serves. If that report
//! does not arrive in time, or the connection breaks, this gateway continues.
//!
//! Afterwards it drops its own copies. Notification streams end, so that editors reopen them at the
//! successor; idle connections are sent there. Calls in flight are answered here. When the last one
//! is answered, or the time is up, this gateway ends.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use evermoor_core::lifecycle::handover::{HANDOVER_VERSION, PredecessorMessage, SuccessorMessage};
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::handover::{
    HandoverConnection, HandoverListener, HandoverReceiver, HandoverSender,
};

use crate::lifecycle::assembly::Assembly;
use crate::mcp::endpoint::McpEndpoint;
use crate::mcp::handover_queue::HandoverItem;

/// A gateway that requests a handover.
pub(crate) struct HandoverRequest {
    pub(crate) version: String,
    pub(crate) pid: u32,
    line: HandoverConnection,
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
}

/// How long each step may take while no connection is accepted.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the other gateway may take to send its request: it connects to its upstreams first.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// The wait after an error of the handover socket.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Waits for a request; forever without a handover socket.
pub(crate) async fn requested(handover_listener: Option<&mut HandoverListener>) -> HandoverRequest {
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
            Ok(Ok(SuccessorMessage::Ask { conversation: HANDOVER_VERSION, version, pid })) => {
                return HandoverRequest { version, pid, line };
            }
            Ok(Ok(SuccessorMessage::Ask { version, .. })) => {
                let why = format!("version {version} uses another handover protocol");
                let _ = send_message(&mut line.sender, &PredecessorMessage::Refused { why }).await;
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
        assembly: &Assembly,
    ) -> Result<HandoverConnection, HandoverError> {
        let mut line = self.line;
        let encoded = encoded(&PredecessorMessage::Granted);
        with_timeout(line.sender.send_listener(&encoded, listener, lock)).await?;
        expect_message(&mut line.receiver, &SuccessorMessage::Ready).await?;
        assembly.lease.release().await;
        let millis = |age: Duration| u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        let unused = assembly.control.links.unused().into_iter();
        let links = unused.map(|(code, age)| (code, millis(age))).collect();
        send_message(&mut line.sender, &PredecessorMessage::Go { links }).await?;
        expect_message(&mut line.receiver, &SuccessorMessage::Serving).await?;
        Ok(line)
    }
}

/// Sends queued handoffs to the successor and handles its messages, until `done` and all is sent.
pub(crate) async fn attend(
    line: HandoverConnection,
    queued_handover_items: mpsc::Receiver<HandoverItem>,
    endpoint: Arc<McpEndpoint>,
    done: CancellationToken,
) {
    let receiving = done.clone().run_until_cancelled_owned(receive(line.receiver, endpoint));
    tokio::join!(send(line.sender, queued_handover_items, done), receiving);
}

async fn receive(mut receiver: HandoverReceiver, endpoint: Arc<McpEndpoint>) {
    while let Ok(message) = receive_message(&mut receiver).await {
        match message {
            SuccessorMessage::Forward { session, message } => {
                endpoint.receive_forwarded(&session, &message.into())
            }
            SuccessorMessage::Ask { .. }
            | SuccessorMessage::Ready
            | SuccessorMessage::Serving
            | SuccessorMessage::Unknown => {}
        }
    }
}

async fn send(
    mut sender: HandoverSender,
    mut queued_handover_items: mpsc::Receiver<HandoverItem>,
    done: CancellationToken,
) {
    loop {
        let parcel = tokio::select! {
            parcel = queued_handover_items.recv() => parcel,
            () = done.cancelled(), if !queued_handover_items.is_closed() => {
                queued_handover_items.close();
                continue;
            }
        };
        let sent = match parcel {
            None => return,
            Some(HandoverItem::Connection { stream, known, read }) => {
                let encoded =
                    encoded(&PredecessorMessage::Connection { known, read: BASE64.encode(read) });
                match stream.into_std() {
                    Ok(stream) => with_timeout(sender.give(&encoded, &stream)).await,
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
