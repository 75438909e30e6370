//! `/mcp` and `/mcp/<upstream>`: tells stateless messages (2026-07-28) from those of a session, and
//! starts and ends sessions.

use std::sync::Arc;

use axum::extract::{Extension, Path, State};
use axum::response::{IntoResponse as _, Response as HttpResponse};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};

use evermoor_core::protocol::envelope::{INVALID_PARAMS, Message, Request, Response};
use evermoor_core::protocol::mcp::{
    InitializeParams, SessionVersion, header as mcp_header, method,
};
use evermoor_core::protocol::stateless;
use evermoor_core::protocol::translate::client_capabilities::ClientCapabilities;
use evermoor_core::security::session_id::SessionClaims;

use super::endpoint::McpEndpoint;
use super::http_message::wire;
use super::http_message::{check_types, json, json_with, refuse, value};
use super::request_body::{RequestBody, no_room};
use super::session::table::Sessions;
use super::session::{batch, handler};
use super::stateless::answer as answer_stateless;
use crate::editors::Editor;
use crate::routing::router::View;
use crate::system::message_parser;

/// Handles one message from an editor.
pub async fn post(
    State(endpoint): State<Arc<McpEndpoint>>,
    Extension(editor): Extension<Editor>,
    upstream: Option<Path<String>>,
    headers: HeaderMap,
    RequestBody(body): RequestBody,
) -> HttpResponse {
    let upstream = upstream.as_ref().map(|Path(name)| name.as_str());
    answer(&endpoint, &editor, upstream, &headers, body).await
}

/// The same, without the extractors of a route.
pub(crate) async fn answer(
    endpoint: &Arc<McpEndpoint>,
    editor: &Editor,
    upstream: Option<&str>,
    headers: &HeaderMap,
    body: Bytes,
) -> HttpResponse {
    endpoint.memory.note_request();
    let view = match endpoint.view(editor, upstream) {
        Ok(view) => view,
        Err(why) => return refuse(StatusCode::NOT_FOUND, &why.to_string()),
    };
    if let Err((status, why)) = check_types(headers) {
        return refuse(status, why);
    }
    if body.trim_ascii_start().starts_with(b"[") {
        return batch::answer(endpoint, view, editor, headers, &body).await;
    }
    let message = match message_parser::parse_from_editor(&body).await {
        Ok(message) => message,
        Err(rejected) => return json_with(StatusCode::BAD_REQUEST, &rejected.into()),
    };
    if is_stateless(&message, headers) {
        return answer_stateless(endpoint, view, editor, headers, message).await;
    }
    if let Message::Request(request) = &message
        && request.method == method::INITIALIZE
    {
        return initialize(endpoint, &view, editor, headers, request).await;
    }
    let session = match endpoint.find_session(editor, headers) {
        Ok(session) => session,
        Err((status, why)) => return refuse(status, why),
    };
    endpoint.client_seen(&session, wire(headers), &view);
    let view = view.with_names(session.names());
    match message {
        Message::Request(request) => handler::answer(endpoint, view, &session, request).await,
        message @ (Message::Notification(_) | Message::Response(_)) => {
            endpoint.receive(&session, message);
            StatusCode::ACCEPTED.into_response()
        }
    }
}

/// Ends a session.
pub async fn delete(
    State(endpoint): State<Arc<McpEndpoint>>,
    Extension(editor): Extension<Editor>,
    headers: HeaderMap,
) -> HttpResponse {
    if !headers.contains_key(mcp_header::SESSION) {
        return method_not_allowed().await;
    }
    match endpoint.find_session(&editor, &headers) {
        Ok(session) => {
            endpoint.sessions.end(&session);
            endpoint.client_left(&session);
            StatusCode::NO_CONTENT.into_response()
        }
        Err((status, why)) => refuse(status, why),
    }
}

/// The response to an HTTP method that the route does not support.
pub async fn method_not_allowed() -> HttpResponse {
    let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, "Use POST.");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

/// Whether a message is stateless: the protocol version header or the message's own `_meta` says
/// so. A message with a session id is not.
fn is_stateless(message: &Message, headers: &HeaderMap) -> bool {
    let newer = |revision: &str| SessionVersion::parse(revision).is_none();
    let announced = value(headers, mcp_header::PROTOCOL_VERSION).is_some_and(newer);
    match message {
        Message::Request(request) => {
            let claimed = stateless::is_stateless(request.params.as_ref());
            // A client that sends `initialize` uses sessions unless both the header and the body
            // say otherwise.
            if request.method == method::INITIALIZE {
                return announced && claimed;
            }
            announced || (claimed && !headers.contains_key(mcp_header::SESSION))
        }
        Message::Notification(_) | Message::Response(_) => announced,
    }
}

async fn initialize(
    endpoint: &McpEndpoint,
    view: &View,
    editor: &Editor,
    headers: &HeaderMap,
    request: &Request,
) -> HttpResponse {
    let claims = match read_initialize(request, editor) {
        Ok(claims) => claims,
        Err(refusal) => return json(&refusal),
    };
    let introduction = endpoint.router.server_description(view).await;
    let response = Response::result(request.id.clone(), introduction.handshake(claims.revision));
    let response = match endpoint.budgets.editor(&editor.name).keep_response(None, response) {
        Ok(response) => response,
        Err(full) => return no_room(&full),
    };
    let (session, id) = endpoint.sessions.create(claims);
    endpoint.client_seen(&session, wire(headers), view);
    let mut response = json(&response);
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(mcp_header::SESSION, id);
    }
    response
}

/// Reads the session that an `initialize` request asks for.
pub(super) fn read_initialize(
    request: &Request,
    editor: &Editor,
) -> Result<SessionClaims, Response> {
    let read = request.params.as_ref().and_then(|raw| raw.read::<InitializeParams>().ok());
    let (Some(params), Ok(nonce)) = (read, Sessions::nonce()) else {
        let why = "`initialize` needs `protocolVersion` and `clientInfo`.";
        return Err(Response::error(Some(request.id.clone()), INVALID_PARAMS, why));
    };
    let capabilities = request.params.as_ref().and_then(|params| params.member("capabilities"));
    Ok(SessionClaims {
        revision: SessionVersion::parse(&params.protocol_version).unwrap_or(SessionVersion::LATEST),
        editor: editor.name.clone(),
        client: params.client_info,
        client_capabilities: capabilities
            .as_ref()
            .map(ClientCapabilities::read)
            .unwrap_or_default(),
        nonce,
    })
}
