//! The gateway that this one took over from, while it finishes its calls.
//!
//! It sends connections as they become idle, and subscriptions that its calls changed. In return it
//! receives what editors send about its calls: answers to its requests, and cancellations.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use evermoor_core::lifecycle::handover::{PredecessorMessage, SuccessorMessage};
use evermoor_core::protocol::envelope::Message;
use evermoor_platform::handover::{
    HandoverConnection, HandoverPacket, HandoverReceiver, HandoverSender,
};

use crate::mcp::StoredSubscriptions;
use crate::mcp::endpoint::McpEndpoint;
use crate::server::listener::Connections;

const CAPACITY: usize = 64;

/// The predecessor, if there is one and it still has calls.
#[derive(Default)]
pub struct Predecessor(Mutex<Option<mpsc::Sender<SuccessorMessage>>>);

impl Predecessor {
    /// Forwards an editor's message about one of its calls. Returns `false` if there is no predecessor.
    pub fn tell(&self, session: &str, message: &Message) -> bool {
        let line = self.0.lock();
        let Some(line) = line.as_ref() else { return false };
        let message = String::from_utf8_lossy(&message.to_bytes()).into_owned();
        line.try_send(SuccessorMessage::Forward { session: session.to_owned(), message }).is_ok()
    }

    fn connected_to(&self) -> mpsc::Receiver<SuccessorMessage> {
        let (line, messages) = mpsc::channel(CAPACITY);
        *self.0.lock() = Some(line);
        messages
    }

    fn disconnected(&self) {
        self.0.lock().take();
    }
}

/// Exchanges messages with the predecessor until it closes the connection.
pub(crate) async fn attend(
    line: HandoverConnection,
    endpoint: Arc<McpEndpoint>,
    reception: Arc<Connections>,
) {
    let messages = endpoint.predecessor.connected_to();
    tokio::select! {
        () = forward(line.sender, messages) => {}
        () = receive(line.receiver, &endpoint, &reception) => {}
    }
    endpoint.predecessor.disconnected();
    tracing::info!("the predecessor has finished its calls");
}

/// Sends editors' messages to the predecessor.
async fn forward(mut speaking: HandoverSender, mut messages: mpsc::Receiver<SuccessorMessage>) {
    while let Some(message) = messages.recv().await {
        let payload = serde_json::to_vec(&message).expect("strings serialise");
        if speaking.say(&payload).await.is_err() {
            break;
        }
    }
    std::future::pending().await
}

/// Receives connections and subscriptions until the predecessor closes the connection.
async fn receive(mut hearing: HandoverReceiver, endpoint: &McpEndpoint, reception: &Connections) {
    while let Ok(Some(packet)) = hearing.next().await {
        match serde_json::from_slice(&packet.payload).unwrap_or(PredecessorMessage::Unknown) {
            PredecessorMessage::Connection { known, read } => {
                let read = BASE64.decode(read).unwrap_or_default().into();
                match connected(packet) {
                    Ok(stream) => reception.adopt(stream, known, read),
                    Err(error) => {
                        tracing::warn!(%error, "a connection from the predecessor was lost")
                    }
                }
            }
            PredecessorMessage::Subscriptions { session, resources, level } => {
                endpoint.sessions.inherit(session, StoredSubscriptions { resources, level });
            }
            PredecessorMessage::Welcome
            | PredecessorMessage::Refused { .. }
            | PredecessorMessage::Granted
            | PredecessorMessage::Go { .. }
            | PredecessorMessage::Unknown => {}
        }
    }
}

fn connected(packet: HandoverPacket) -> std::io::Result<TcpStream> {
    let stream = packet.into_connection()?;
    stream.set_nonblocking(true)?;
    TcpStream::from_std(stream)
}
