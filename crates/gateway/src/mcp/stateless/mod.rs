//! Editors of 2026-07-28, where every request is self-contained.
//!
//! # Theory of operation
//! There are no sessions. A response is plain JSON, or an SSE stream if there are notifications
//! before it. Closing the stream cancels the request: the exchange lives in the response body and
//! is dropped with it. When an upstream with a session sends a server request, the editor's request
//! ends with `input_required`, and the call is kept until the editor sends it again with the input.
//!
//! # Layout
//! - `checks`: checks of requests and responses
//! - `listen`: `subscriptions/listen`
//! - `pending_input`: calls that wait for input from the editor

mod checks;
pub(crate) mod listen;
pub(crate) mod pending_input;

use std::sync::Arc;

use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::{HeaderMap, StatusCode};
use tokio::time::{Instant, sleep};

use evermoor_core::failure::outcome::{AnswerOrigin, DeliveryStatus, Unknown};
use evermoor_core::protocol::envelope::{INVALID_PARAMS, Message, Outcome, Request, Response};
use evermoor_core::protocol::event_id::CallRef;
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::sse;
use evermoor_core::protocol::stateless;
use evermoor_core::protocol::stateless::RequestMeta;
use evermoor_core::protocol::translate::input_request::{may_need_input, required_links};
use evermoor_core::protocol::translate::response::{
    HEADER_MISMATCH, missing_capability, to_stateless,
};
use evermoor_core::protocol::version::ProtocolVersion;
use evermoor_setup::names_for;

use super::endpoint::McpEndpoint;
use super::event_stream;
use super::event_stream::Events;
use super::exchange::unfinished;
use super::exchange::{Exchange, ExchangeEvent, Requester};
use super::http_message::{json, json_with, refuse, value};
use super::request_body::no_room;
use super::session::handler::KEEPALIVE_INTERVAL;
use super::session::subscriptions;
use crate::editors::Editor;
use crate::monitoring::clients::ClientKey;
use crate::routing::router::{Destination, View};
use crate::system::budget::Budget;
use crate::system::message_parser;
use crate::upstream::ScopeOwner;
use checks::{declined, has_foreign_state, headers_agree, status};
use pending_input::Resume;

const CANNOT_ASK: &str = "The client cannot be asked during this request.";

/// Answers a stateless message.
pub(super) async fn answer(
    endpoint: &Arc<McpEndpoint>,
    view: View,
    editor: &Editor,
    headers: &HeaderMap,
    message: Message,
) -> HttpResponse {
    let request = match message {
        Message::Request(request) => request,
        Message::Notification(_) => return StatusCode::ACCEPTED.into_response(),
        Message::Response(_) => {
            return refuse(StatusCode::BAD_REQUEST, "There is no request to respond to.");
        }
    };
    let header = |name: &str| value(headers, name).map(str::to_owned);
    let asked = match stateless::read(&request, header) {
        Ok(asked) => asked,
        Err(refused) => {
            let status = StatusCode::from_u16(refused.status);
            return json_with(status.unwrap_or(StatusCode::BAD_REQUEST), &refused.response);
        }
    };
    let who = endpoint.stateless_client_seen(editor, &request, headers, &view);
    let view = view
        .with_names(names_for(&editor.name, who.client().unwrap_or_default()))
        .of_client(who.client(), Instant::now());
    match request.method.as_str() {
        method::DISCOVER => {
            let result = endpoint.router.server_description(&view).await.discovery();
            let response = Response::result(request.id, result);
            match endpoint.budgets.editor(&editor.name).keep_response(None, response) {
                Ok(response) => json(&response),
                Err(full) => no_room(&full),
            }
        }
        method::LISTEN => {
            let listening = endpoint.clients.listens(who);
            listen::listen(endpoint, view, request, editor, listening).await
        }
        _ => {
            let destination = endpoint.router.route(&view, &request).await;
            if !headers_agree(&destination, headers) {
                let why = "An `Mcp-Param` header does not match the body.";
                let refusal = Response::error(Some(request.id), HEADER_MISMATCH, why);
                return json_with(StatusCode::BAD_REQUEST, &refusal);
            }
            if let Some((response, exchange)) =
                endpoint.input_required_tasks.answer(&editor.name, &request)
            {
                if let Some(exchange) = exchange {
                    let (following, editor) = (Arc::clone(endpoint), editor.name.clone());
                    endpoint.tasks.spawn(async move {
                        following.input_required_tasks.follow(exchange, &editor).await;
                    });
                }
                return json(&to_stateless(&request.method, response, None));
            }
            answer_request(endpoint, view, destination, request, asked, editor, who).await
        }
    }
}

