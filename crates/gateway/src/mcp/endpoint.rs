//! The state that all MCP transports share, and what they do alike: choosing the view, finding the
//! session, changing subscriptions, and keeping the list of connected clients.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::api::ClientTransport;
use evermoor_core::protocol::envelope::{Message, Request, Response};
use evermoor_core::protocol::mcp::{Implementation, STATELESS, header as mcp_header, meta, method};

use super::http_message::{Refused, wire};
use super::session::ActiveSession;
use super::session::subscriptions::SubscriptionRequest;
use super::session::table::Sessions;
use super::stateless::pending_input::PendingInput;
use super::tasks::finished::FinishedTasks;
use super::tasks::input_required::InputRequiredTasks;
use crate::editors::Editor;
use crate::mcp::predecessor_handle::Predecessor;
use crate::monitoring::activity::Activity;
use crate::monitoring::clients::{ClientKey, ClientStream, Clients};
use crate::routing::editor_view::NoView;
use crate::routing::router::{Router, View};
use crate::system::budget::Budgets;
use crate::system::idle_memory::IdleMemory;
use crate::upstream::notification_log::NotificationLog;
use crate::upstream::subscriptions::Subscriptions;

/// What every MCP transport needs to answer a message.
pub struct McpEndpoint {
    pub router: Router,
    pub sessions: Sessions,
    pub upstream_subscriptions: Subscriptions,
    pub notification_log: NotificationLog,
    /// The recent calls, for the control API.
    pub activity: Activity,
    /// The connected clients, for the control API.
    pub clients: Clients,
    /// Identifies this run of the gateway.
    pub instance_id: String,
    pub pending_input: PendingInput,
    pub finished: FinishedTasks,
    pub input_required_tasks: InputRequiredTasks,
    pub budgets: Budgets,
    pub memory: IdleMemory,
    /// Calls that continue when their client disconnects.
    pub tasks: TaskTracker,
    /// Cancelled when this gateway stops serving, because another one took over or it shuts down.
    pub moved: CancellationToken,
    /// Cancelled when shutdown no longer waits for calls in flight.
    pub abandon_calls: CancellationToken,
    /// The gateway that this one took over from, while it has calls in flight.
    pub predecessor: Predecessor,
}

impl McpEndpoint {
    /// The view that an editor asks for, if it may see it. Otherwise says why not.
    pub(super) fn view(&self, editor: &Editor, upstream: Option<&str>) -> Result<View, NoView> {
        match upstream {
            Some(name) => self.router.one(&editor.name, name),
            None => Ok(self.router.all(&editor.name)),
        }
    }

    /// The session named in the headers, if Evermoor issued it to this editor.
    pub(super) fn find_session(
        &self,
        editor: &Editor,
        headers: &HeaderMap,
    ) -> Result<Arc<ActiveSession>, Refused> {
        let Some(id) = headers.get(mcp_header::SESSION) else {
            let why =
                "The request has no session. Send `initialize` first, then its Mcp-Session-Id.";
            return Err((StatusCode::BAD_REQUEST, why));
        };
        let session = id.to_str().ok().and_then(|id| self.sessions.find(id, &editor.name));
        session.ok_or((StatusCode::NOT_FOUND, "Unknown session. Send `initialize` again."))
    }

    /// Applies a request that changes subscriptions, and stores the result.
    pub(crate) async fn update_subscriptions(
        &self,
        view: &View,
        session: &Arc<ActiveSession>,
        request: &Request,
    ) -> Response {
        let (router, upstream_subscriptions) = (&self.router, &self.upstream_subscriptions);
        let budget = &self.budgets.editor(&session.claims().editor);
        let changed =
            SubscriptionRequest { router, upstream_subscriptions, view, session, request, budget };
        let answer = changed.apply().await;
        self.sessions.keep(session);
        answer
    }

    /// Handles a notification or a response from a session.
    pub(crate) fn receive(&self, session: &ActiveSession, message: Message) {
        // A message that matches no call here may belong to a call of the predecessor.
        if let Some(message) = deliver_to_call(session, message)
            && !self.predecessor.tell(&self.sessions.id(session), &message)
        {
            tracing::debug!("dropped a message that belongs to no call");
        }
    }

    /// Handles such a message when the gateway that took over forwards it.
    pub fn receive_forwarded(&self, session: &str, message: &Bytes) {
        let Ok(message) = Message::parse(message) else { return };
        let undelivered = match self.sessions.active(session) {
            Some(session) => deliver_to_call(&session, message),
            None => Some(message),
        };
        if let Some(message) = undelivered {
            self.predecessor.tell(session, &message);
        }
    }

    /// Notes that a session sent a message.
    pub(super) fn client_seen(&self, session: &ActiveSession, wire: ClientTransport, view: &View) {
        self.clients.speaks(&ClientKey::Session(session.number), wire, view.one(), || {
            let claims = session.claims();
            (claims.editor, claims.client, claims.revision.as_str().to_owned())
        });
    }

    /// Notes that a session opened a stream, for as long as the result lives.
    pub(super) fn client_listens(&self, session: &ActiveSession) -> ClientStream {
        self.clients.listens(ClientKey::Session(session.number))
    }

    /// Notes that a session ended.
    pub(super) fn client_left(&self, session: &ActiveSession) {
        self.clients.leaves(&ClientKey::Session(session.number));
    }

    /// Notes that a client without a session sent a request.
    pub(super) fn stateless_client_seen(
        &self,
        editor: &Editor,
        request: &Request,
        headers: &HeaderMap,
        view: &View,
    ) -> ClientKey {
        let program = program(request);
        let who = ClientKey::Program {
            editor: editor.name.clone(),
            client: program.name.clone(),
            version: program.version.clone(),
        };
        self.clients.speaks(&who, wire(headers), view.one(), || {
            (editor.name.clone(), program, STATELESS.to_owned())
        });
        who
    }
}

/// Delivers a cancellation or a response to the call it belongs to. Returns the message if there is
/// no such call.
fn deliver_to_call(session: &ActiveSession, message: Message) -> Option<Message> {
    match message {
        Message::Notification(notification) if notification.method == method::CANCELLED => {
            (!session.cancel(&notification)).then_some(Message::Notification(notification))
        }
        // Upstreams are shared by several clients, so no other notification is passed on.
        Message::Notification(_) | Message::Request(_) => None,
        Message::Response(response) => session.answer(response).map(Message::Response),
    }
}

/// The client that a stateless request names in its `_meta`.
fn program(request: &Request) -> Implementation {
    let program = request.params.as_ref().and_then(|params| params.meta(meta::CLIENT));
    program.and_then(|raw| raw.read().ok()).unwrap_or_default()
}
