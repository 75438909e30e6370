//! One request of an editor, from its arrival to its answer, with all that is said in between.
//!
//! # Theory of operation
//! A request is answered by the gateway itself or by one upstream. Until the answer comes, there
//! may be messages about it, and questions of the upstream to the editor. A newer upstream does
//! not ask while it works: it answers that it needs input and expects the same call again with
//! that input. For an editor that does not know this, the exchange asks the questions and makes
//! the second call, so that the editor sees one long call. Dropping the exchange cancels it. When the
//! gateway ends and does not wait any longer, the exchange answers with what is known of the call.

pub(crate) mod abandoned;
mod input_batch;
pub(crate) mod input_rounds;
mod requester;
mod stage;
pub(crate) mod transcript;
mod translation;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use evermoor_core::failure::outcome::{Fate, NotSent, Unknown};
use evermoor_core::protocol::envelope::{Message, Notification, Request, Response};
use evermoor_core::protocol::event_id::Call;
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::Revision;
use evermoor_core::protocol::stateless::header_text;
use evermoor_core::protocol::translate::param_headers::mirrored;
use evermoor_core::protocol::version::Spoken;

use super::endpoint::Endpoint;
use crate::monitoring::activity::Record;
use crate::routing::router::{Addressee, View};
use crate::routing::view::{Scope, Sieve};
use crate::upstream::{Caller, Handle, Owner, Question, Reply};
use input_batch::Together;
use input_rounds::Gathered;
pub use requester::Asker;
use stage::{Stage, Step, advance};
use translation::{Bridge, Settled};

/// A request under way.
pub struct Exchange {
    stage: Stage,
    /// Between the editor's revision and the upstream's.
    bridge: Bridge,
    given_up: CancellationToken,
    asked: mpsc::Receiver<Question>,
    /// Log messages that an editor without sessions hears on its call alone.
    logged: Option<mpsc::Receiver<Notification>>,
    caller: Caller,
    /// What the editor is still to be asked.
    questions: VecDeque<Question>,
    together: Together,
    owner: Owner,
    /// The upstream that answers, once it is known, with the request in its words.
    upstream: Option<(Handle, Request)>,
    /// What the answer must go through before the editor sees it.
    sieve: Option<Sieve>,
    /// What people will be shown of it.
    record: Record,
}

/// What comes next.
pub enum Part {
    /// A message about the request; a response is the last one.
    Message(Message),
    /// The upstream wants something of the editor.
    Question(Question),
}

const NOT_OFFERED: &str = "The editor at hand does not offer this.";
/// How many questions of an upstream wait for the editor at a time.
const MOST_QUESTIONS: usize = 16;
/// How many log messages wait for the editor at a time.
const MOST_LOGGED: usize = 64;

impl Exchange {
    /// A request that somebody must be found for.
    pub fn start(endpoint: &Endpoint, view: View, request: Request, asker: Asker) -> Self {
        let router = endpoint.router.clone();
        let mut exchange = Self::at(endpoint, &view, &request, asker);
        exchange.stage = match exchange.bridge.own_answer(&request) {
            Some(response) => Stage::Asking(std::future::ready(Reply::Whole(response)).boxed()),
            None => {
                let finding = async move { router.addressee(&view, &request).await };
                Stage::Finding(finding.boxed())
            }
        };
        exchange
    }

    /// A request whose addressee is known.
    pub fn with(
        endpoint: &Endpoint,
        addressee: Addressee,
        view: &View,
        request: &Request,
        asker: Asker,
    ) -> Self {
        let mut exchange = Self::at(endpoint, view, request, asker);
        exchange.address(addressee);
        exchange
    }

    fn at(endpoint: &Endpoint, view: &View, request: &Request, asker: Asker) -> Self {
        let call = Call::of(request);
        let record = asker.record(endpoint, view, request, &call);
        let (questions, asked) = mpsc::channel(MOST_QUESTIONS);
        let (log, logged) = asker.logs.then(|| mpsc::channel(MOST_LOGGED)).unzip();
        let caller = Caller {
            session: asker.session,
            who_asks: asker.who_asks,
            questions,
            logs: log,
            headers: Vec::new(),
            journey: Arc::default(),
        };
        let bridge = Bridge::new(
            (asker.spoken, asker.editor),
            asker.abilities,
            asker.tasks,
            matches!(view.scope, Scope::All),
            endpoint.finished.clone(),
            (request.method.clone(), call),
        );
        Self {
            stage: Stage::Over,
            bridge,
            given_up: endpoint.given_up.clone(),
            asked,
            logged,
            caller,
            questions: VecDeque::new(),
            together: Together::default(),
            owner: asker.owner,
            upstream: None,
            sieve: view.sieve(request),
            record,
        }
    }

    /// What it is about.
    pub fn about(&self) -> &Call {
        &self.bridge.call
    }

    /// What the editor is told of a task that waits for it, if this is asked about one.
    pub fn waiting_task(&self, needed: &Raw) -> Option<(Raw, Raw)> {
        let errand = self.bridge.errand()?;
        Some((errand.id().clone(), errand.waiting(needed)?))
    }

