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

use evermoor_core::lifecycle::handover::{CONVERSATION, Coming, Going};
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::handover::{Hearing, Line, Speaking, Stand};

use crate::lifecycle::assembly::Assembly;
use crate::mcp::endpoint::Endpoint;
use crate::mcp::handoff_queue::Parcel;

/// A gateway that requests a handover.
pub(crate) struct HandoverRequest {
    pub(crate) version: String,
    pub(crate) pid: u32,
    line: Line,
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
pub(crate) async fn requested(stand: Option<&mut Stand>) -> HandoverRequest {
    let Some(stand) = stand else { return std::future::pending().await };
    loop {
        let mut line = match stand.next().await {
            Ok(line) => line,
            Err(error) => {
                tracing::warn!(%error, "a handover request failed");
                sleep(RETRY_DELAY).await;
                continue;
            }
        };
        if send_message(&mut line.speaking, &Going::Welcome).await.is_err() {
            continue;
        }
        match timeout(REQUEST_TIMEOUT, receive_message(&mut line.hearing)).await {
            Ok(Ok(Coming::Ask { conversation: CONVERSATION, version, pid })) => {
                return HandoverRequest { version, pid, line };
            }
            Ok(Ok(Coming::Ask { version, .. })) => {
                let why = format!("version {version} uses another handover protocol");
                let _ = send_message(&mut line.speaking, &Going::Refused { why }).await;
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
    ) -> Result<Line, HandoverError> {
        let mut line = self.line;
        let encoded = encoded(&Going::Yours);
        with_timeout(line.speaking.give_place(&encoded, listener, lock)).await?;
        expect_message(&mut line.hearing, &Coming::Ready).await?;
        assembly.pen.give_away().await;
        let millis = |age: Duration| u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        let unused = assembly.control.links.unused().into_iter();
        let links = unused.map(|(code, age)| (code, millis(age))).collect();
        send_message(&mut line.speaking, &Going::Go { links }).await?;
        expect_message(&mut line.hearing, &Coming::Serving).await?;
        Ok(line)
    }
}

/// Sends queued handoffs to the successor and handles its messages, until `done` and all is sent.
pub(crate) async fn attend(
    line: Line,
    parcels: mpsc::Receiver<Parcel>,
    endpoint: Arc<Endpoint>,
    done: CancellationToken,
) {
    let receiving = done.clone().run_until_cancelled_owned(receive(line.hearing, endpoint));
    tokio::join!(send(line.speaking, parcels, done), receiving);
}

async fn receive(mut hearing: Hearing, endpoint: Arc<Endpoint>) {
    while let Ok(message) = receive_message(&mut hearing).await {
        match message {
            Coming::Tell { session, message } => endpoint.overhear(&session, &message.into()),
            Coming::Ask { .. } | Coming::Ready | Coming::Serving | Coming::Unknown => {}
        }
    }
}

async fn send(
    mut speaking: Speaking,
    mut parcels: mpsc::Receiver<Parcel>,
    done: CancellationToken,
) {
    loop {
        let parcel = tokio::select! {
            parcel = parcels.recv() => parcel,
            () = done.cancelled(), if !parcels.is_closed() => {
                parcels.close();
                continue;
            }
        };
        let sent = match parcel {
            None => return,
            Some(Parcel::Connection { stream, known, read }) => {
                let encoded = encoded(&Going::Connection { known, read: BASE64.encode(read) });
                match stream.into_std() {
                    Ok(stream) => with_timeout(speaking.give(&encoded, &stream)).await,
                    Err(error) => Err(error.into()),
                }
            }
            Some(Parcel::Wishes { session, wishes }) => {
                let (resources, level) = (wishes.resources, wishes.level);
                send_message(&mut speaking, &Going::Wishes { session, resources, level }).await
            }
        };
        if let Err(error) = sent {
            tracing::warn!(%error, "a handoff to the successor failed");
        }
    }
}

async fn expect_message(hearing: &mut Hearing, wanted: &Coming) -> Result<(), HandoverError> {
    let message = timeout(STEP_TIMEOUT, receive_message(hearing))
        .await
        .map_err(|_| HandoverError::Silent)??;
    if message == *wanted { Ok(()) } else { Err(HandoverError::HungUp) }
}

async fn receive_message(hearing: &mut Hearing) -> Result<Coming, HandoverError> {
    let packet = hearing.next().await?.ok_or(HandoverError::HungUp)?;
    Ok(serde_json::from_slice(&packet.words).unwrap_or(Coming::Unknown))
}

async fn send_message(speaking: &mut Speaking, message: &Going) -> Result<(), HandoverError> {
    with_timeout(speaking.say(&encoded(message))).await
}

async fn with_timeout(
    work: impl Future<Output = std::io::Result<()>>,
) -> Result<(), HandoverError> {
    Ok(timeout(STEP_TIMEOUT, work).await.map_err(|_| HandoverError::Silent)??)
}

fn encoded(message: &Going) -> Vec<u8> {
    serde_json::to_vec(message).expect("strings and numbers serialise")
}
