//! Relays the gateway's GET stream (server-initiated messages) to the editor.
//!
//! The stream is opened once the editor has sent `notifications/initialized`. Whenever it ends, it
//! is opened again with the id of the last event received, so that the gateway replays what the
//! editor missed. A gateway that the user has stopped is started again by a call of the editor, not by this.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use tokio::time::sleep;

use evermoor_core::protocol::envelope::Message;

use super::{RETRY_INTERVAL, SESSION, Shim};
use crate::http::HttpError;

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Keeps the stream open for as long as the gateway offers one.
pub(super) async fn listen(shim: Arc<Shim>) {
    let mut last_event = None;
    loop {
        match relay_stream(&shim, &mut last_event).await {
            Ok(true) => shim.attachment.stream_ended(),
            Ok(false) => return,
            Err(error) => {
                tracing::debug!(%error, "the GET stream failed");
                shim.attachment.lost();
            }
        }
        sleep(RETRY_INTERVAL).await;
        shim.attachment.until_wanted().await;
    }
}

/// Relays one stream until it ends. Returns whether to open another one.
async fn relay_stream(shim: &Shim, last_event: &mut Option<Arc<str>>) -> Result<bool, HttpError> {
    let session = shim.session.borrow().clone();
    let Some(session) = session else { return Ok(false) };
    let mut headers = vec![(SESSION, session)];
    let resumed = last_event.as_deref().and_then(|id| HeaderValue::from_str(id).ok());
    headers.extend(resumed.map(|id| (LAST_EVENT, id)));
    let answer = shim.attachment.send(Method::GET, &headers, Bytes::new()).await?;
    match answer.status {
        status if status.is_success() => {}
        // The gateway has not noticed yet that our last stream ended.
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
