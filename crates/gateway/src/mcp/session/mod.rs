//! Editors with a session: protocol versions 2024-11-05 to 2025-11-25.
//!
//! A session id is signed and contains what the gateway must know about the session (see
//! `evermoor_core::security::session_id`), so a session survives a restart: it is added to the
//! table again when its editor sends the next message. Only its subscriptions are also stored on
//! disk.
//!
//! # Layout
//! - `handler`: requests; `batch`: several messages in one body
//! - [`stream`]: the notification stream, and resuming streams; [`sse`]: the HTTP+SSE transport
//! - `subscriptions`: what a session subscribed to; `subscription_limits`: how much that may be; `store`:
//!   the same on disk
//! - `table`: all sessions
//!
//! Uses `mcp::exchange` and `mcp::notifications`; only `mcp` and the HTTP routes depend on it.

pub(crate) mod batch;
pub(crate) mod handler;
pub mod sse;
pub(crate) mod store;
pub mod stream;
pub(crate) mod subscription_limits;
pub(crate) mod subscriptions;
pub(crate) mod table;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use evermoor_core::catalog::naming::{NameStyle, UpstreamName};
use evermoor_core::protocol::envelope::{Id, Message, Notification, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::log_level::LoggingLevel;
use evermoor_core::protocol::mcp::{SessionVersion, method};
use evermoor_core::protocol::translate::client_meta::ClientMeta;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_core::security::session_id::SessionClaims;
use evermoor_setup::names_for;

use super::exchange::Requester;
use super::exchange::transcript::Transcript;
use crate::system::budget::{Budget, Charge};
use crate::upstream::{ScopeOwner, ServerRequest};
use sse::SseChannel;
use subscription_limits::ExcessiveSubscription;
use subscriptions::SessionSubscriptions;

/// A session whose editor has sent a message since the gateway started.
pub struct ActiveSession {
    /// Identifies the session within this run of the gateway.
    pub number: u64,
    /// When it was opened, or its editor came back to this gateway.
    since: Instant,
    claims: RwLock<SessionClaims>,
    /// What a stateless upstream is told about the client.
    client_meta: RwLock<Arc<ClientMeta>>,
    /// Cancels each call in flight.
    calls: Mutex<HashMap<Id, CancellationToken>>,
    questions: Mutex<HashMap<Id, ServerRequest>>,
    /// Identifies this run of the gateway; the ids of server requests contain it.
    instance_id: Arc<str>,
    numbers: AtomicU64,
    /// The session is older than this gateway, and its editor has not opened a notification stream
    /// since.
    missed: AtomicBool,
    pub(super) subscriptions: Mutex<SessionSubscriptions>,
    /// What its editor is charged for them.
    subscriptions_charge: Mutex<Option<Charge>>,
    /// Closes the open notification stream.
    listening: Mutex<Option<CancellationToken>>,
    transcripts: Mutex<HashMap<u64, Arc<Transcript>>>,
    /// Where messages go for an editor that uses HTTP+SSE.
    channel: Mutex<Option<SseChannel>>,
}

/// A call that the editor can cancel. Dropping it removes it from the session.
pub struct CancellableCall {
    session: Arc<ActiveSession>,
    id: Id,
    pub cancelled: CancellationToken,
}

impl Drop for CancellableCall {
    fn drop(&mut self) {
        self.session.calls.lock().remove(&self.id);
    }
}

impl ActiveSession {
    pub fn new(
        number: u64,
        claims: SessionClaims,
        subscriptions: SessionSubscriptions,
        instance_id: Arc<str>,
    ) -> Self {
        Self {
            number,
            since: Instant::now(),
            client_meta: RwLock::new(client_meta(&claims)),
            claims: RwLock::new(claims),
            calls: Mutex::default(),
            questions: Mutex::default(),
            instance_id,
            numbers: AtomicU64::new(1),
            missed: AtomicBool::new(false),
            subscriptions: Mutex::new(subscriptions),
            subscriptions_charge: Mutex::default(),
            listening: Mutex::default(),
            transcripts: Mutex::default(),
            channel: Mutex::default(),
        }
    }

    /// Whether the session belongs to this editor.
    pub fn is_of(&self, editor: &str) -> bool {
        self.claims.read().editor == editor
    }

    /// What merged names look like to its client.
    pub fn names(&self) -> NameStyle {
        let claims = self.claims.read();
        names_for(&claims.editor, &claims.client.name)
    }

    /// What the session id says.
    pub fn claims(&self) -> SessionClaims {
        self.claims.read().clone()
    }

    /// Sets what a later `initialize` says; an HTTP+SSE session exists before that.
    pub fn set_claims(&self, claims: SessionClaims) {
        *self.client_meta.write() = client_meta(&claims);
        *self.claims.write() = claims;
    }

    /// The session as the maker of a request.
    pub fn requester(&self) -> Requester {
        let claims = self.claims.read();
        let client_meta = Arc::clone(&self.client_meta.read());
        let client_meta = match self.level() {
            Some(level) => Arc::new((*client_meta).clone().with_log_level(level.as_str())),
            None => client_meta,
        };
        Requester {
            session: self.number,
            editor: claims.editor.clone(),
            owner: self.owner(),
            protocol_version: ProtocolVersion::Session(claims.revision),
            client_capabilities: claims.client_capabilities,
            tasks: claims.revision >= SessionVersion::V2025_11_25,
            logs: false,
            client_meta: Some(client_meta),
            client: Some(claims.client.name.clone()),
            since: self.since,
        }
    }

    /// The session as the owner of upstream connections that it does not share.
    pub fn owner(&self) -> ScopeOwner {
        ScopeOwner::Session(self.number)
    }

    pub fn level(&self) -> Option<LoggingLevel> {
        self.subscriptions.lock().level
    }

    /// Whether a log message passes the session's level. Without a level, every message does.
    pub fn wants_log(&self, logged: &Notification) -> bool {
        self.level().is_none_or(|level| level.passes(logged))
    }

    /// Adds a subscription, if its editor has room for it.
    pub(crate) fn add_subscription(
        &self,
        upstream: &UpstreamName,
        uri: &str,
        budget: &Arc<Budget>,
    ) -> Result<(), ExcessiveSubscription> {
        self.subscriptions.lock().add(upstream, uri)?;
        self.charge_subscriptions(budget)
            .inspect_err(|_| self.remove_subscription(upstream, uri, budget))
    }

    pub(crate) fn remove_subscription(
        &self,
        upstream: &UpstreamName,
        uri: &str,
        budget: &Arc<Budget>,
    ) {
        self.subscriptions.lock().resources.remove(&(upstream.clone(), uri.to_owned()));
        // What is charged for more subscriptions covers fewer.
        let _ = self.charge_subscriptions(budget);
    }

    fn charge_subscriptions(&self, budget: &Arc<Budget>) -> Result<(), ExcessiveSubscription> {
        let charged = subscription_limits::charge(budget, self.subscriptions.lock().uris())?;
        *self.subscriptions_charge.lock() = Some(charged);
        Ok(())
    }

    /// Registers a call so that the editor can cancel it.
    pub fn begin(self: &Arc<Self>, id: Id) -> CancellableCall {
        let cancelled = CancellationToken::new();
        self.calls.lock().insert(id.clone(), cancelled.clone());
        CancellableCall { session: Arc::clone(self), id, cancelled }
    }

    /// Cancels a call. Returns whether it was in flight.
    pub fn cancel(&self, cancelled: &Notification) -> bool {
        let named = cancelled.params.as_ref().and_then(|params| params.member("requestId"));
        let call = named.and_then(Id::from_raw).and_then(|id| self.calls.lock().remove(&id));
        call.inspect(CancellationToken::cancel).is_some()
    }

    /// Sends a server request to the editor, under an id of the gateway.
    pub fn ask(&self, question: ServerRequest) -> (Id, Message) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let id = Id::text(&format!("evermoor-{}-{number}", self.instance_id));
        let mut request = question.request.clone();
        request.id = id.clone();
        self.questions.lock().insert(id.clone(), question);
        (id, Message::Request(request))
    }

    /// Delivers the editor's answer to a server request. Returns it if no such request is open.
    pub fn answer(&self, response: Response) -> Option<Response> {
        let question = response.id.as_ref().and_then(|id| self.questions.lock().remove(id));
        match question {
            Some(question) => question.answer(response.outcome),
            None => return Some(response),
        }
        None
    }

    /// Withdraws a server request. Returns the notification for the editor if the request was still
    /// open.
    pub fn withdraw(&self, id: &Id) -> Option<Message> {
        self.questions.lock().remove(id)?;
        let params = Raw::of(&serde_json::json!({ "requestId": id.raw() }));
        Some(Notification::new(method::CANCELLED, Some(params)).into())
    }

    /// Notes that notifications may have been missed while no gateway was running.
    pub fn set_missed_notifications(&self, missed: bool) {
        self.missed.store(missed, Ordering::Relaxed);
    }

    /// Whether notifications may have been missed; resets the flag.
    pub fn take_missed_notifications(&self) -> bool {
        self.missed.swap(false, Ordering::Relaxed)
    }

    /// Takes the session's only notification stream. A client that resumes replaces its own broken
    /// stream; any other client is refused.
    pub fn listen(&self, resumes: bool) -> Option<CancellationToken> {
        let mut listening = self.listening.lock();
        match listening.as_ref() {
            Some(open) if !open.is_cancelled() && !resumes => return None,
            Some(open) => open.cancel(),
            None => {}
        }
        let own = CancellationToken::new();
        *listening = Some(own.clone());
        Some(own)
    }

    pub fn open(&self, channel: SseChannel) {
        *self.channel.lock() = Some(channel);
    }

    /// Accepts no more messages for the stream; calls in flight still finish on it.
    pub fn close_channel(&self) {
        self.channel.lock().take();
    }

    pub fn channel(&self) -> Option<SseChannel> {
        self.channel.lock().clone()
    }

    /// Keeps a transcript so that it can be resumed.
    pub fn add_transcript(&self, transcript: &Arc<Transcript>, stream: u64) {
        let mut transcripts = self.transcripts.lock();
        transcripts.retain(|_, transcript| !transcript.is_stale());
        transcripts.insert(stream, Arc::clone(transcript));
    }

    pub fn transcript(&self, stream: u64) -> Option<Arc<Transcript>> {
        self.transcripts.lock().get(&stream).cloned()
    }

    /// Whether the session can be dropped and later rebuilt from its id without losing anything.
    pub fn is_idle(&self) -> bool {
        let listening = self.channel.lock().is_some()
            || self.listening.lock().as_ref().is_some_and(|open| !open.is_cancelled());
        !listening
            && self.calls.lock().is_empty()
            && self.questions.lock().is_empty()
            && self.transcripts.lock().values().all(|transcript| transcript.is_stale())
    }

    /// The editor ended the session: its calls are cancelled.
    pub fn end(&self) {
        for (_, call) in self.calls.lock().drain() {
            call.cancel();
        }
        self.leave();
    }

    /// The editor is gone. Its calls continue, but it can no longer be asked anything.
    pub fn leave(&self) {
        if let Some(open) = self.listening.lock().take() {
            open.cancel();
        }
        self.questions.lock().clear();
        self.channel.lock().take();
    }
}

fn client_meta(claims: &SessionClaims) -> Arc<ClientMeta> {
    Arc::new(ClientMeta::editor(&claims.client, claims.client_capabilities))
}
