//! One request of an editor, from its arrival to its response, with every message in between.
//!
//! # Theory of operation
//! The gateway answers a request itself or sends it to one upstream. Before the response there may
//! be notifications about the request, and requests from the upstream to the editor. A stateless
//! upstream (2026-07-28) sends no such requests: it responds with `input_required` and expects the
//! same call again with the input. For an editor with a session, the exchange asks for the input
//! and repeats the call, so the editor sees one long call.
//!
//! Dropping the exchange cancels the call. If the gateway shuts down before the response arrives,
//! the exchange answers with what is known of the call.
//!
//! # Layout
//! - [`stage`]: the stages of an exchange; [`requester`]: the client that made the request
//! - [`translation`]: between the versions of the editor and the upstream
//! - [`input_rounds`]: asks an editor with a session for the input of a stateless upstream
//! - [`input_batch`]: collects server requests for an editor that gets all of them at once
//! - [`transcript`]: the messages about a call, for an editor that resumes its stream
//! - [`unfinished`]: the answer to a call that the gateway cannot complete

mod input_batch;
pub(crate) mod input_rounds;
mod requester;
mod stage;
pub(crate) mod transcript;
mod translation;
pub(crate) mod unfinished;

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use evermoor_core::failure::outcome::{Answer, AnswerOrigin, DeliveryStatus, NotSent, Unknown};
use evermoor_core::protocol::envelope::{Notification, Request};
use evermoor_core::protocol::event_id::CallRef;
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::SessionVersion;
use evermoor_core::protocol::translate::input_request::may_need_input;
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_platform::clock;

use super::endpoint::McpEndpoint;
use crate::monitoring::activity::CallRecorder;
use crate::routing::editor_view::{ListFilter, ViewScope};
use crate::routing::router::{Destination, View};
use crate::system::budget::AnswerCharge;
use crate::system::message_parser;
use crate::upstream::{CallReply, Caller, ReplyPart, ScopeOwner, ServerRequest, UpstreamHandle};
use input_batch::{BATCH_WINDOW, InputBatch};
use input_rounds::GatheredInput;
pub use requester::Requester;
use stage::{ExchangeStage, StageEvent, TranslatedReply, advance};
use translation::{ReplyAction, Translation};

/// A request in progress.
pub struct Exchange {
    stage: ExchangeStage,
    /// Translates between the editor's protocol version and the upstream's.
    translation: Translation,
    abandon_calls: CancellationToken,
    asked: mpsc::Receiver<ServerRequest>,
    /// Log messages for a stateless editor, which receives them with its call.
    logged: Option<mpsc::Receiver<Notification>>,
    caller: Caller,
    /// Server requests that the editor has not seen yet.
    questions: VecDeque<ServerRequest>,
    batch: InputBatch,
    owner: ScopeOwner,
    /// The upstream, once it is known, and the request as it was sent there.
    upstream: Option<(UpstreamHandle, Request)>,
    /// Removes what the editor may not see from a list in the response.
    list_filter: Option<ListFilter>,
    /// The entry in the list of recent calls.
    record: CallRecorder,
}

/// What an exchange produces.
pub enum ExchangeEvent {
    /// A notification about the request.
    Notification(Notification),
    /// The answer, always as the last event.
    Answer(Answer),
    /// A request from the upstream to the editor.
    ServerRequest(ServerRequest),
}

const NOT_SUPPORTED: &str = "The client does not support this request.";
/// How many server requests may wait for the editor.
const MAX_QUESTIONS: usize = 16;
/// How many log messages may wait for the editor.
const MAX_LOGS: usize = 64;

impl Exchange {
    /// Starts a request that has yet to be routed.
    pub fn start(
        endpoint: &McpEndpoint,
        view: View,
        request: Request,
        requester: Requester,
    ) -> Self {
        let router = endpoint.router.clone();
        let (client, since) = (requester.client.clone(), requester.since);
        let mut exchange = Self::at(endpoint, &view, &request, requester);
        exchange.stage = match exchange.translation.gateway_answer(&request) {
            Some(response) => answered(Answer::from_gateway(response)),
            None => {
                let view = view.of_client(client.as_deref(), since);
                let finding = async move { router.route(&view, &request).await };
                ExchangeStage::Routing(finding.boxed())
            }
        };
        exchange
    }

