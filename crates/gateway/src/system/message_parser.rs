//! Parses messages, and does other work that takes longer for larger messages. For a large one, it is done
//! on another thread, so that it does not block the gateway.

use bytes::Bytes;
use tokio::task::coop::consume_budget;

use evermoor_core::protocol::envelope::{INVALID_REQUEST, InvalidMessage, Message};
use evermoor_core::protocol::json::Raw;

/// Parsing more than this takes too long. A task may parse a hundred messages before others run.
const LARGE: usize = 64 << 10;
/// Larger notifications of upstreams are dropped: they are read on their way to many editors, and nobody
/// needs them.
const LARGEST_NOTIFICATION: usize = 2 << 20;

/// Parses a message of an upstream.
pub(crate) async fn parse(text: &Bytes) -> Result<Message, InvalidMessage> {
    match parse_with(text, Message::parse).await? {
        Message::Notification(_) if text.len() > LARGEST_NOTIFICATION => Err(InvalidMessage {
            code: INVALID_REQUEST,
            why: "the notification is too large".into(),
            id: None,
        }),
        message @ (Message::Request(_) | Message::Notification(_) | Message::Response(_)) => {
            Ok(message)
        }
    }
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
    if !is_large(text.len()) {
        // Many small messages that have arrived already must not keep others waiting.
        consume_budget().await;
        return parse(text);
    }
    let text = text.clone();
    on_another_thread(move || parse(&text)).await
}

/// Whether work on this many bytes takes too long for the thread that serves everybody.
pub(crate) fn is_large(bytes: usize) -> bool {
    bytes > LARGE
}

/// Does work on a message of this many bytes.
pub(crate) async fn process<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    if is_large(bytes) { on_another_thread(work).await } else { work() }
}

async fn on_another_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is ending, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}
