//! Translates a request and its response between the editor's protocol version and the upstream's.
//! The rules are in `evermoor_core::protocol::translate`.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use evermoor_core::failure::outcome::Answer;
use evermoor_core::protocol::envelope::{Outcome, Request, Response};
use evermoor_core::protocol::event_id::CallRef;
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{SessionVersion, method};
use evermoor_core::protocol::translate::client_capabilities::ClientCapabilities;
use evermoor_core::protocol::translate::client_meta::ClientMeta;
use evermoor_core::protocol::translate::input_request::{InputRequired, parse_input_requests};
use evermoor_core::protocol::translate::request::without_tasks;
use evermoor_core::protocol::translate::response::translate;
use evermoor_core::protocol::translate::task;
use evermoor_core::protocol::translate::task_adapter::{TaskAdapter, TaskStep};
use evermoor_core::protocol::version::ProtocolVersion;

use super::super::exchange::input_rounds;
use super::super::exchange::input_rounds::{GatheredInput, InputRound};
use super::super::tasks::finished::FinishedTasks;
use crate::upstream::{Caller, ServerRequest, UpstreamHandle};

/// How many times one call may ask for more input.
const MAX_ROUNDS: u32 = 16;

#[derive(Clone)]
pub(super) struct Translation {
    /// The editor's protocol version.
    pub(super) editor: ProtocolVersion,
    pub(super) name: String,
    pub(super) client_capabilities: ClientCapabilities,
    /// Whether the editor supports tasks.
    pub(super) tasks: bool,
    /// Whether the editor uses the merged endpoint, where a task id does not identify its upstream.
    pub(super) merged: bool,
    pub(super) finished: FinishedTasks,
    pub(super) called: String,
    pub(super) call: CallRef,
    adapter: Option<TaskAdapter>,
    /// Whether the upstream offers tasks for tool calls.
    offered: bool,
    rounds: u32,
}

/// What to do after a reply.
pub(super) enum ReplyAction {
    /// Return this answer to the editor.
    Answer(Answer),
    /// Ask the editor first, then call the upstream again.
    Gather(Vec<ServerRequest>, BoxFuture<'static, GatheredInput>),
}

impl Translation {
    pub(super) fn new(
        (editor, name): (ProtocolVersion, String),
        client_capabilities: ClientCapabilities,
        tasks: bool,
        merged: bool,
        finished: FinishedTasks,
        (called, call): (String, CallRef),
    ) -> Self {
        let (adapter, offered, rounds) = (None, false, 0);
        Self {
            editor,
            name,
            client_capabilities,
            tasks,
            merged,
            finished,
            called,
            call,
            adapter,
            offered,
            rounds,
        }
    }

    /// The answer to a request about a task that the gateway itself keeps.
    pub(super) fn gateway_answer(&self, request: &Request) -> Option<Response> {
        match self.editor.is_stateless() {
            true => None,
            false => self.finished.answer(&self.name, request),
        }
    }

    /// The first request to the upstream. The connection that sends it encodes it for its version.
    pub(super) fn first_request(
        &mut self,
        upstream: &UpstreamHandle,
        caller: &mut Caller,
        request: Request,
    ) -> Request {
        let protocol_version = upstream.protocol_version();
        if self.merged {
            return without_tasks(request);
        }
        let Some(known) = upstream.state().known else { return request };
        self.offered = task::is_offered(&known.handshake.capabilities, protocol_version);
        let params = request.params.as_ref();
        let wanted = match self.editor.is_stateless() {
            true => {
                let tool = params.and_then(|params| params.text_member("name"));
                known.traits.makes_tasks(&tool.unwrap_or_default())
            }
            false => params.is_some_and(|params| params.has("task")),
        };
        let makes_tasks =
            request.method == method::TOOLS_CALL && self.tasks && self.offered && wanted;
        match TaskAdapter::of(&request, self.editor, protocol_version, makes_tasks) {
            Some((adapter, first)) => {
                self.adapter = Some(adapter);
                let with_tasks = |who: Arc<ClientMeta>| Arc::new((*who).clone().with_tasks());
                caller.client_meta = caller.client_meta.take().map(with_tasks);
                first
            }
            None => request,
        }
    }

    /// Decides what to do with a reply to `request`, from an upstream that speaks version `from` or
    /// from the gateway.
    pub(super) fn on_reply(
        &mut self,
        from: ProtocolVersion,
        request: Option<&Request>,
        answer: Answer,
    ) -> ReplyAction {
        let Answer { response, origin } = answer;
        let mut response = Response { id: Some(self.call.id.clone()), ..response };
        let crossing = from.is_stateless() && !self.editor.is_stateless();
        if crossing
            && let Outcome::Result(result) = &response.outcome
            && let Some((needed, request)) = InputRequired::read(result).zip(request)
        {
            return self.request_input(request, needed);
        }
        if let Some(adapter) = &mut self.adapter {
            response.outcome = match adapter.next(response.outcome) {
                TaskStep::Done(outcome) => outcome,
                TaskStep::Finished(result) => {
                    match self.finished.keep(&self.name, result.clone()) {
                        Some(created) => Outcome::Result(created),
                        None => Outcome::Result(result),
                    }
                }
                TaskStep::Ask(pause, request) => {
                    return ReplyAction::Gather(Vec::new(), input_rounds::later(pause, request));
                }
                TaskStep::Input(needed, request) => {
                    let asked = parse_input_requests(&needed).unwrap_or_default();
                    return self.request_input(&request, InputRequired { asked, state: None });
                }
            };
        }
        // The stateless handler translates the response itself.
        if self.editor.is_stateless() {
            return ReplyAction::Answer(Answer { response, origin });
        }
        let mut response = translate(&self.called, response, from, self.editor, None);
        if crossing
            && self.offered
            && self.editor.knows(SessionVersion::V2025_11_25)
            && self.called == method::TOOLS_LIST
            && let Outcome::Result(tools) = &response.outcome
            && let Some(marked) = task::supported(tools)
        {
            response.outcome = Outcome::Result(marked);
        }
        ReplyAction::Answer(Answer { response, origin })
    }

    /// The task adapter, if the exchange uses one.
    pub(super) fn adapter(&self) -> Option<&TaskAdapter> {
        self.adapter.as_ref()
    }

    /// Asks the editor for input, if it supports all that is needed.
    fn request_input(&mut self, request: &Request, needed: InputRequired) -> ReplyAction {
        if self.rounds >= MAX_ROUNDS {
            let failed = self.failed("the server keeps asking for more input");
            return ReplyAction::Answer(Answer::from_gateway(failed));
        }
        let unsupported =
            needed.asked.iter().find(|(_, asked)| !self.client_capabilities.can_answer(asked));
        if let Some((_, asked)) = unsupported {
            let text =
                format!("the server needs `{}`, which the client does not support", asked.method);
            return ReplyAction::Answer(Answer::from_gateway(self.failed(&text)));
        }
        let InputRound { questions, gathering } = input_rounds::round(request, needed, self.rounds);
        self.rounds += 1;
        ReplyAction::Gather(questions, gathering)
    }

    /// The response to a call that its upstream could not finish.
    pub(super) fn failed(&self, why: &str) -> Response {
        let id = self.call.id.clone();
        let text = format!("\"{}\" was not finished: {why}.", self.call.subject);
        if !self.call.is_tool {
            return Response::error(Some(id), -32603, &text);
        }
        let block = serde_json::json!({ "type": "text", "text": text });
        Response::result(id, Raw::of(&serde_json::json!({ "content": [block], "isError": true })))
    }
}