    /// Starts a request whose destination is known.
    pub fn with(
        endpoint: &McpEndpoint,
        destination: Destination,
        view: &View,
        request: &Request,
        requester: Requester,
    ) -> Self {
        let mut exchange = Self::at(endpoint, view, request, requester);
        exchange.send_to(destination);
        exchange
    }

    fn at(endpoint: &McpEndpoint, view: &View, request: &Request, requester: Requester) -> Self {
        let call = CallRef::of(request);
        let record = requester.record(endpoint, view, request, &call);
        let (questions, asked) = mpsc::channel(MAX_QUESTIONS);
        let (log, logged) = requester.logs.then(|| mpsc::channel(MAX_LOGS)).unzip();
        let caller = Caller {
            session: requester.session,
            client_meta: requester.client_meta,
            opens_pages: may_need_input(&request.method)
                && requester.client_capabilities.opens_pages(),
            questions,
            logs: log,
            delivery_progress: Arc::default(),
            answer_charge: AnswerCharge::of(endpoint.budgets.editor(&requester.editor)),
        };
        let translation = Translation::new(
            (requester.protocol_version, requester.editor),
            requester.client_capabilities,
            requester.tasks,
            matches!(view.scope, ViewScope::All),
            endpoint.finished.clone(),
            (request.method.clone(), call),
        );
        Self {
            stage: ExchangeStage::Done,
            translation,
            abandon_calls: endpoint.abandon_calls.clone(),
            asked,
            logged,
            caller,
            questions: VecDeque::new(),
            batch: InputBatch::default(),
            owner: requester.owner,
            upstream: None,
            list_filter: view.list_filter(request),
            record,
        }
    }

    /// The call this exchange is about.
    pub fn call_ref(&self) -> &CallRef {
        &self.translation.call
    }

    /// The id and the state of the task that waits for this input, if the exchange polls a task.
    pub fn waiting_task(&self, needed: &Raw) -> Option<(Raw, Raw)> {
        let adapter = self.translation.adapter()?;
        Some((adapter.id().clone(), adapter.waiting(needed)?))
    }

    /// Whether the upstream may have received the call.
    pub fn was_sent(&self) -> bool {
        self.caller.was_sent()
    }

    /// The next event; `None` after the response. Cancel safe.
    pub async fn next(&mut self) -> Option<ExchangeEvent> {
        match self.batch.queued.pop_front() {
            Some(part) => Some(part),
            None => self.next_unbatched().await,
        }
    }

    async fn next_unbatched(&mut self) -> Option<ExchangeEvent> {
        loop {
            if let Some(question) = self.questions.pop_front() {
                if self.batch.enabled
                    || self.translation.client_capabilities.can_answer(&question.request)
                {
                    return Some(ExchangeEvent::ServerRequest(question));
                }
                question.reject(NOT_SUPPORTED);
                continue;
            }
            tokio::select! {
                biased;
                () = self.abandon_calls.cancelled(), if !matches!(self.stage, ExchangeStage::Done) => {
                    self.stage = ExchangeStage::Done;
                    return Some(self.finish(self.abandoned_answer()));
                }
                Some(question) = self.asked.recv() => self.questions.push_back(question),
                Some(notification) = next_log(&mut self.logged) => {
                    return Some(ExchangeEvent::Notification(notification));
                }
                step = advance(&mut self.stage) => match step {
                    StageEvent::Routed(destination) => self.send_to(destination),
                    StageEvent::Replied(CallReply::Whole(answer))
                    | StageEvent::Received(Some(ReplyPart::Answer(answer))) => {
                        if let Some(answer) = self.on_reply(answer) {
                            return Some(self.finish(answer));
                        }
                    }
                    StageEvent::Translated(translated) => {
                        let TranslatedReply { translation, action, before } = *translated;
                        self.translation = translation;
                        if let Some(answer) = self.act(action, &before) {
                            return Some(self.finish(answer));
                        }
                    }
                    StageEvent::Replied(CallReply::Stream(parts)) => self.stage = ExchangeStage::Streaming(Box::new(parts)),
                    StageEvent::Received(Some(ReplyPart::Notification(notification))) => {
                        return Some(ExchangeEvent::Notification(notification));
                    }
                    StageEvent::GatheredInput(GatheredInput::Call(request)) => self.call(request),
                    StageEvent::GatheredInput(GatheredInput::Refused(why)) => {
                        self.stage = ExchangeStage::Done;
                        let failed = self.translation.failed(&why);
                        return Some(self.finish(Answer::from_gateway(failed)));
                    }
                    StageEvent::Received(None) | StageEvent::Done => {
                        self.stage = ExchangeStage::Done;
                        return None;
                    }
                },
            }
        }
    }

