//! The state that all MCP transports share, and what they do alike: choosing the view, finding the
//! session, changing subscriptions, and keeping the list of connected clients.

use std::sync::Arc;

use axum::extract::Path;
use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::api::Wire;
use evermoor_core::protocol::envelope::{Message, Request, Response};
use evermoor_core::protocol::mcp::{Program, STATELESS, header as mcp_header, meta, method};

use super::http_message::{Refused, wire};
use super::session::ActiveSession;
use super::session::subscriptions::SubscriptionRequest;
use super::session::table::Sessions;
use super::stateless::pending_input::Continuations;
use super::tasks::finished::Finished;
use super::tasks::input_required::Parked;
use crate::editors::Editor;
use crate::lifecycle::predecessor::Predecessor;
use crate::monitoring::activity::Activity;
use crate::monitoring::clients::{Attendance, Stream, Who};
use crate::routing::router::{Router, View};
use crate::upstream::notification_log::Newsroom;
use crate::upstream::subscriptions::Interests;

/// What the endpoint needs to answer.
pub struct Endpoint {
    pub router: Router,
    pub sessions: Sessions,
    pub interests: Interests,
    pub news: Newsroom,
    /// The calls that are answered here.
    pub activity: Activity,
    /// Those who are here.
    pub attendance: Attendance,
    /// Tells this life of the gateway from others.
    pub edition: String,
    pub continuations: Continuations,
    pub finished: Finished,
    pub parked: Parked,
    /// Calls that go on whoever listens.
    pub tasks: TaskTracker,
    /// Cancelled when another gateway serves, or none.
    pub moved: CancellationToken,
    /// Cancelled when calls under way are not waited for any longer.
    pub given_up: CancellationToken,
    /// The gateway that this one took over from, while it has calls under way.
    pub predecessor: Predecessor,
}

/// The largest message an editor may send.
pub const LARGEST_REQUEST: usize = 4 << 20;

impl Endpoint {
    /// What the editor wants to see, and may.
    pub(super) fn view(
        &self,
        editor: &Editor,
        upstream: Option<Path<String>>,
    ) -> Result<View, String> {
        match upstream {
            Some(Path(name)) => self.router.one(&editor.name, &name),
            None => Ok(self.router.all(&editor.name)),
        }
    }

    /// The session that a message belongs to: one that this installation gave to this editor.
    pub(super) fn find_session(
        &self,
        editor: &Editor,
        headers: &HeaderMap,
    ) -> Result<Arc<ActiveSession>, Refused> {
        let Some(id) = headers.get(mcp_header::SESSION) else {
            let why = "There is no session yet. Send `initialize` first, then its Mcp-Session-Id.";
            return Err((StatusCode::BAD_REQUEST, why));
        };
        let live = id.to_str().ok().and_then(|id| self.sessions.find(id, &editor.name));
        live.ok_or((StatusCode::NOT_FOUND, "This session is not known. Send `initialize` again."))
    }

    /// Grants a wish and keeps it.
    pub(crate) async fn update_subscriptions(
        &self,
        view: &View,
        live: &Arc<ActiveSession>,
        request: &Request,
    ) -> Response {
        let (router, interests) = (&self.router, &self.interests);
        let answer = SubscriptionRequest { router, interests, view, live, request }.apply().await;
        self.sessions.keep(live);
        answer
    }

    /// Takes a message of a session that wants no answer.
    pub(crate) fn receive(&self, live: &ActiveSession, message: Message) {
        // What is not about a call of ours may be about one of the gateway before us.
        if let Some(message) = deliver_to_call(live, message)
            && !self.predecessor.tell(&self.sessions.id(live), &message)
        {
            tracing::debug!("a message about nothing that is under way was dropped");
        }
    }

    /// Takes such a message from the gateway that has taken over.
    pub fn overhear(&self, session: &str, message: &Bytes) {
        let Ok(message) = Message::parse(message) else { return };
        let undelivered = match self.sessions.active(session) {
            Some(live) => deliver_to_call(&live, message),
            None => Some(message),
        };
        if let Some(message) = undelivered {
            self.predecessor.tell(session, &message);
        }
    }

    /// A session speaks.
    pub(super) fn client_seen(&self, live: &ActiveSession, wire: Wire, view: &View) {
        self.attendance.speaks(&Who::Session(live.number), wire, view.one(), || {
            let said = live.claims();
            (said.editor, said.client, said.revision.as_str().to_owned())
        });
    }

    /// A session listens.
    pub(super) fn client_listens(&self, live: &ActiveSession) -> Stream {
        self.attendance.listens(Who::Session(live.number))
    }

    /// A session is over.
    pub(super) fn client_left(&self, live: &ActiveSession) {
        self.attendance.leaves(&Who::Session(live.number));
    }

    /// A program without a session speaks.
    pub(super) fn stateless_client_seen(
        &self,
        editor: &Editor,
        request: &Request,
        headers: &HeaderMap,
        view: &View,
    ) -> Who {
        let program = program(request);
        let who = Who::Program {
            editor: editor.name.clone(),
            client: program.name.clone(),
            version: program.version.clone(),
        };
        self.attendance.speaks(&who, wire(headers), view.one(), || {
            (editor.name.clone(), program, STATELESS.to_owned())
        });
        who
    }
}

/// What an editor says about a call of ours. Gives it back if there is no such call.
fn deliver_to_call(live: &ActiveSession, message: Message) -> Option<Message> {
    match message {
        Message::Notification(told) if told.method == method::CANCELLED => {
            (!live.cancel(&told)).then_some(Message::Notification(told))
        }
        // Nothing else that an editor tells is for upstreams that serve others too.
        Message::Notification(_) | Message::Request(_) => None,
        Message::Response(response) => live.answer(response).map(Message::Response),
    }
}

/// What a request that speaks for itself says of the program that makes it.
fn program(request: &Request) -> Program {
    let said = request.params.as_ref().and_then(|params| params.member("_meta"));
    let program = said.and_then(|said| said.member(meta::CLIENT));
    program.and_then(|raw| raw.read().ok()).unwrap_or_default()
}