async fn answer_request(
    endpoint: &Arc<McpEndpoint>,
    view: View,
    destination: Destination,
    request: Request,
    asked: RequestMeta,
    editor: &Editor,
    who: ClientKey,
) -> HttpResponse {
    let exchange = match endpoint.pending_input.resume(&editor.name, &request) {
        Resume::Resumed(mut exchange) => {
            exchange.decline_unsupported();
            *exchange
        }
        Resume::Refused(why) => {
            return json(&Response::error(Some(request.id), INVALID_PARAMS, why));
        }
        Resume::Lost(since, why) => {
            let fate = DeliveryStatus::Unknown(Unknown::GatewayRestarted, since);
            let answer = unfinished::answer(&CallRef::of(&request), fate, why);
            return json(&to_stateless(&request.method, answer.response, None));
        }
        Resume::Declined => return json(&declined(&request)),
        Resume::New if has_foreign_state(&destination, &request) => {
            let why = "This server did not issue this `requestState`.";
            return json(&Response::error(Some(request.id), INVALID_PARAMS, why));
        }
        Resume::New | Resume::Retry => {
            let requester = Requester {
                session: endpoint.sessions.number(),
                editor: editor.name.clone(),
                protocol_version: ProtocolVersion::Stateless,
                owner: ScopeOwner::Editor(editor.name.clone()),
                client_capabilities: asked.client_capabilities,
                tasks: asked.tasks,
                logs: asked.level.is_some(),
                client_meta: None,
                client: who.client().map(str::to_owned),
                since: Instant::now(),
            };
            if let (Some(level), Destination::Upstream(upstream, _)) = (asked.level, &destination)
                && let Ok(upstream) = upstream.used_by(&requester.owner)
            {
                subscriptions::ensure_log_level(&endpoint.upstream_subscriptions, &upstream, level)
                    .await;
            }
            let batches = may_need_input(&request.method);
            Exchange::with(endpoint, destination, &view, &request, requester)
                .batching_input(batches)
        }
    };
    let (editor, endpoint) = (editor.name.clone(), Arc::clone(endpoint));
    let mut messages = ResponseMessages {
        exchange: Some(exchange),
        last: None,
        view,
        request,
        asked,
        editor,
        endpoint,
    };
    let first = tokio::select! {
        message = messages.next_message() => message,
        () = sleep(KEEPALIVE_INTERVAL) => None,
    };
    match first {
        Some(Message::Response(response)) => json_with(status(&response), &response),
        first => event_stream::response(ResponseEvents { first, messages }),
    }
}

/// The messages of an exchange, as a stateless editor receives them.
struct ResponseMessages {
    exchange: Option<Exchange>,
    /// The response, while it is translated on another thread.
    last: Option<BoxFuture<'static, Box<ResponseDraft>>>,
    view: View,
    request: Request,
    asked: RequestMeta,
    editor: String,
    endpoint: Arc<McpEndpoint>,
}

impl ResponseMessages {
    /// The next message; `None` after the response. Cancel safe.
    async fn next_message(&mut self) -> Option<Message> {
        loop {
            if let Some(last) = &mut self.last {
                let draft = last.await;
                self.last = None;
                return Some(Message::Response(self.settle(*draft)));
            }
            let asked = self.exchange.as_mut()?.collect_batch().await;
            if !asked.is_empty() {
                let (exchange, id) = (self.exchange.take()?, self.request.id.clone());
                let waiting = &self.endpoint.pending_input;
                let needed = waiting.keep(exchange, asked, &self.editor, &self.request);
                return Some(Message::Response(match needed {
                    Some(needed) => Response::result(id, needed),
                    None => {
                        Response::error(Some(id), -32603, "Too many calls are waiting for input.")
                    }
                }));
            }
            match self.exchange.as_mut()?.next().await? {
                ExchangeEvent::Answer(answer) => {
                    let exchange = self.exchange.take()?;
                    let (origin, question) = (answer.origin, exchange.unsupported_request());
                    if let Some(last) = self.finish(question, answer.response, origin) {
                        return Some(last);
                    }
                }
                ExchangeEvent::Notification(notification) if notification.method == method::LOG => {
                    if self.asked.level.is_some_and(|level| level.passes(&notification)) {
                        return Some(Message::Notification(notification));
                    }
                }
                ExchangeEvent::Notification(notification) => {
                    let size = notification.params.as_ref().map_or(0, |it| it.as_bytes().len());
                    if self.budget().has_room(size) {
                        return Some(Message::Notification(notification));
                    }
                    tracing::debug!("dropped a notification: its editor does not read");
                }
                ExchangeEvent::ServerRequest(question)
                    if self.request.method == method::TASKS_GET =>
                {
                    let exchange = self.exchange.take()?;
                    match self.endpoint.input_required_tasks.park(exchange, question, &self.editor)
                    {
                        Ok(state) => {
                            let response = Response::result(self.request.id.clone(), state);
                            let origin = AnswerOrigin::Gateway;
                            if let Some(last) = self.finish(None, response, origin) {
                                return Some(last);
                            }
                        }
                        Err(other) => {
                            let (exchange, question) = *other;
                            self.exchange = Some(exchange);
                            question.reject(CANNOT_ASK);
                        }
                    }
                }
                ExchangeEvent::ServerRequest(question) if !may_need_input(&self.request.method) => {
                    question.reject(CANNOT_ASK);
                }
                ExchangeEvent::ServerRequest(question) => self.exchange.as_mut()?.hold(question),
            }
        }
    }
}

