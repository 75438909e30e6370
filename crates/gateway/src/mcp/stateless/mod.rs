//! Editors of 2026-07-28, in which each request speaks for itself.
//!
//! # Theory of operation
//! There are no sessions. An answer is plain JSON, or a stream if something is said on the way to
//! it. The stream is the request: whoever closes it has cancelled, and because the exchange lives
//! in the body of the answer, it ends with it. A question of an older upstream ends the request
//! with an answer that says what is needed; the call waits until the editor comes back.

mod checks;
pub(crate) mod listen;
pub(crate) mod pending_input;

use std::sync::Arc;

use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use http::{HeaderMap, StatusCode};
use tokio::time::sleep;

use evermoor_core::failure::outcome::{Fate, Unknown};
use evermoor_core::protocol::envelope::{INVALID_PARAMS, Message, Outcome, Request, Response};
use evermoor_core::protocol::event_id::Call;
use evermoor_core::protocol::mcp::method;
use evermoor_core::protocol::sse;
use evermoor_core::protocol::stateless;
use evermoor_core::protocol::stateless::Asked;
use evermoor_core::protocol::translate::input_request::links_required;
use evermoor_core::protocol::translate::response::{HEADERS_DISAGREE, newer, unable};
use evermoor_core::protocol::version::Spoken;

use super::endpoint::Endpoint;
use super::event_stream;
use super::event_stream::Events;
use super::exchange::abandoned;
use super::exchange::{Asker, Exchange, Part};
use super::http_message::{json, json_with, refuse, value};
use super::session::handler::SIGN_OF_LIFE;
use super::session::subscriptions;
use crate::editors::Editor;
use crate::monitoring::clients::Who;
use crate::routing::router::{Addressee, View};
use crate::upstream::Owner;
use checks::{declined, headers_agree, is_foreign, is_ours, may_need_input, status};
use pending_input::Back;

const NOT_NOW: &str = "The editor cannot be asked during this request.";

