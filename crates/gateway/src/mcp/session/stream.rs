//! The notification stream of a session, and resuming streams that broke.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, Path, State};
use axum::response::Response as HttpResponse;
use http::{HeaderMap, StatusCode};
use tokio_util::sync::{CancellationToken, DropGuard};

use evermoor_core::failure::outcome::{DeliveryStatus, Unknown};
use evermoor_core::protocol::envelope::Notification;
use evermoor_core::protocol::event_id::{CallRef, EventId};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{header as mcp_header, method};
use evermoor_core::protocol::sse;
use evermoor_platform::clock;

use super::ActiveSession;
use crate::editors::Editor;
use crate::mcp::dispatch::method_not_allowed;
use crate::mcp::endpoint::McpEndpoint;
use crate::mcp::event_stream;
use crate::mcp::event_stream::Events;
use crate::mcp::exchange::unfinished;
use crate::mcp::http_message::wire;
use crate::mcp::http_message::{refuse, takes, value};
use crate::mcp::notifications::{
    NotificationFilter, NotificationReader, every_list_changed, updated_resource,
};
use crate::monitoring::clients::ClientStream;
use crate::routing::router::View;
use crate::upstream::notification_log::LoggedNotification;

/// Opens the notification stream, or resumes a stream that broke.
pub async fn get(
    State(endpoint): State<Arc<McpEndpoint>>,
    Extension(editor): Extension<Editor>,
    upstream: Option<Path<String>>,
    headers: HeaderMap,
) -> HttpResponse {
    let view = match endpoint.view(&editor, upstream.as_ref().map(|Path(name)| name.as_str())) {
        Ok(view) => view,
        Err(why) => return refuse(StatusCode::NOT_FOUND, &why.to_string()),
    };
    if !headers.contains_key(mcp_header::SESSION) {
        return method_not_allowed().await;
    }
    if !takes(&headers, "text/event-stream") {
        return refuse(StatusCode::NOT_ACCEPTABLE, "Send `Accept: text/event-stream`.");
    }
    let session = match endpoint.find_session(&editor, &headers) {
        Ok(session) => session,
        Err((status, why)) => return refuse(status, why),
    };
    endpoint.client_seen(&session, wire(&headers), &view);
    match value(&headers, "last-event-id").map(EventId::parse) {
        Some(Some(EventId::Call { instance_id, stream, event, call })) => {
            let transcript =
                session.transcript(stream).filter(|_| instance_id == endpoint.instance_id);
            match transcript {
                Some(transcript) if transcript.is_dropped() => {
                    event_stream::response(SingleEvent(Some(dropped_call_event(&call))))
                }
                Some(transcript) => event_stream::transcript(None, transcript.reader(event)),
                None => event_stream::response(SingleEvent(Some(lost_call_event(&call)))),
            }
        }
        Some(Some(EventId::Notification { instance_id, number })) => {
            let at = (instance_id == endpoint.instance_id).then_some(number);
            open_notifications(&endpoint, view, &session, Some(at))
        }
        Some(None) => open_notifications(&endpoint, view, &session, Some(None)),
        None => {
            // An editor that has received no event has no id to resume from, and may still have
            // missed some.
            let resume = session.take_missed_notifications().then_some(None);
            open_notifications(&endpoint, view, &session, resume)
        }
    }
}

fn open_notifications(
    endpoint: &McpEndpoint,
    view: View,
    session: &Arc<ActiveSession>,
    resume: Option<Option<u64>>,
) -> HttpResponse {
    let Some(closed) = session.listen(resume.is_some()) else {
        return refuse(StatusCode::CONFLICT, "This session already has an open stream.");
    };
    let (filter, log) =
        (SessionFilter { view, session: Arc::clone(session) }, endpoint.notification_log.clone());
    let reader = match resume {
        Some(at) => NotificationReader::resume(log, filter, at),
        None => NotificationReader::new(log, filter),
    };
    let slot = closed.clone().drop_guard();
    let instance_id = endpoint.instance_id.clone();
    let listening = endpoint.client_listens(session);
    let events =
        NotificationEvents { reader, instance_id, closed, _slot: slot, _listening: listening };
    event_stream::until_moved(events, endpoint.moved.clone())
}

/// What a session receives: changes to lists that it sees and to resources that it subscribed to,
/// and log messages at its level.
pub(crate) struct SessionFilter {
    pub(crate) view: View,
    pub(crate) session: Arc<ActiveSession>,
}

impl NotificationFilter for SessionFilter {
    fn accepts(&self, published: &LoggedNotification) -> bool {
        if !self.view.accepts(published) || !published.scope.is_for(&self.session.owner()) {
            return false;
        }
        match published.notification.method.as_str() {
            method::LOG => self.session.wants_log(&published.notification),
            method::RESOURCE_UPDATED => {
                updated_resource(&published.notification).is_some_and(|uri| {
                    self.session
                        .subscriptions
                        .lock()
                        .resources
                        .contains(&(published.scope.upstream.clone(), uri))
                })
            }
            _ => true,
        }
    }

    fn resync(&self) -> Vec<Notification> {
        let mut all = every_list_changed();
        all.extend(self.session.subscriptions.lock().resources.iter().map(|(_, uri)| {
            let params = Raw::of(&serde_json::json!({ "uri": uri }));
            Notification::new(method::RESOURCE_UPDATED, Some(params))
        }));
        all
    }
}

struct NotificationEvents {
    reader: NotificationReader<SessionFilter>,
    instance_id: String,
    closed: CancellationToken,
    _slot: DropGuard,
    _listening: ClientStream,
}

impl Events for NotificationEvents {
    async fn next(&mut self) -> Option<Bytes> {
        let (number, notification) = tokio::select! {
            () = self.closed.cancelled() => return None,
            notification = self.reader.next() => notification?,
        };
        let id =
            EventId::Notification { instance_id: self.instance_id.clone(), number }.to_string();
        Some(sse::write(None, Some(&id), &notification.to_bytes()))
    }
}

/// A stream with one event.
struct SingleEvent(Option<Bytes>);

impl Events for SingleEvent {
    async fn next(&mut self) -> Option<Bytes> {
        self.0.take()
    }
}

/// The answer to a call of which only the event id is known.
fn lost_call_event(call: &CallRef) -> Bytes {
    let fate = DeliveryStatus::Unknown(Unknown::GatewayRestarted, clock::now());
    let detail = "Evermoor restarted before the answer arrived";
    sse::write(None, None, &unfinished::answer(call, fate, detail).response.to_bytes())
}

/// The answer to a call whose transcript was dropped.
fn dropped_call_event(call: &CallRef) -> Bytes {
    let fate = DeliveryStatus::Unknown(Unknown::ReplyTooLarge, clock::now());
    let detail = "its answer was kept until other answers needed the room";
    sse::write(None, None, &unfinished::answer(call, fate, detail).response.to_bytes())
}
