//! Who may speak: Host, Origin and token, checked before anything is read.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use evermoor_core::config;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::guard::{Refusal, Visitor, bearer, check_place, same_token};
use evermoor_core::tokens::{LOCAL, Tokens};
use evermoor_core::view;

/// What the gateway checks visitors against.
pub struct Door {
    pub port: u16,
    pub tokens: Tokens,
    pub settings: watch::Receiver<config::Gateway>,
    pub control_token: String,
}

/// The editor that speaks, known by its token.
#[derive(Clone)]
pub struct Editor {
    pub name: String,
    /// Cancelled when its token is not good any more.
    pub revoked: CancellationToken,
}

/// Lets editors in.
pub async fn editors(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    let visitor = visitor(request.headers());
    let editor = match check_place(visitor, door.port, false) {
        Ok(()) if !door.settings.borrow().require_token => Ok(LOCAL.to_owned()),
        Ok(()) => bearer(visitor)
            .and_then(|token| door.tokens.editor(token).ok_or(Refusal::Token))
            .map(str::to_owned),
        Err(refusal) => Err(refusal),
    };
    match editor {
        Ok(name) => {
            request.extensions_mut().insert(Editor { name, revoked: CancellationToken::new() });
            next.run(request).await
        }
        Err(refusal) => refuse(refusal),
    }
}

/// Lets our own tools and the dashboard in.
pub async fn control(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    let visitor = visitor(request.headers());
    let known = check_place(visitor, door.port, true).and_then(|()| bearer(visitor));
    match known {
        // An editor's token does not even learn that there is a control API.
        Ok(token) if door.tokens.editor(token).is_some() => StatusCode::NOT_FOUND.into_response(),
        Ok(token) if same_token(token, &door.control_token) => next.run(request).await,
        Ok(_) => refuse(Refusal::Token),
        Err(refusal) => refuse(refusal),
    }
}

/// Lets a page of our own in that has no token yet.
pub async fn place(State(door): State<Arc<Door>>, request: Request, next: Next) -> Response {
    match check_place(visitor(request.headers()), door.port, true) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refuse(refusal),
    }
}

fn visitor(headers: &HeaderMap) -> Visitor<'_> {
    // A header that is sent twice could be read in two ways, so it counts as not sent at all.
    let one = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        let first = values.next()?;
        values.next().is_none().then(|| first.to_str().unwrap_or("unreadable"))
    };
    Visitor {
        host: one(header::HOST),
        origin: headers.get(header::ORIGIN).map(|value| value.to_str().unwrap_or("unreadable")),
        fetch_site: headers
            .get("sec-fetch-site")
            .map(|value| value.to_str().unwrap_or("unreadable")),
        authorization: one(header::AUTHORIZATION),
    }
}

fn refuse(refusal: Refusal) -> Response {
    let (status, remedy) = match refusal {
        Refusal::Host => (StatusCode::FORBIDDEN, "Use the address that `evermoor status` shows."),
        Refusal::Origin => (StatusCode::FORBIDDEN, "Use an MCP client, not a web page."),
        Refusal::Token => {
            (StatusCode::UNAUTHORIZED, "Send the header `Authorization: Bearer <token>`.")
        }
    };
    let what = format!("Refused: {refusal}.");
    let body = view::Refusal { error: Failure::new(Code::Forbidden, what, remedy) };
    let mut response = (status, axum::Json(body)).into_response();
    if refusal == Refusal::Token {
        let plain = HeaderValue::from_static("Bearer");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, plain);
    }
    response
}
