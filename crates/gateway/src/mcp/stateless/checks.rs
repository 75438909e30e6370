//! Checks of stateless requests (2026-07-28) and of their responses.

use http::{HeaderMap, StatusCode};

use evermoor_core::failure::outcome;
use evermoor_core::protocol::envelope::{
    INVALID_PARAMS, METHOD_NOT_FOUND, Outcome, Request, Response,
};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::stateless;
use evermoor_core::protocol::translate::param_headers::{headers_match, required_headers};
use evermoor_core::protocol::translate::response::{MISSING_CLIENT_CAPABILITY, to_stateless};

use crate::routing::router::Destination;

/// Whether the `Mcp-Param` headers match the body.
pub(super) fn headers_agree(destination: &Destination, headers: &HeaderMap) -> bool {
    let Destination::Upstream(upstream, request) = destination else { return true };
    if headers.contains_key(stateless::STDIO_CLIENT_HEADER) {
        return true;
    }
    let Some(known) = upstream.state().known else { return true };
    headers_match(&required_headers(request, &known.traits), |name| match headers.get(name) {
        None => Ok(None),
        Some(value) => value.to_str().map(|text| Some(text.to_owned())).map_err(|_| ()),
    })
}

/// Whether a call carries a `requestState` that its upstream cannot have issued. The upstream would
/// take it for a new call.
pub(super) fn has_foreign_state(destination: &Destination, request: &Request) -> bool {
    let params = request.params.as_ref();
    let brings = params.is_some_and(|params| params.has("requestState"));
    let Destination::Upstream(upstream, _) = destination else { return false };
    brings && !upstream.protocol_version().is_stateless()
}

/// The response to a call that needs a link opened which the user declined to open.
pub(super) fn declined(request: &Request) -> Response {
    let text = "Not executed: the user did not open the link that the server requires.";
    let (_, is_tool) = outcome::subject(&request.method, request.params.as_ref());
    if !is_tool {
        return Response::error(Some(request.id.clone()), INVALID_PARAMS, text);
    }
    let block = serde_json::json!({ "type": "text", "text": text });
    let result = serde_json::json!({ "content": [block], "isError": true });
    to_stateless(&request.method, Response::result(request.id.clone(), Raw::of(&result)), None)
}

/// The HTTP status of a response: an unknown method is 404, a missing capability 400, all else 200.
pub(super) fn status(response: &Response) -> StatusCode {
    let code = match &response.outcome {
        Outcome::Error(error) => error.member("code").and_then(|code| code.read::<i32>().ok()),
        Outcome::Result(_) => None,
    };
    match code {
        Some(METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(MISSING_CLIENT_CAPABILITY) => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}