    /// Makes `next` return every server request, whether or not the editor supports it, so that the
    /// caller can `hold` it.
    pub fn batching_input(mut self, enabled: bool) -> Self {
        self.batch.enabled = enabled;
        self
    }

    /// Adds a server request to the batch.
    pub fn hold(&mut self, question: ServerRequest) {
        self.batch.questions.push(question);
    }

    /// Waits for the rest of the batch and returns the requests that the editor supports. Returns
    /// nothing at once if no request is held. Cancel safe.
    pub async fn collect_batch(&mut self) -> Vec<ServerRequest> {
        if self.batch.questions.is_empty() {
            return Vec::new();
        }
        let until = Instant::now() + BATCH_WINDOW;
        while let Ok(Some(part)) = timeout_at(until, self.next_unbatched()).await {
            match part {
                ExchangeEvent::ServerRequest(question) => self.batch.questions.push(question),
                ExchangeEvent::Answer(_) => {
                    // The upstream did not wait for the answers.
                    self.batch.questions.clear();
                    self.batch.queued.push_back(part);
                    break;
                }
                ExchangeEvent::Notification(_) => self.batch.queued.push_back(part),
            }
        }
        let held = std::mem::take(&mut self.batch.questions).into_iter();
        let able = self.translation.client_capabilities;
        let (asked, unsupported) = held.partition::<Vec<_>, _>(|one| able.can_answer(&one.request));
        self.batch.unsupported_request =
            unsupported.first().map(|question| question.request.clone());
        self.batch.unsupported = unsupported;
        if asked.is_empty() {
            self.decline_unsupported();
        }
        asked
    }

    /// Declines the requests that the editor does not support.
    pub fn decline_unsupported(&mut self) {
        for question in self.batch.unsupported.drain(..) {
            question.reject(NOT_SUPPORTED);
        }
    }

    /// The first request of the last batch that the editor does not support.
    pub fn unsupported_request(&self) -> Option<&Request> {
        self.batch.unsupported_request.as_ref()
    }

    /// Records the answer and returns it as the last event.
    fn finish(&mut self, answer: Answer) -> ExchangeEvent {
        self.record.close(&answer, self.caller.held());
        ExchangeEvent::Answer(answer)
    }

    /// The answer to a call that shutdown no longer waits for.
    fn abandoned_answer(&self) -> Answer {
        let detail = "Evermoor stopped before the answer arrived";
        let fate = match self.was_sent() {
            true => DeliveryStatus::Unknown(Unknown::GatewayRestarted, clock::now()),
            false => DeliveryStatus::NotSent(NotSent::ShuttingDown),
        };
        unfinished::answer(self.call_ref(), fate, detail)
    }

