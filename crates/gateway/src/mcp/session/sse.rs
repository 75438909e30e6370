//! `/sse` and `/sse/<upstream>`: the HTTP+SSE transport of 2024-11-05.
//!
//! The stream's first event names the URL to post to, which identifies the session. Responses,
//! server requests and notifications all go back on the stream. An editor that does not read is
//! disconnected when too many messages are queued, and opens a new stream.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Extension, Path, Query, State};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use evermoor_core::api::ClientTransport;
use evermoor_core::protocol::envelope::{Message, Request, Response};
use evermoor_core::protocol::mcp::{Implementation, SessionVersion, method};
use evermoor_core::protocol::sse;
use evermoor_core::protocol::translate::client_capabilities::ClientCapabilities;
use evermoor_core::security::session_id::SessionClaims;

use super::ActiveSession;
use super::handler::{MessageSink, relay};
use super::stream::SessionFilter;
use super::subscriptions;
use super::table::Sessions;
use crate::editors::Editor;
use crate::mcp::dispatch::read_initialize;
use crate::mcp::endpoint::McpEndpoint;
use crate::mcp::event_stream;
use crate::mcp::event_stream::Events;
use crate::mcp::exchange::Exchange;
use crate::mcp::http_message::{check_json, json_with, refuse};
use crate::mcp::notifications::NotificationReader;
use crate::mcp::request_body::RequestBody;
use crate::monitoring::clients;
use crate::monitoring::clients::ClientKey;
use crate::routing::router::View;
use crate::system::budget::Budget;
use crate::system::message_parser;

/// How many messages may be queued before the editor is disconnected.
const MAX_QUEUED: usize = 1024;

/// The queue of messages for the stream.
#[derive(Clone)]
pub struct SseChannel {
    messages: mpsc::Sender<Bytes>,
    /// Cancelled to end the stream, and when it has ended.
    closed: CancellationToken,
    budget: Arc<Budget>,
}

impl MessageSink for SseChannel {
    fn write(&self, message: &Message) {
        let event = sse::write(Some("message"), None, &message.to_bytes());
        let charge = self.budget.charge_anyway(event.len());
        if self.messages.try_send(charge.keep(event).0).is_err() {
            self.closed.cancel();
        }
    }

    fn has_room(&self, bytes: usize) -> bool {
        self.budget.has_room(bytes)
    }

    async fn ready(&self) {
        // Calls share the stream, so the space may be taken again before the next write.
        let _ = self.closed.run_until_cancelled(self.messages.reserve()).await;
    }
}

/// Opens a stream, and a session with it.
pub async fn open(
    State(endpoint): State<Arc<McpEndpoint>>,
    Extension(editor): Extension<Editor>,
    upstream: Option<Path<String>>,
) -> HttpResponse {
    let path = upstream.as_ref().map(|Path(name)| format!("/{name}")).unwrap_or_default();
    let view = match endpoint.view(&editor, upstream.as_ref().map(|Path(name)| name.as_str())) {
        Ok(view) => view,
        Err(why) => return refuse(StatusCode::NOT_FOUND, &why.to_string()),
    };
    let Ok(nonce) = Sessions::nonce() else {
        return refuse(StatusCode::INTERNAL_SERVER_ERROR, "The system has no random numbers.");
    };
    let claims = SessionClaims {
        revision: SessionVersion::V2024_11_05,
        editor: editor.name.clone(),
        client: Implementation::default(),
        client_capabilities: ClientCapabilities::default(),
        nonce,
    };
    let (session, id) = endpoint.sessions.create(claims);
    let (messages, written) = mpsc::channel(MAX_QUEUED);
    let closed = CancellationToken::new();
    let budget = endpoint.budgets.editor(&editor.name);
    session.open(SseChannel { messages, closed: closed.clone(), budget });
    let address = format!("/messages{path}?session={id}");
    let first = Some(sse::write(Some("endpoint"), None, address.as_bytes()));
    endpoint.client_seen(&session, ClientTransport::Sse, &view);
    let listening = endpoint.client_listens(&session);
    let filter = SessionFilter { view, session: Arc::clone(&session) };
    let reader = NotificationReader::new(endpoint.notification_log.clone(), filter);
    let events = SseEvents {
        first,
        written,
        reader,
        closed,
        session,
        endpoint,
        draining: false,
        _listening: listening,
    };
    event_stream::response(events)
}