/// Answers a message that speaks for itendpoint.
pub(super) async fn answer(
    endpoint: &Arc<Endpoint>,
    view: View,
    editor: &Editor,
    headers: &HeaderMap,
    message: Message,
) -> HttpResponse {
    let request = match message {
        Message::Request(request) => request,
        Message::Notification(_) => return StatusCode::ACCEPTED.into_response(),
        Message::Response(_) => {
            return refuse(StatusCode::BAD_REQUEST, "Nobody asked anything here.");
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
    let who = endpoint.attend_program(editor, &request, headers, &view);
    match request.method.as_str() {
        method::DISCOVER => {
            let result = endpoint.router.introduce(&view).await.discovery();
            json(&Response::result(request.id, result))
        }
        method::LISTEN => {
            let here = endpoint.attendance.listens(who);
            listen::listen(endpoint, view, request, editor, here).await
        }
        _ => {
            let addressee = endpoint.router.addressee(&view, &request).await;
            if !headers_agree(&addressee, headers) {
                let why = "A header Mcp-Param disagrees with the body.";
                let refusal = Response::error(Some(request.id), HEADERS_DISAGREE, why);
                return json_with(StatusCode::BAD_REQUEST, &refusal);
            }
            if let Some((told, asking)) = endpoint.parked.answer(&editor.name, &request) {
                if let Some(asking) = asking {
                    let (following, editor) = (Arc::clone(endpoint), editor.name.clone());
                    endpoint.tasks.spawn(async move {
                        following.parked.follow(asking, &editor).await;
                    });
                }
                return json(&newer(&request.method, told, None));
            }
            answer_request(endpoint, view, addressee, request, asked, editor, who).await
        }
    }
}

async fn answer_request(
    endpoint: &Arc<Endpoint>,
    view: View,
    addressee: Addressee,
    request: Request,
    asked: Asked,
    editor: &Editor,
    who: Who,
) -> HttpResponse {
    let exchange = match endpoint.continuations.resume(&editor.name, &request) {
        Back::Goes(mut exchange) => {
            exchange.go_on();
            *exchange
        }
        Back::Refused(why) => {
            return json(&Response::error(Some(request.id), INVALID_PARAMS, why));
        }
        Back::Lost(since, why) => {
            let fate = Fate::Unknown(Unknown::GatewayRestarted, since);
            let told = abandoned::answer(&Call::of(&request), fate, why);
            return json(&newer(&request.method, told, None));
        }
        Back::Declined => return json(&declined(&request)),
        Back::New if is_foreign(&addressee, &request) => {
            let why = "`requestState` is not one that was given here.";
            return json(&Response::error(Some(request.id), INVALID_PARAMS, why));
        }
        Back::New | Back::Again => {
            let asker = Asker {
                session: endpoint.sessions.number(),
                editor: editor.name.clone(),
                spoken: Spoken::Stateless,
                owner: Owner::Editor(editor.name.clone()),
                abilities: asked.abilities,
                tasks: asked.tasks,
                logs: asked.level.is_some(),
                who_asks: None,
                client: who.client(),
            };
            if let (Some(level), Addressee::Upstream(upstream, _)) = (asked.level, &addressee) {
                let upstream = upstream.used_by(&asker.owner);
                subscriptions::speak_up(&endpoint.interests, &upstream, level).await;
            }
            let gathers = may_need_input(&request.method);
            Exchange::with(endpoint, addressee, &view, &request, asker).gathering(gathers)
        }
    };
    let (editor_name, endpoint) = (editor.name.clone(), Arc::clone(endpoint));
    let mut telling =
        Telling { exchange: Some(exchange), view, request, asked, editor_name, endpoint };
    let first = tokio::select! {
        said = telling.next_message() => said,
        () = sleep(SIGN_OF_LIFE) => None,
    };
    match first {
        Some(Message::Response(response)) => json_with(status(&response), &response),
        first => event_stream::of(Told { first, telling }),
    }
}

/// An exchange in the words of this revision.
struct Telling {
    exchange: Option<Exchange>,
    view: View,
    request: Request,
    asked: Asked,
    editor_name: String,
    endpoint: Arc<Endpoint>,
}

impl Telling {
    /// The next message; `None` after the answer.
    async fn next_message(&mut self) -> Option<Message> {
        loop {
            let asked = self.exchange.as_mut()?.asked_together().await;
            if !asked.is_empty() {
                let (exchange, id) = (self.exchange.take()?, self.request.id.clone());
                let waiting = &self.endpoint.continuations;
                let needed = waiting.keep(exchange, asked, &self.editor_name, &self.request);
                return Some(Message::Response(match needed {
                    Some(needed) => Response::result(id, needed),
                    None => Response::error(Some(id), -32603, "Too many calls wait for input."),
                }));
            }
            match self.exchange.as_mut()?.next().await? {
                Part::Message(Message::Response(response)) => {
                    let exchange = self.exchange.take()?;
                    let response = match exchange.lacked() {
                        Some(question) => unable(question, response),
                        None => response,
                    };
                    return Some(Message::Response(self.last_word(response, exchange.is_newer())));
                }
                Part::Message(Message::Notification(told)) if told.method == method::LOG => {
                    if self.asked.level.is_some_and(|level| level.hears(&told)) {
                        return Some(Message::Notification(told));
                    }
                }
                Part::Message(message) => return Some(message),
                Part::Question(question) if self.request.method == method::TASKS_GET => {
                    let exchange = self.exchange.take()?;
                    match self.endpoint.parked.park(exchange, question, &self.editor_name) {
                        Ok(state) => {
                            let told = Response::result(self.request.id.clone(), state);
                            return Some(Message::Response(self.last_word(told, false)));
                        }
                        Err(other) => {
                            let (exchange, question) = *other;
                            self.exchange = Some(exchange);
                            question.turn_away(NOT_NOW);
                        }
                    }
                }
                Part::Question(question) if !may_need_input(&self.request.method) => {
                    question.turn_away(NOT_NOW);
                }
                Part::Question(question) => self.exchange.as_mut()?.hold(question),
            }
        }
    }
}

impl Telling {
    /// The answer in the words of this revision.
    fn last_word(&self, response: Response, newer_already: bool) -> Response {
        let response = Response { id: Some(self.request.id.clone()), ..response };
        if newer_already && !is_ours(&response) {
            return response;
        }
        if let Outcome::Error(error) = &response.outcome
            && let Some(links) = links_required(error)
            && links.iter().all(|link| self.asked.abilities.can_answer(link))
            && let Some(needed) =
                self.endpoint.continuations.links(&links, &self.editor_name, &self.request)
        {
            return Response::result(self.request.id.clone(), needed);
        }
        let server = self.endpoint.router.server_info(&self.view);
        newer(&self.request.method, response, Some(&server))
    }
}

struct Told {
    first: Option<Message>,
    telling: Telling,
}

impl Events for Told {
    async fn next(&mut self) -> Option<Bytes> {
        let message = match self.first.take() {
            Some(first) => first,
            None => self.telling.next_message().await?,
        };
        Some(sse::write(None, None, &message.to_bytes()))
    }
}
