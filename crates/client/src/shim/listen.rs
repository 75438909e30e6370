//! The stream on which the gateway speaks of its own accord, passed on to the editor.
//!
//! It is opened once the editor has introduced itself, and again whenever it ends, after the last
//! event that was heard: a gateway that was away tells what was missed.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use tokio::time::sleep;

use evermoor_core::protocol::envelope::Message;

use super::{PAUSE, SESSION, Shim};
use crate::http::HttpError;

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Listens for as long as the gateway offers something to listen to.
pub(super) async fn listen(shim: Arc<Shim>) {
    let mut last_event = None;
    loop {
        match hear(&shim, &mut last_event).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => {
                tracing::debug!(%error, "nothing is heard of the gateway");
                shim.attached.lost();
            }
        }
        sleep(PAUSE).await;
    }
}

/// Passes on one stream to its end. Says whether another one is worth opening.
async fn hear(shim: &Shim, last_event: &mut Option<String>) -> Result<bool, HttpError> {
    let gateway = shim.attached.gateway().await?;
    let session = shim.session.borrow().clone();
    let Some(session) = session else { return Ok(false) };
    let mut headers = vec![
        (http::header::ACCEPT, HeaderValue::from_static("text/event-stream")),
        (http::header::USER_AGENT, HeaderValue::from_static(super::AGENT)),
        (SESSION, session),
    ];
    let resumed = last_event.as_deref().and_then(|id| HeaderValue::from_str(id).ok());
    headers.extend(resumed.map(|id| (LAST_EVENT, id)));
    let answer = gateway.send(Method::GET, &shim.path, &headers, Bytes::new()).await?;
    match answer.status {
        status if status.is_success() => {}
        // Our own last stream is not quite gone yet.
        StatusCode::CONFLICT => return Ok(true),
        status => return Ok(status.is_server_error()),
    }
    let mut events = answer.events();
    while let Some(event) = events.next().await {
        *last_event = event.id.or(last_event.take());
        if let Ok(message) = Message::parse(&event.data) {
            shim.answer(&message).await;
        }
    }
    Ok(true)
}
