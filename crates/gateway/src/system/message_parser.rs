//! Parses messages; large ones on another thread, so that they do not block the gateway.

use bytes::Bytes;

use evermoor_core::protocol::envelope::{INVALID_REQUEST, InvalidMessage, Message};
use evermoor_core::protocol::json::Raw;

/// Parsing more than this takes too long.
const LARGE: usize = 128 << 10;

/// Parses a message of an upstream.
pub(crate) async fn parse(text: &Bytes) -> Result<Message, InvalidMessage> {
    parse_with(text, Message::parse).await
}

/// Parses a message of an editor.
pub(crate) async fn parse_from_editor(text: &Bytes) -> Result<Message, InvalidMessage> {
    parse_with(text, Message::from_editor).await
}

/// Parses a batch of an editor, whose messages are still to be parsed. Returns at most `most` of them.
pub(crate) async fn parse_batch(text: &Bytes, most: usize) -> Result<Vec<Raw>, InvalidMessage> {
    let parse = move |text: &Bytes| match Raw::parse(text.clone()) {
        Ok(batch) => Ok(batch.first_elements(most).unwrap_or_default()),
        Err(_) => Err(Message::parse(text).err().unwrap_or(InvalidMessage {
            code: INVALID_REQUEST,
            why: "Not a JSON-RPC message.".into(),
            id: None,
        })),
    };
    parse_with(text, parse).await
}

async fn parse_with<T: Send + 'static>(
    text: &Bytes,
    parse: impl FnOnce(&Bytes) -> T + Send + 'static,
) -> T {
    if text.len() <= LARGE {
        return parse(text);
    }
    on_another_thread(text, parse).await
}

/// Does on another thread what takes long with so many bytes.
async fn on_another_thread<T: Send + 'static>(
    text: &Bytes,
    work: impl FnOnce(&Bytes) -> T + Send + 'static,
) -> T {
    let text = text.clone();
    match tokio::task::spawn_blocking(move || work(&text)).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is ending, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}
