//! JSON-RPC batches, which only 2025-03-26 allows. Answers are sent as they are, so they stay charged
//! and nothing is copied.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use futures_util::future::join_all;
use http::{HeaderMap, StatusCode, header};

use evermoor_core::protocol::envelope::{INVALID_REQUEST, Message, Request, Response};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{SessionVersion, method};

use super::ActiveSession;
use super::subscriptions;
use crate::editors::Editor;
use crate::mcp::endpoint::McpEndpoint;
use crate::mcp::exchange::{Exchange, ExchangeEvent};
use crate::mcp::http_message::{json_with, refuse};
use crate::routing::router::View;
use crate::system::message_body::MessageBody;
use crate::system::message_parser;

/// The most messages in a batch.
const MAX_MESSAGES: usize = 100;

pub(crate) async fn answer(
    endpoint: &McpEndpoint,
    view: View,
    editor: &Editor,
    headers: &HeaderMap,
    body: &Bytes,
) -> HttpResponse {
    let session = match endpoint.find_session(editor, headers) {
        Ok(session) => session,
        Err((status, why)) => return refuse(status, why),
    };
    if session.claims().revision != SessionVersion::V2025_03_26 {
        let why = "Send one message at a time: only 2025-03-26 allows batches.";
        return refuse(StatusCode::BAD_REQUEST, why);
    }
    let parts = match message_parser::parse_batch(body, MAX_MESSAGES + 1).await {
        Ok(parts) => parts,
        Err(invalid) => return json_with(StatusCode::BAD_REQUEST, &Response::from(invalid)),
    };
    if parts.is_empty() || parts.len() > MAX_MESSAGES {
        return refuse(StatusCode::BAD_REQUEST, "Send 1 to 100 messages in a batch.");
    }
    let view = view.with_names(session.names());
    let answers = parts.iter().map(|part| answer_part(endpoint, &view, &session, part));
    let answers: Vec<Response> = join_all(answers).await.into_iter().flatten().collect();
    if answers.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    let body = Body::new(MessageBody::batch(answers.iter().map(Response::to_parts)));
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

async fn answer_part(
    endpoint: &McpEndpoint,
    view: &View,
    session: &Arc<ActiveSession>,
    part: &Raw,
) -> Option<Response> {
    Some(match message_parser::parse_from_editor(part.as_bytes()).await {
        Err(rejected) => rejected.into(),
        Ok(Message::Request(request)) if request.method == method::INITIALIZE => {
            let why = "Send `initialize` on its own, not in a batch.";
            Response::error(Some(request.id), INVALID_REQUEST, why)
        }
        Ok(Message::Request(request))
            if subscriptions::is_subscription_request(&request.method) =>
        {
            endpoint.update_subscriptions(view, session, &request).await
        }
        Ok(Message::Request(request)) => final_answer(endpoint, view, session, request).await?,
        Ok(message) => {
            endpoint.receive(session, message);
            return None;
        }
    })
}

/// The response to a request, without the notifications before it.
async fn final_answer(
    endpoint: &McpEndpoint,
    view: &View,
    session: &Arc<ActiveSession>,
    request: Request,
) -> Option<Response> {
    let call = session.begin(request.id.clone());
    let mut exchange = Exchange::start(endpoint, view.clone(), request, session.requester());
    let answer = async {
        loop {
            match exchange.next().await? {
                ExchangeEvent::Answer(answer) => return Some(answer.response),
                ExchangeEvent::Notification(_) => {}
                ExchangeEvent::ServerRequest(question) => {
                    question.reject("The client cannot be asked during a batch.");
                }
            }
        }
    };
    tokio::select! {
        answer = answer => answer,
        () = call.cancelled.cancelled() => None,
    }
}
