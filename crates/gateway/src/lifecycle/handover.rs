//! Giving the place to another gateway, and leaving.
//!
//! # Theory of operation
//! Somebody comes to the stand and asks. From then on nothing is accepted; whoever connects waits in
//! the socket. The socket and the lock are given away and kept at the same time, so that this
//! gateway can go on as before until the other one says that it serves. If it does not send_message so in
//! time, or hangs up, that is what happens.
//!
//! Then this gateway lets go of its own copies. Streams of news end, so that editors open them at
//! the other one; connections at rest are sent there. Calls under way are answered here, and when the
//! last of them is, or the time is up, this gateway ends.

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
use crate::system::handoff_queue::Parcel;

/// Somebody who wants our place.
pub(crate) struct HandoverRequest {
    pub(crate) version: String,
    pub(crate) pid: u32,
    line: Line,
}

/// Why our place was not given away.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandoverError {
    #[error("the line broke: {0}")]
    Broken(#[from] std::io::Error),
    #[error("it hung up")]
    HungUp,
    #[error("it took too long")]
    Silent,
}

/// How long each step may take once we accept nothing any more.
const STEP_TIMEOUT: Duration = Duration::from_secs(10);
/// How long somebody who has come may take to ask: it tries its upstreams first.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(20);
/// How long to wait before the stand is looked after again if it is in trouble.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// Waits until somebody asks for our place. Without a stand, nobody does.
pub(crate) async fn requested(stand: Option<&mut Stand>) -> HandoverRequest {
    let Some(stand) = stand else { return std::future::pending().await };
    loop {
        let mut line = match stand.next().await {
            Ok(line) => line,
            Err(error) => {
                tracing::warn!(%error, "somebody could not ask for our place");
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
                let why = format!("version {version} hands over in another way");
                let _ = send_message(&mut line.speaking, &Going::Refused { why }).await;
            }
            Ok(Ok(_) | Err(_)) | Err(_) => tracing::debug!("somebody came and did not ask"),
        }
    }
}

impl HandoverRequest {
    /// Gives our place away. An error means that it is still ours.
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

/// Sends what is still ours to the gateway that has taken over, and hears what it has to tell, until
/// all is done and sent.
pub(crate) async fn attend(
    line: Line,
    parcels: mpsc::Receiver<Parcel>,
    endpoint: Arc<Endpoint>,
    done: CancellationToken,
) {
    let receive_message = done.clone().run_until_cancelled_owned(receive(line.hearing, endpoint));
    tokio::join!(send(line.speaking, parcels, done), receive_message);
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
            tracing::warn!(%error, "the gateway that has taken over did not take what we had");
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
