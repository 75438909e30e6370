//! The stdio transport.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use evermoor_core::protocol::envelope::Message;

use super::server::SingleVersionServer;

/// Serves until its input ends.
pub async fn serve(server: Arc<SingleVersionServer>) {
    let (messages, mut said) = mpsc::unbounded_channel::<Message>();
    let tasks = TaskTracker::new();
    tasks.spawn(async move {
        #[expect(clippy::disallowed_methods, reason = "the upstream writes the protocol to it")]
        let mut output = tokio::io::stdout();
        while let Some(message) = said.recv().await {
            let line = [&message.to_bytes()[..], b"\n"].concat();
            if output.write_all(&line).await.is_err() || output.flush().await.is_err() {
                return;
            }
        }
    });
    if !server.protocol_version.is_stateless() {
        let (server, messages) = (Arc::clone(&server), messages.clone());
        tasks.spawn(async move {
            let mut notifications = server.notifications.subscribe();
            while let Ok(notification) = notifications.recv().await {
                if server.is_wanted(&notification, None) {
                    let _ = messages.send(notification.into());
                }
            }
        });
    }
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        match Message::parse(&Bytes::from(line)) {
            Ok(Message::Request(request)) => {
                let (server, messages) = (Arc::clone(&server), messages.clone());
                tasks.spawn(async move {
                    if let Some(answer) = server.answer(request, json!({}), messages.clone()).await
                    {
                        let _ = messages.send(Message::Response(answer));
                    }
                });
            }
            Ok(message) => server.receive(message),
            Err(_) => {}
        }
    }
}
