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
use crate::routing::router::{Destination, View};
use crate::routing::view::{ListFilter, Scope};
use crate::upstream::{Caller, Handle, Owner, Question, Reply};
use input_batch::InputBatch;
use input_rounds::GatheredInput;
pub use requester::Requester;
use stage::{ExchangeStage, StageEvent, advance};
use translation::{ReplyAction, Translation};

/// A request under way.
pub struct Exchange {
    stage: ExchangeStage,
    /// Between the editor's revision and the upstream's.
    translation: Translation,
    given_up: CancellationToken,
    asked: mpsc::Receiver<Question>,
    /// Log messages that an editor without sessions hears on its call alone.
    logged: Option<mpsc::Receiver<Notification>>,
    caller: Caller,
    /// What the editor is still to be asked.
    questions: VecDeque<Question>,
    batch: InputBatch,
    owner: Owner,
    /// The upstream that answers, once it is known, with the request in its words.
    upstream: Option<(Handle, Request)>,
    /// What the answer must go through before the editor sees it.
    list_filter: Option<ListFilter>,
    /// What people will be shown of it.
    record: Record,
}

/// What comes next.
pub enum ExchangeEvent {
    /// A message about the request; a response is the last one.
    Message(Message),
    /// The upstream wants something of the editor.
    Question(Question),
}

const NOT_SUPPORTED: &str = "The editor at hand does not offer this.";
/// How many questions of an upstream wait for the editor at a time.
const MAX_QUESTIONS: usize = 16;
/// How many log messages wait for the editor at a time.
const MAX_LOGS: usize = 64;

impl Exchange {
    /// A request that somebody must be found for.
    pub fn start(endpoint: &Endpoint, view: View, request: Request, asker: Requester) -> Self {
        let router = endpoint.router.clone();
        let mut exchange = Self::at(endpoint, &view, &request, asker);
        exchange.stage = match exchange.translation.gateway_answer(&request) {
            Some(response) => {
                ExchangeStage::Calling(std::future::ready(Reply::Whole(response)).boxed())
            }
            None => {
                let finding = async move { router.route(&view, &request).await };
                ExchangeStage::Routing(finding.boxed())
            }
        };
        exchange
    }

    /// A request whose destination is known.
    pub fn with(
        endpoint: &Endpoint,
        destination: Destination,
        view: &View,
        request: &Request,
        asker: Requester,
    ) -> Self {
        let mut exchange = Self::at(endpoint, view, request, asker);
        exchange.send_to(destination);
        exchange
    }

    fn at(endpoint: &Endpoint, view: &View, request: &Request, asker: Requester) -> Self {
        let call = Call::of(request);
        let record = asker.record(endpoint, view, request, &call);
        let (questions, asked) = mpsc::channel(MAX_QUESTIONS);
        let (log, logged) = asker.logs.then(|| mpsc::channel(MAX_LOGS)).unzip();
        let caller = Caller {
            session: asker.session,
            who_asks: asker.who_asks,
            questions,
            logs: log,
            headers: Vec::new(),
            journey: Arc::default(),
        };
        let translation = Translation::new(
            (asker.spoken, asker.editor),
            asker.abilities,
            asker.tasks,
            matches!(view.scope, Scope::All),
            endpoint.finished.clone(),
            (request.method.clone(), call),
        );
        Self {
            stage: ExchangeStage::Done,
            translation,
            given_up: endpoint.given_up.clone(),
            asked,
            logged,
            caller,
            questions: VecDeque::new(),
            batch: InputBatch::default(),
            owner: asker.owner,
            upstream: None,
            list_filter: view.list_filter(request),
            record,
        }
    }

    /// What it is about.
    pub fn call_ref(&self) -> &Call {
        &self.translation.call
    }

    /// What the editor is told of a task that waits for it, if this is asked about one.
    pub fn waiting_task(&self, needed: &Raw) -> Option<(Raw, Raw)> {
        let errand = self.translation.errand()?;
        Some((errand.id().clone(), errand.waiting(needed)?))
    }

    /// Whether the upstream that answers speaks the newer revision.
    pub fn is_upstream_stateless(&self) -> bool {
        self.upstream.as_ref().is_some_and(|(upstream, _)| upstream.spoken().is_stateless())
    }

    /// Whether an upstream may have the call by now.
    pub fn was_sent(&self) -> bool {
        self.caller.was_sent()
    }

    /// The next part; `None` after the answer. Nothing is lost if the future is dropped.
    pub async fn next(&mut self) -> Option<ExchangeEvent> {
        match self.batch.early() {
            Some(part) => Some(part),
            None => self.next_unbatched().await,
        }
    }

