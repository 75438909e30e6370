//! Editors of 2026-07-28, in which each request speaks for itself.
//!
//! # Theory of operation
//! There are no sessions. An answer is plain JSON, or a stream if something is said on the way to
//! it. The stream is the request: whoever closes it has cancelled, and because the exchange lives
//! in the body of the answer, it ends with it. A question of an older upstream ends the request
//! with an answer that says what is needed; the call waits until the editor comes back.

use std::sync::Arc;

use axum::body::Bytes;
use axum::response::{IntoResponse as _, Response as HttpResponse};
use http::{HeaderMap, StatusCode};
use tokio::time::sleep;

use evermoor_core::envelope::{
    INVALID_PARAMS, METHOD_NOT_FOUND, Message, Outcome, Request, Response,
};
use evermoor_core::mirrored::{agree, mirrored};
use evermoor_core::protocol::method;
use evermoor_core::sse;
use evermoor_core::stateless::{self, Asked, HEADERS_DISAGREE};

use super::continuation::Back;
use super::endpoint::{Endpoint, json, json_with, refuse, value};
use super::exchange::{Asker, Exchange, Part};
use super::legacy::SIGN_OF_LIFE;
use super::stream::{self, Events};
use super::visitor;
use crate::editors::Editor;
use crate::router::{Addressee, View};
use crate::upstream::Owner;

impl Endpoint {
    /// Answers a message that speaks for itself.
    pub(super) async fn stateless(
        self: &Arc<Self>,
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
        let client = visitor::program(&request);
        let who = self.attend_program(editor, &client, headers, &view);
        match request.method.as_str() {
            method::DISCOVER => {
                let result = self.router.introduce(&view).await.discovery();
                json(&Response::result(request.id, result))
            }
            method::LISTEN => self.tell_news(view, request, editor, self.attendance.listens(who)),
            _ => {
                let addressee = self.router.addressee(&view, &request).await;
                if !headers_agree(&addressee, headers) {
                    let why = "A header Mcp-Param disagrees with the body.";
                    let refusal = Response::error(Some(request.id), HEADERS_DISAGREE, why);
                    return json_with(StatusCode::BAD_REQUEST, &refusal);
                }
                self.answer_newer(view, addressee, request, asked, editor, client.name).await
            }
        }
    }

    async fn answer_newer(
        self: &Arc<Self>,
        view: View,
        addressee: Addressee,
        request: Request,
        asked: Asked,
        editor: &Editor,
        client: String,
    ) -> HttpResponse {
        let exchange = match self.continuations.resume(&editor.name, &request) {
            Back::Goes(exchange) => *exchange,
            Back::Unknown => {
                let why = "`requestState` is not known here any more. Make the call again without it; it may have run.";
                return json(&Response::error(Some(request.id), INVALID_PARAMS, why));
            }
            Back::New => {
                let (session, abilities) = (self.sessions.number(), asked.abilities);
                let owner = Owner::Editor(editor.name.clone());
                let (who_asks, client) = (None, Some(client));
                let asker = Asker { session, owner, abilities, who_asks, client };
                Exchange::with(self, addressee, &view, &request, asker)
            }
        };
        let (editor_name, endpoint) = (editor.name.clone(), Arc::clone(self));
        let mut telling =
            Telling { exchange: Some(exchange), view, request, asked, editor_name, endpoint };
        let first = tokio::select! {
            said = telling.next_message() => said,
            () = sleep(SIGN_OF_LIFE) => None,
        };
        match first {
            Some(Message::Response(response)) => json_with(status(&response), &response),
            first => stream::of(Told { first, telling }),
        }
    }
}

/// Whether the parameters that stand in headers are those of the body.
fn headers_agree(addressee: &Addressee, headers: &HeaderMap) -> bool {
    let Addressee::Upstream(upstream, request) = addressee else { return true };
    let Some(known) = upstream.state().known else { return true };
    agree(&mirrored(request, &known.traits), |name| match headers.get(name) {
        None => Ok(None),
        Some(value) => value.to_str().map(|text| Some(text.to_owned())).map_err(|_| ()),
    })
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
            match self.exchange.as_mut()?.next().await? {
                Part::Message(Message::Response(response)) => {
                    let newer = self.exchange.take().is_some_and(|exchange| exchange.is_newer());
                    let response = Response { id: Some(self.request.id.clone()), ..response };
                    return Some(Message::Response(match newer {
                        true => response,
                        false => {
                            let server = self.endpoint.router.server_info(&self.view);
                            stateless::newer(&self.request.method, response, Some(&server))
                        }
                    }));
                }
                Part::Message(Message::Notification(told)) if told.method == method::LOG => {
                    if self.asked.level.is_some_and(|level| level.hears(&told)) {
                        return Some(Message::Notification(told));
                    }
                }
                Part::Message(message) => return Some(message),
                Part::Question(question) if !may_need_input(&self.request.method) => {
                    question.turn_away("The editor cannot be asked during this request.");
                }
                Part::Question(question) => {
                    let (exchange, id) = (self.exchange.take()?, self.request.id.clone());
                    let waiting = &self.endpoint.continuations;
                    let needed = waiting.keep(exchange, question, &self.editor_name, &self.request);
                    return Some(Message::Response(match needed {
                        Some(needed) => Response::result(id, needed),
                        None => Response::error(Some(id), -32603, "Too many calls wait for input."),
                    }));
                }
            }
        }
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

/// Requests that may be answered with what they need.
fn may_need_input(called: &str) -> bool {
    matches!(called, method::TOOLS_CALL | method::PROMPTS_GET | method::RESOURCES_READ)
}

/// A method that nobody knows is not found; every other answer is an answer.
fn status(response: &Response) -> StatusCode {
    let code = match &response.outcome {
        Outcome::Error(error) => error.member("code").and_then(|code| code.read::<i32>().ok()),
        Outcome::Result(_) => None,
    };
    match code {
        Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(-32021) => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}