#[derive(Deserialize)]
pub struct Address {
    session: String,
}

/// Accepts a message. Its response goes to the stream.
pub async fn post(
    State(endpoint): State<Arc<McpEndpoint>>,
    Extension(editor): Extension<Editor>,
    upstream: Option<Path<String>>,
    address: Result<Query<Address>, QueryRejection>,
    headers: HeaderMap,
    RequestBody(body): RequestBody,
) -> HttpResponse {
    endpoint.memory.note_request();
    let view = match endpoint.view(&editor, upstream.as_ref().map(|Path(name)| name.as_str())) {
        Ok(view) => view,
        Err(why) => return refuse(StatusCode::NOT_FOUND, &why.to_string()),
    };
    if let Err((status, why)) = check_json(&headers) {
        return refuse(status, why);
    }
    let Ok(Query(address)) = address else {
        return refuse(StatusCode::BAD_REQUEST, "Post to the URL that the stream named.");
    };
    let session = endpoint.sessions.find(&address.session, &editor.name);
    let Some((session, channel)) =
        session.and_then(|session| session.channel().map(|one| (session, one)))
    else {
        return refuse(StatusCode::NOT_FOUND, "This session has ended. Open a new stream.");
    };
    let message = match message_parser::parse_from_editor(&body).await {
        Ok(message) => message,
        Err(rejected) => return json_with(StatusCode::BAD_REQUEST, &rejected.into()),
    };
    match message {
        Message::Request(request) => {
            let tasks = endpoint.tasks.clone();
            let view = view.with_names(session.names());
            tasks.spawn(answer(endpoint, view, session, editor, request, channel));
        }
        message @ (Message::Notification(_) | Message::Response(_)) => {
            endpoint.receive(&session, message);
        }
    }
    StatusCode::ACCEPTED.into_response()
}

async fn answer(
    endpoint: Arc<McpEndpoint>,
    view: View,
    session: Arc<ActiveSession>,
    editor: Editor,
    request: Request,
    channel: SseChannel,
) {
    if request.method == method::INITIALIZE {
        let response = match read_initialize(&request, &editor) {
            Ok(claims) => {
                let nonce = session.claims().nonce;
                let result =
                    endpoint.router.server_description(&view).await.handshake(claims.revision);
                let who = ClientKey::Session(session.number);
                endpoint.clients.introduced(&who, &claims.client, claims.revision.as_str());
                session.set_claims(SessionClaims { nonce, ..claims });
                Response::result(request.id, result)
            }
            Err(refusal) => refusal,
        };
        let response = match channel.has_room(response.outcome.payload().as_bytes().len()) {
            true => response,
            false => Response::error(response.id, -32603, "Read the messages, then send it again."),
        };
        return channel.write(&Message::Response(response));
    }
    if subscriptions::is_subscription_request(&request.method) {
        let response = endpoint.update_subscriptions(&view, &session, &request).await;
        return channel.write(&Message::Response(response));
    }
    let call = session.begin(request.id.clone());
    let exchange = Exchange::start(&endpoint, view, request, session.requester());
    let left = channel.closed.cancelled();
    relay(exchange, None, &session, call, left, &channel).await;
}

struct SseEvents {
    first: Option<Bytes>,
    written: mpsc::Receiver<Bytes>,
    reader: NotificationReader<SessionFilter>,
    closed: CancellationToken,
    session: Arc<ActiveSession>,
    endpoint: Arc<McpEndpoint>,
    /// Another gateway serves now: the stream ends once the outstanding responses are sent.
    draining: bool,
    _listening: clients::ClientStream,
}

impl Events for SseEvents {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            tokio::select! {
                biased;
                () = self.closed.cancelled() => return None,
                () = self.endpoint.moved.cancelled(), if !self.draining => {
                    self.draining = true;
                    self.session.close_channel();
                }
                message = self.written.recv() => return message,
                notification = self.reader.next(), if !self.draining => {
                    return Some(sse::write(Some("message"), None, &notification?.1.to_bytes()));
                }
            }
        }
    }
}

impl Drop for SseEvents {
    fn drop(&mut self) {
        // The session ends with its stream.
        self.closed.cancel();
        self.endpoint.sessions.leave(&self.session);
        self.endpoint.client_left(&self.session);
    }
}