    /// Whether the upstream that answers speaks the newer revision.
    pub fn is_newer(&self) -> bool {
        self.upstream.as_ref().is_some_and(|(upstream, _)| upstream.spoken().is_stateless())
    }

    /// Whether an upstream may have the call by now.
    pub fn was_sent(&self) -> bool {
        self.caller.was_sent()
    }

    /// The next part; `None` after the answer. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<Part> {
        match self.together.early() {
            Some(part) => Some(part),
            None => self.arriving().await,
        }
    }

    async fn arriving(&mut self) -> Option<Part> {
        loop {
            if let Some(question) = self.questions.pop_front() {
                if self.gathers() || self.bridge.abilities.can_answer(&question.request) {
                    return Some(Part::Question(question));
                }
                question.turn_away(NOT_OFFERED);
                continue;
            }
            tokio::select! {
                biased;
                () = self.given_up.cancelled(), if !matches!(self.stage, Stage::Over) => {
                    self.stage = Stage::Over;
                    return Some(self.last(self.given_up()));
                }
                Some(question) = self.asked.recv() => self.questions.push_back(question),
                Some(told) = heard(&mut self.logged) => {
                    return Some(Part::Message(Message::Notification(told)));
                }
                step = advance(&mut self.stage) => match step {
                    Step::Found(addressee) => self.address(addressee),
                    Step::Replied(Reply::Whole(response)) => {
                        if let Some(response) = self.settle(response) {
                            return Some(self.last(response));
                        }
                    }
                    Step::Replied(Reply::Stream(messages)) => self.stage = Stage::Hearing(Box::new(messages)),
                    Step::Heard(Some(Message::Response(response))) => {
                        if let Some(response) = self.settle(response) {
                            return Some(self.last(response));
                        }
                    }
                    Step::Heard(Some(message)) => return Some(Part::Message(message)),
                    Step::Gathered(Gathered::Ask(request)) => self.call(request),
                    Step::Gathered(Gathered::Refused(why)) => {
                        self.stage = Stage::Over;
                        let unfinished = self.bridge.unfinished(&why);
                        return Some(self.last(unfinished));
                    }
                    Step::Heard(None) | Step::Over => {
                        self.stage = Stage::Over;
                        return None;
                    }
                },
            }
        }
    }

    /// The answer, after which there is nothing.
    fn last(&mut self, response: Response) -> Part {
        self.record.close(&response, self.caller.held());
        Part::Message(Message::Response(response))
    }

    /// What is known of a call that is not waited for any longer.
    fn given_up(&self) -> Response {
        let detail = "Evermoor was stopped before the answer came";
        let fate = match self.was_sent() {
            true => Fate::Unknown(Unknown::GatewayRestarted, SystemTime::now()),
            false => Fate::NotSent(NotSent::ShuttingDown),
        };
        abandoned::answer(self.about(), fate, detail)
    }

    fn address(&mut self, addressee: Addressee) {
        match addressee {
            Addressee::Gateway(response) => {
                self.stage = Stage::Asking(std::future::ready(Reply::Whole(response)).boxed());
            }
            Addressee::Upstream(upstream, request) => {
                let upstream = upstream.used_by(&self.owner);
                if let Some(known) = upstream.state().known.filter(|_| upstream.is_stateless()) {
                    let told = mirrored(&request, &known.traits).into_iter();
                    let told = told.filter_map(|(name, value)| Some((name, header_text(&value?))));
                    self.caller.headers = told.collect();
                }
                self.record.address(&upstream, &request);
                let request = self.bridge.set_out(&upstream, &mut self.caller, request);
                self.upstream = Some((upstream, request.clone()));
                self.call(request);
            }
        }
    }

    fn call(&mut self, request: Request) {
        let Some((upstream, _)) = &self.upstream else { return };
        let (upstream, caller) = (upstream.clone(), self.caller.clone());
        let calling = async move { upstream.answer(&request, Some(&caller)).await };
        self.stage = Stage::Asking(calling.boxed());
    }

    /// Takes an answer for the last word, unless the editor or the upstream must be asked first.
    fn settle(&mut self, response: Response) -> Option<Response> {
        self.stage = Stage::Over;
        let response = match &self.sieve {
            Some(sieve) => sieve.sift(response),
            None => response,
        };
        let (from, request) = match &self.upstream {
            Some((upstream, request)) => (upstream.spoken(), Some(request)),
            // What the gateway says itself is put into the words of whoever asked.
            None if self.bridge.editor.is_stateless() => (Spoken::Session(Revision::LATEST), None),
            None => (Spoken::Stateless, None),
        };
        match self.bridge.settle(from, request, response) {
            Settled::Answer(response) => Some(response),
            Settled::Gather(questions, gathering) => {
                self.questions.extend(questions);
                self.stage = Stage::Gathering(gathering);
                None
            }
        }
    }
}

/// The next log message, if any can come.
async fn heard(logged: &mut Option<mpsc::Receiver<Notification>>) -> Option<Notification> {
    match logged {
        Some(logged) => logged.recv().await,
        None => None,
    }
}
