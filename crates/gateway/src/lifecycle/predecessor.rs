//! The conversation with the gateway that this one took over from.
//!
//! It sends connections as they become idle, and subscriptions that its calls changed. In return it
//! receives what editors send about its calls (answers to its requests, and cancellations), and which
//! connections have arrived.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use evermoor_core::lifecycle::handover_messages::{PredecessorMessage, SuccessorMessage};
use evermoor_platform::ipc::handover::{
    HandoverConnection, HandoverPacket, HandoverReceiver, HandoverSender,
};

use crate::mcp::StoredSubscriptions;
use crate::mcp::endpoint::McpEndpoint;
use crate::server::listener::Connections;

/// Exchanges messages with the predecessor until it closes the connection.
pub(crate) async fn attend(
    connection: HandoverConnection,
    endpoint: Arc<McpEndpoint>,
    connections: Arc<Connections>,
) {
    let (line, messages) = endpoint.predecessor.connected_to();
    tokio::select! {
        () = forward(connection.sender, messages) => {}
        () = receive(connection.receiver, &line, &endpoint, &connections) => {}
    }
    endpoint.predecessor.disconnected();
    tracing::info!("the predecessor has finished its calls");
}

/// Sends editors' messages to the predecessor.
async fn forward(mut sender: HandoverSender, mut messages: mpsc::Receiver<SuccessorMessage>) {
    while let Some(message) = messages.recv().await {
        let payload = serde_json::to_vec(&message).expect("strings serialise");
        if sender.say(&payload).await.is_err() {
            break;
        }
    }
    std::future::pending().await
}

/// Receives connections and subscriptions until the predecessor closes the connection.
async fn receive(
    mut receiver: HandoverReceiver,
    line: &mpsc::Sender<SuccessorMessage>,
    endpoint: &McpEndpoint,
    connections: &Connections,
) {
    while let Ok(Some(packet)) = receiver.next().await {
        match serde_json::from_slice(&packet.payload).unwrap_or(PredecessorMessage::Unknown) {
            PredecessorMessage::Connection { known, read } => {
                // This fails only when the line is closed.
                let _ = line.send(SuccessorMessage::Received).await;
                let read = BASE64.decode(read).unwrap_or_default().into();
                match connected(packet) {
                    Ok(stream) => connections.adopt(stream, known, read),
                    Err(error) => {
                        tracing::warn!(%error, "a connection from the predecessor was lost")
                    }
                }
            }
            PredecessorMessage::Subscriptions { session, resources, level } => {
                endpoint.sessions.inherit(session, StoredSubscriptions { resources, level });
            }
            PredecessorMessage::Welcome
            | PredecessorMessage::Copy
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
