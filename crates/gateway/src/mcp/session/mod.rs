//! Editors' sessions, as far as they are more than their id says.
//!
//! An id carries what must be known of a session (see `evermoor_core::security::session_id`), so there is
//! nothing here that could not be made again: a session that is not in the table is put there when
//! its editor speaks. What an editor asked to hear of is also kept on the disk.

pub(crate) mod batch;
pub(crate) mod handler;
pub mod sse;
pub(crate) mod store;
pub mod stream;
pub(crate) mod subscriptions;
pub(crate) mod table;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use tokio_util::sync::CancellationToken;

use evermoor_core::protocol::envelope::{Id, Message, Notification, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::log_level::Level;
use evermoor_core::protocol::mcp::{Revision, method};
use evermoor_core::protocol::translate::client_meta::WhoAsks;
use evermoor_core::protocol::version::Spoken;
use evermoor_core::security::session_id::Session;

use super::exchange::Requester;
use super::exchange::transcript::Transcript;
use crate::upstream::{Owner, Question};
use sse::SseChannel;
use subscriptions::SessionSubscriptions;

/// A session whose editor has spoken since the gateway started.
pub struct ActiveSession {
    /// Tells sessions apart in this life of the gateway.
    pub number: u64,
    claims: RwLock<Session>,
    /// What cancels each call under way.
    calls: Mutex<HashMap<Id, CancellationToken>>,
    questions: Mutex<HashMap<Id, Question>>,
    /// Tells this life of the gateway from others, and with a number its questions.
    edition: Arc<str>,
    numbers: AtomicU64,
    /// It is of an earlier life and has not listened to the news since.
    missed: AtomicBool,
    pub(super) subscriptions: Mutex<SessionSubscriptions>,
    /// Closes the stream of news that is open.
    listening: Mutex<Option<CancellationToken>>,
    transcripts: Mutex<HashMap<u64, Arc<Transcript>>>,
    /// Where everything goes that is said to an editor of 2024-11-05.
    channel: Mutex<Option<SseChannel>>,
}

/// A call under way, forgotten when it is dropped.
pub struct CancellableCall {
    live: Arc<ActiveSession>,
    id: Id,
    pub cancelled: CancellationToken,
}

impl Drop for CancellableCall {
    fn drop(&mut self) {
        self.live.calls.lock().remove(&self.id);
    }
}

impl ActiveSession {
    pub fn new(
        number: u64,
        session: Session,
        subscriptions: SessionSubscriptions,
        edition: Arc<str>,
    ) -> Self {
        Self {
            number,
            claims: RwLock::new(session),
            calls: Mutex::default(),
            questions: Mutex::default(),
            edition,
            numbers: AtomicU64::new(1),
            missed: AtomicBool::new(false),
            subscriptions: Mutex::new(subscriptions),
            listening: Mutex::default(),
            transcripts: Mutex::default(),
            channel: Mutex::default(),
        }
    }

    /// What the editor said of itself.
    pub fn claims(&self) -> Session {
        self.claims.read().clone()
    }

    /// The editor introduced itself after the session was made.
    pub fn set_claims(&self, session: Session) {
        *self.claims.write() = session;
    }

    /// The session as an upstream may know it.
    pub fn requester(&self) -> Requester {
        let said = self.claims.read();
        let who_asks = WhoAsks::editor(&said.client, said.abilities);
        let who_asks = match self.level() {
            Some(level) => who_asks.hearing(level.as_str()),
            None => who_asks,
        };
        Requester {
            session: self.number,
            editor: said.editor.clone(),
            owner: self.owner(),
            spoken: Spoken::Session(said.revision),
            abilities: said.abilities,
            tasks: said.revision >= Revision::V2025_11_25,
            logs: false,
            who_asks: Some(who_asks),
            client: Some(said.client.name.clone()),
        }
    }

    /// The session as the owner of what it does not share.
    pub fn owner(&self) -> Owner {
        Owner::Session(self.number)
    }

    pub fn level(&self) -> Option<Level> {
        self.subscriptions.lock().level
    }

    /// Whether a log message is loud enough. An editor that set no level hears all that comes.
    pub fn wants_log(&self, logged: &Notification) -> bool {
        self.level().is_none_or(|level| level.hears(logged))
    }

    /// Notes a call, so that it can be cancelled.
    pub fn begin(self: &Arc<Self>, id: Id) -> CancellableCall {
        let cancelled = CancellationToken::new();
        self.calls.lock().insert(id.clone(), cancelled.clone());
        CancellableCall { live: Arc::clone(self), id, cancelled }
    }

    /// The editor does not want the answer any more. Says whether there was such a call.
    pub fn cancel(&self, cancelled: &Notification) -> bool {
        let named = cancelled.params.as_ref().and_then(|params| params.member("requestId"));
        let call = named.and_then(Id::from_raw).and_then(|id| self.calls.lock().remove(&id));
        call.inspect(CancellationToken::cancel).is_some()
    }

    /// The request by which the editor is asked, under an id of our own.
    pub fn ask(&self, question: Question) -> (Id, Message) {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed);
        let id = Id::text(&format!("evermoor-{}-{number}", self.edition));
        let mut request = question.request.clone();
        request.id = id.clone();
        self.questions.lock().insert(id.clone(), question);
        (id, Message::Request(request))
    }

    /// The editor answered a question. Gives the answer back if it is not to an open one.
    pub fn answer(&self, response: Response) -> Option<Response> {
        let question = response.id.as_ref().and_then(|id| self.questions.lock().remove(id));
        match question {
            Some(question) => question.answer(response.outcome),
            None => return Some(response),
        }
        None
    }

    /// The upstream took a question back: what the editor is told, if it still was open.
    pub fn withdraw(&self, id: &Id) -> Option<Message> {
        self.questions.lock().remove(id)?;
        let params = Raw::of(&serde_json::json!({ "requestId": id.raw() }));
        Some(Notification::new(method::CANCELLED, Some(params)).into())
    }

    /// Between the lives of the gateway there may have been news.
    pub fn set_missed_notifications(&self, missed: bool) {
        self.missed.store(missed, Ordering::Relaxed);
    }

    /// Whether it may have missed something, which is made up for now.
    pub fn take_missed_notifications(&self) -> bool {
        self.missed.swap(false, Ordering::Relaxed)
    }

    /// Takes the one place for a stream of news. An editor that says where it was takes it over
    /// from its own broken stream; another one does not.
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

    /// Nothing more is taken for the stream than what is under way.
    pub fn close_channel(&self) {
        self.channel.lock().take();
    }

    pub fn channel(&self) -> Option<SseChannel> {
        self.channel.lock().clone()
    }

    /// A new transcript in the session's care.
    pub fn add_transcript(&self, transcript: &Arc<Transcript>, stream: u64) {
        let mut transcripts = self.transcripts.lock();
        transcripts.retain(|_, transcript| !transcript.is_stale());
        transcripts.insert(stream, Arc::clone(transcript));
    }

    pub fn transcript(&self, stream: u64) -> Option<Arc<Transcript>> {
        self.transcripts.lock().get(&stream).cloned()
    }

    /// Whether nothing would be lost if it were made again from its id.
    pub fn is_idle(&self) -> bool {
        let listening = self.channel.lock().is_some()
            || self.listening.lock().as_ref().is_some_and(|open| !open.is_cancelled());
        !listening
            && self.calls.lock().is_empty()
            && self.questions.lock().is_empty()
            && self.transcripts.lock().values().all(|transcript| transcript.is_stale())
    }

    /// The editor wants nothing of it any more.
    pub fn end(&self) {
        for (_, call) in self.calls.lock().drain() {
            call.cancel();
        }
        self.leave();
    }

    /// The editor is gone. It has cancelled nothing by that; only it cannot be asked any more.
    pub fn leave(&self) {
        if let Some(open) = self.listening.lock().take() {
            open.cancel();
        }
        self.questions.lock().clear();
        self.channel.lock().take();
    }
}