impl ResponseMessages {
    fn budget(&self) -> Arc<Budget> {
        self.endpoint.budgets.editor(&self.editor)
    }

    /// Makes the last message of the response. `None` if it is large, so that another thread makes it.
    /// `question` is what the upstream asked and the editor does not support.
    fn finish(
        &mut self,
        question: Option<&Request>,
        response: Response,
        origin: AnswerOrigin,
    ) -> Option<Message> {
        let response = Response { id: Some(self.request.id.clone()), ..response };
        let server = self.endpoint.router.server_info(&self.view);
        let bytes = response.outcome.payload().as_bytes().len();
        if !message_parser::is_large(bytes) {
            let called = &self.request.method;
            let draft = ResponseDraft::of(called, question, response, origin, &server);
            return Some(Message::Response(self.settle(draft)));
        }
        let (called, question) = (self.request.method.clone(), question.cloned());
        let draft = move || {
            let question = question.as_ref();
            Box::new(ResponseDraft::of(&called, question, response, origin, &server))
        };
        self.last = Some(message_parser::process(bytes, draft).boxed());
        None
    }

    fn settle(&self, draft: ResponseDraft) -> Response {
        if let Some(links) = draft.links
            && links.iter().all(|link| self.asked.client_capabilities.can_answer(link))
            && let Some(needed) =
                self.endpoint.pending_input.links(&links, &self.editor, &self.request)
        {
            return Response::result(self.request.id.clone(), needed);
        }
        match draft.origin {
            AnswerOrigin::Gateway => self
                .budget()
                .keep_response(Some(&draft.before), draft.response)
                .unwrap_or_else(|no_room| self.discarded(&no_room.to_string())),
            AnswerOrigin::Upstream(_) | AnswerOrigin::Undelivered(_) => {
                self.budget().replace_response(&draft.before, draft.response)
            }
        }
    }

    /// The response in place of one that there is no room for.
    fn discarded(&self, why: &str) -> Response {
        let discarded = unfinished::discarded(&CallRef::of(&self.request), why);
        to_stateless(&self.request.method, discarded.response, None)
    }
}

/// The last message of a response, as far as it can be made without the state of the gateway.
struct ResponseDraft {
    /// In the form of the editor's version.
    response: Response,
    /// The payload as it arrived.
    before: Raw,
    /// The links that the user must open first.
    links: Option<Vec<Request>>,
    origin: AnswerOrigin,
}

impl ResponseDraft {
    /// A response of a stateless upstream already has the form of its version.
    fn of(
        called: &str,
        question: Option<&Request>,
        response: Response,
        origin: AnswerOrigin,
        server: &Raw,
    ) -> Self {
        let response = match question {
            Some(question) => missing_capability(question, response),
            None => response,
        };
        let before = response.outcome.payload().clone();
        if origin == AnswerOrigin::Upstream(ProtocolVersion::Stateless) {
            return Self { response, before, links: None, origin };
        }
        let links = match &response.outcome {
            Outcome::Error(error) => required_links(error),
            Outcome::Result(_) => None,
        };
        Self { response: to_stateless(called, response, Some(server)), before, links, origin }
    }
}

struct ResponseEvents {
    first: Option<Message>,
    messages: ResponseMessages,
}

impl Events for ResponseEvents {
    async fn next(&mut self) -> Option<Bytes> {
        let message = match self.first.take() {
            Some(first) => first,
            None => self.messages.next_message().await?,
        };
        let budget = self.messages.budget();
        let event = sse::write(None, None, &message.to_bytes());
        Some(budget.keep_copy(event))
    }
}
