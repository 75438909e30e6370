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
use http::{HeaderMap, StatusCode};
use tokio::time::{Instant, sleep};

use evermoor_core::failure::outcome::{AnswerOrigin, DeliveryStatus, Unknown};
use evermoor_core::protocol::envelope::{INVALID_PARAMS, Message, Outcome, Request, Response};
use evermoor_core::protocol::event_id::CallRef;
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
use super::session::handler::KEEPALIVE_INTERVAL;
use super::session::subscriptions;
use crate::editors::Editor;
use crate::monitoring::clients::ClientKey;
use crate::routing::router::{Destination, View};
use crate::system::budget::Budget;
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
            json(&Response::result(request.id, result))
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
            if let (Some(level), Destination::Upstream(upstream, _)) = (asked.level, &destination) {
                let upstream = upstream.used_by(&requester.owner);
                subscriptions::ensure_log_level(&endpoint.upstream_subscriptions, &upstream, level)
                    .await;
            }
            let batches = may_need_input(&request.method);
            Exchange::with(endpoint, destination, &view, &request, requester)
                .batching_input(batches)
        }
    };
    let (editor, endpoint) = (editor.name.clone(), Arc::clone(endpoint));
    let mut messages =
        ResponseMessages { exchange: Some(exchange), view, request, asked, editor, endpoint };
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
    view: View,
    request: Request,
    asked: RequestMeta,
    editor: String,
    endpoint: Arc<McpEndpoint>,
}

impl ResponseMessages {
    /// The next message; `None` after the response.
    async fn next_message(&mut self) -> Option<Message> {
        loop {
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
                    let newer_already =
                        answer.origin == AnswerOrigin::Upstream(ProtocolVersion::Stateless);
                    let response = match exchange.unsupported_request() {
                        Some(question) => missing_capability(question, answer.response),
                        None => answer.response,
                    };
                    return Some(Message::Response(self.final_response(response, newer_already)));
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
                            return Some(Message::Response(self.final_response(response, false)));
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

    /// The response as a stateless editor receives it. A response of a stateless upstream already
    /// has the form of its version.
    fn final_response(&self, response: Response, newer_already: bool) -> Response {
        let response = Response { id: Some(self.request.id.clone()), ..response };
        if newer_already {
            return response;
        }
        if let Outcome::Error(error) = &response.outcome
            && let Some(links) = required_links(error)
            && links.iter().all(|link| self.asked.client_capabilities.can_answer(link))
            && let Some(needed) =
                self.endpoint.pending_input.links(&links, &self.editor, &self.request)
        {
            return Response::result(self.request.id.clone(), needed);
        }
        let server = self.endpoint.router.server_info(&self.view);
        let before = response.outcome.payload().clone();
        let response = to_stateless(&self.request.method, response, Some(&server));
        self.budget().keep_response(&before, response)
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
        let event = sse::write(None, None, &message.to_bytes());
        Some(self.messages.budget().keep_copy(event))
    }
}