    async fn next_unbatched(&mut self) -> Option<ExchangeEvent> {
        loop {
            if let Some(question) = self.questions.pop_front() {
                if self.batches_input() || self.translation.abilities.can_answer(&question.request)
                {
                    return Some(ExchangeEvent::Question(question));
                }
                question.turn_away(NOT_SUPPORTED);
                continue;
            }
            tokio::select! {
                biased;
                () = self.given_up.cancelled(), if !matches!(self.stage, ExchangeStage::Done) => {
                    self.stage = ExchangeStage::Done;
                    return Some(self.finish(self.abandoned_answer()));
                }
                Some(question) = self.asked.recv() => self.questions.push_back(question),
                Some(told) = next_log(&mut self.logged) => {
                    return Some(ExchangeEvent::Message(Message::Notification(told)));
                }
                step = advance(&mut self.stage) => match step {
                    StageEvent::Routed(destination) => self.send_to(destination),
                    StageEvent::Replied(Reply::Whole(response)) => {
                        if let Some(response) = self.on_reply(response) {
                            return Some(self.finish(response));
                        }
                    }
                    StageEvent::Replied(Reply::Stream(messages)) => self.stage = ExchangeStage::Streaming(Box::new(messages)),
                    StageEvent::Received(Some(Message::Response(response))) => {
                        if let Some(response) = self.on_reply(response) {
                            return Some(self.finish(response));
                        }
                    }
                    StageEvent::Received(Some(message)) => return Some(ExchangeEvent::Message(message)),
                    StageEvent::GatheredInput(GatheredInput::Call(request)) => self.call(request),
                    StageEvent::GatheredInput(GatheredInput::Refused(why)) => {
                        self.stage = ExchangeStage::Done;
                        let failed = self.translation.failed(&why);
                        return Some(self.finish(failed));
                    }
                    StageEvent::Received(None) | StageEvent::Done => {
                        self.stage = ExchangeStage::Done;
                        return None;
                    }
                },
            }
        }
    }

    /// The answer, after which there is nothing.
    fn finish(&mut self, response: Response) -> ExchangeEvent {
        self.record.close(&response, self.caller.held());
        ExchangeEvent::Message(Message::Response(response))
    }

    /// What is known of a call that is not waited for any longer.
    fn abandoned_answer(&self) -> Response {
        let detail = "Evermoor was stopped before the answer came";
        let fate = match self.was_sent() {
            true => Fate::Unknown(Unknown::GatewayRestarted, SystemTime::now()),
            false => Fate::NotSent(NotSent::ShuttingDown),
        };
        abandoned::answer(self.call_ref(), fate, detail)
    }

    fn send_to(&mut self, destination: Destination) {
        match destination {
            Destination::Gateway(response) => {
                self.stage =
                    ExchangeStage::Calling(std::future::ready(Reply::Whole(response)).boxed());
            }
            Destination::Upstream(upstream, request) => {
                let upstream = upstream.used_by(&self.owner);
                if let Some(known) = upstream.state().known.filter(|_| upstream.is_stateless()) {
                    let told = mirrored(&request, &known.traits).into_iter();
                    let told = told.filter_map(|(name, value)| Some((name, header_text(&value?))));
                    self.caller.headers = told.collect();
                }
                self.record.address(&upstream, &request);
                let request = self.translation.first_request(&upstream, &mut self.caller, request);
                self.upstream = Some((upstream, request.clone()));
                self.call(request);
            }
        }
    }

    fn call(&mut self, request: Request) {
        let Some((upstream, _)) = &self.upstream else { return };
        let (upstream, caller) = (upstream.clone(), self.caller.clone());
        let calling = async move { upstream.answer(&request, Some(&caller)).await };
        self.stage = ExchangeStage::Calling(calling.boxed());
    }

    /// Takes an answer for the last word, unless the editor or the upstream must be asked first.
    fn on_reply(&mut self, response: Response) -> Option<Response> {
        self.stage = ExchangeStage::Done;
        let response = match &self.list_filter {
            Some(list_filter) => list_filter.apply(response),
            None => response,
        };
        let (from, request) = match &self.upstream {
            Some((upstream, request)) => (upstream.spoken(), Some(request)),
            // What the gateway says itself is put into the words of whoever asked.
            None if self.translation.editor.is_stateless() => {
                (Spoken::Session(Revision::LATEST), None)
            }
            None => (Spoken::Stateless, None),
        };
        match self.translation.on_reply(from, request, response) {
            ReplyAction::Answer(response) => Some(response),
            ReplyAction::Gather(questions, gathering) => {
                self.questions.extend(questions);
                self.stage = ExchangeStage::GatheringInput(gathering);
                None
            }
        }
    }
}

/// The next log message, if any can come.
async fn next_log(logged: &mut Option<mpsc::Receiver<Notification>>) -> Option<Notification> {
    match logged {
        Some(logged) => logged.recv().await,
        None => None,
    }
}
