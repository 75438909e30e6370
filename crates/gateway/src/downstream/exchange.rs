//! One request of an editor, from its arrival to its answer, with all that is said in between.
//!
//! # Theory of operation
//! A request is answered by the gateway itself or by one upstream. Until the answer comes, there
//! may be messages about it, and questions of the upstream to the editor. A newer upstream does
//! not ask while it works: it answers that it needs input and expects the same call again with
//! that input. For an editor that does not know this, the exchange asks the questions and makes
//! the second call, so that the editor sees one long call. Dropping the exchange cancels it. When the
//! gateway ends and does not wait any longer, the exchange answers with what is known of the call.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use evermoor_core::abilities::Abilities;
use evermoor_core::envelope::{Message, Outcome, Request, Response};
use evermoor_core::event_id::Call;
use evermoor_core::json::Raw;
use evermoor_core::mirrored::mirrored;
use evermoor_core::outcome::{Fate, NotSent, Unknown};
use evermoor_core::stateless::header_text;

pub use super::asker::Asker;
use super::endpoint::Endpoint;
use super::input::{self, Round};
use super::lost;
use crate::activity::Record;
use crate::router::{Addressee, View};
use crate::upstream::{Caller, Handle, Owner, Question, Reply, ReplyStream};
use crate::view::Sieve;

/// A request under way.
pub struct Exchange {
    stage: Stage,
    /// What it is about, for an answer of our own.
    call: Call,
    given_up: CancellationToken,
    asked: mpsc::Receiver<Question>,
    caller: Caller,
    /// What the editor is still to be asked.
    questions: VecDeque<Question>,
    abilities: Abilities,
    owner: Owner,
    /// The upstream that answers, once it is known, with the request in its words.
    upstream: Option<(Handle, Request)>,
    rounds: u32,
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

enum Stage {
    Finding(BoxFuture<'static, Addressee>),
    Asking(BoxFuture<'static, Reply>),
    Hearing(Box<ReplyStream>),
    /// The upstream needs input that the editor is being asked for.
    Gathering(BoxFuture<'static, Request>),
    Over,
}

/// How many questions of an upstream wait for the editor at a time.
const MOST_QUESTIONS: usize = 16;
/// How often one call may need more input.
const MOST_ROUNDS: u32 = 16;

impl Exchange {
    /// A request that somebody must be found for.
    pub fn start(endpoint: &Endpoint, view: View, request: Request, asker: Asker) -> Self {
        let (router, call) = (endpoint.router.clone(), Call::of(&request));
        let sieve = view.sieve(&request);
        let record = asker.record(endpoint, &view, &request, &call);
        let finding = async move { router.addressee(&view, &request).await };
        Self::at(endpoint, Stage::Finding(finding.boxed()), call, sieve, record, asker)
    }

    /// A request whose addressee is known.
    pub fn with(
        endpoint: &Endpoint,
        addressee: Addressee,
        view: &View,
        request: &Request,
        asker: Asker,
    ) -> Self {
        let (call, sieve) = (Call::of(request), view.sieve(request));
        let record = asker.record(endpoint, view, request, &call);
        let mut exchange = Self::at(endpoint, Stage::Over, call, sieve, record, asker);
        exchange.address(addressee);
        exchange
    }

    fn at(
        endpoint: &Endpoint,
        stage: Stage,
        call: Call,
        sieve: Option<Sieve>,
        record: Record,
        asker: Asker,
    ) -> Self {
        let (questions, asked) = mpsc::channel(MOST_QUESTIONS);
        let (session, who_asks) = (asker.session, asker.who_asks);
        let headers = Vec::new();
        let caller = Caller { session, who_asks, questions, headers, journey: Arc::default() };
        Self {
            stage,
            call,
            given_up: endpoint.given_up.clone(),
            asked,
            caller,
            questions: VecDeque::new(),
            abilities: asker.abilities,
            owner: asker.owner,
            upstream: None,
            rounds: 0,
            sieve,
            record,
        }
    }

    /// What it is about.
    pub fn about(&self) -> &Call {
        &self.call
    }

    /// Whether the upstream that answers speaks the newer revision.
    pub fn is_newer(&self) -> bool {
        self.upstream.as_ref().is_some_and(|(upstream, _)| upstream.is_stateless())
    }

    /// Whether an upstream may have the call by now.
    pub fn was_sent(&self) -> bool {
        self.caller.was_sent()
    }

    /// The next part; `None` after the answer. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<Part> {
        loop {
            if let Some(question) = self.questions.pop_front() {
                match self.abilities.can_answer(&question.request) {
                    true => return Some(Part::Question(question)),
                    false => question.turn_away("The editor at hand does not offer this."),
                }
                continue;
            }
            tokio::select! {
                biased;
                () = self.given_up.cancelled(), if !matches!(self.stage, Stage::Over) => {
                    self.stage = Stage::Over;
                    return Some(self.last(self.given_up()));
                }
                Some(question) = self.asked.recv() => self.questions.push_back(question),
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
                    Step::Gathered(request) => self.call(request),
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
        lost::answer(&self.call, fate, detail)
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

    /// Takes an answer for the last word, unless it asks for input that the editor can only be
    /// asked for by us.
    fn settle(&mut self, response: Response) -> Option<Response> {
        self.stage = Stage::Over;
        let response = match &self.sieve {
            Some(sieve) => sieve.sift(response),
            None => response,
        };
        // An editor of the newer revision understands all of this itself.
        if !self.is_newer() || self.caller.who_asks.is_none() {
            return Some(response);
        }
        let Outcome::Result(result) = &response.outcome else { return Some(response) };
        let Some((_, request)) = &self.upstream else { return Some(response) };
        match input::round(request, result) {
            Some(Round { questions, gathering }) if self.rounds < MOST_ROUNDS => {
                self.rounds += 1;
                self.questions.extend(questions);
                self.stage = Stage::Gathering(gathering);
                None
            }
            Some(_) | None => {
                let outcome = Outcome::Result(older(result));
                Some(Response { outcome, ..response })
            }
        }
    }
}

/// What happened to a stage.
enum Step {
    Found(Addressee),
    Replied(Reply),
    Heard(Option<Message>),
    Gathered(Request),
    Over,
}

async fn advance(stage: &mut Stage) -> Step {
    match stage {
        Stage::Finding(finding) => Step::Found(finding.await),
        Stage::Asking(asking) => Step::Replied(asking.await),
        Stage::Hearing(messages) => Step::Heard(messages.next().await),
        Stage::Gathering(gathering) => Step::Gathered(gathering.await),
        Stage::Over => Step::Over,
    }
}

/// A result of the newer revision as the older ones know it.
fn older(result: &Raw) -> Raw {
    result.without(&["resultType", "ttlMs", "cacheScope"])
}