    fn send_to(&mut self, destination: Destination) {
        match destination {
            Destination::Gateway(answer) => self.stage = answered(answer),
            Destination::Upstream(upstream, request) => {
                let upstream = match upstream.used_by(&self.owner) {
                    Ok(upstream) => upstream,
                    Err(too_many) => {
                        self.record.address(&upstream, &request);
                        let fate = DeliveryStatus::NotSent(NotSent::TooManyClients);
                        let answer = unfinished::answer_for(
                            self.call_ref(),
                            (upstream.name().as_str(), &upstream.config.title),
                            fate,
                            &too_many.to_string(),
                        );
                        self.stage = answered(answer);
                        return;
                    }
                };
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

    /// Charges the editor for what of an answer is a copy of `before`.
    fn keep(&self, before: &Raw, answer: Answer) -> Answer {
        let editor = self.caller.answer_charge.editor();
        match answer.origin {
            AnswerOrigin::Gateway => match editor.keep_response(Some(before), answer.response) {
                Ok(response) => Answer { response, ..answer },
                Err(no_room) => unfinished::discarded(self.call_ref(), &no_room.to_string()),
            },
            // Its upstream's answer was charged, and is replaced.
            AnswerOrigin::Upstream(_) | AnswerOrigin::Undelivered(_) => {
                answer.map(|response| editor.replace_response(before, response))
            }
        }
    }

    /// Handles a reply. Returns the answer for the editor, unless more input, another call or another
    /// thread is needed first.
    fn on_reply(&mut self, answer: Answer) -> Option<Answer> {
        let before = answer.response.outcome.payload().clone();
        let from = match (answer.origin, &self.upstream) {
            (AnswerOrigin::Upstream(version), _) => version,
            (_, Some((upstream, _))) => upstream.protocol_version(),
            // The gateway's own answers are translated for the editor too.
            (_, None) if self.translation.editor.is_stateless() => {
                ProtocolVersion::Session(SessionVersion::LATEST)
            }
            (_, None) => ProtocolVersion::Stateless,
        };
        let bytes = before.as_bytes().len();
        if message_parser::is_large(bytes) {
            let (mut translation, list_filter) =
                (self.translation.clone(), self.list_filter.clone());
            let request = self.upstream.as_ref().map(|(_, request)| request.clone());
            let translate = move || {
                let (filter, request) = (list_filter.as_ref(), request.as_ref());
                let action = translated(&mut translation, filter, from, request, answer);
                Box::new(TranslatedReply { translation, action, before })
            };
            let translating = message_parser::process(bytes, translate);
            self.stage = ExchangeStage::Translating(translating.boxed());
            return None;
        }
        let request = self.upstream.as_ref().map(|(_, request)| request);
        let filter = self.list_filter.as_ref();
        let action = translated(&mut self.translation, filter, from, request, answer);
        self.act(action, &before)
    }

    /// Does what a reply asks for, which arrived with the payload `before`.
    fn act(&mut self, action: ReplyAction, before: &Raw) -> Option<Answer> {
        self.stage = ExchangeStage::Done;
        match action {
            ReplyAction::Answer(answer) => Some(self.keep(before, answer)),
            ReplyAction::Gather(questions, gathering) => {
                self.questions.extend(questions);
                self.stage = ExchangeStage::GatheringInput(gathering);
                None
            }
        }
    }
}

/// What a reply means for the editor, which sees only what passes the filter.
fn translated(
    translation: &mut Translation,
    filter: Option<&ListFilter>,
    from: ProtocolVersion,
    request: Option<&Request>,
    answer: Answer,
) -> ReplyAction {
    let answer = match filter {
        Some(filter) => answer.map(|response| filter.apply(response)),
        None => answer,
    };
    translation.on_reply(from, request, answer)
}

/// The stage of a request that the gateway answers itself.
fn answered(answer: Answer) -> ExchangeStage {
    ExchangeStage::Calling(std::future::ready(CallReply::Whole(answer)).boxed())
}

/// The next log message; `None` if the editor receives none.
async fn next_log(logged: &mut Option<mpsc::Receiver<Notification>>) -> Option<Notification> {
    match logged {
        Some(logged) => logged.recv().await,
        None => None,
    }
}
