//! Who may speak: Host, Origin and token, checked before anything is read.
//!
//! When an editor's token is revoked, its open streams end. A request that waits for its answer
//! gets it: to refuse it then would say that it was not executed, and that would be a lie.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use hyper::body::Body as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use evermoor_core::config;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::guard::{Refusal, Visitor, bearer, check_place, same_token};
use evermoor_core::view;

use crate::editors::Editors;

/// What the gateway checks visitors against.
pub struct Door {
    pub port: u16,
    pub editors: Arc<Editors>,
    pub settings: watch::Receiver<config::Gateway>,
    pub control_token: String,
}

/// Lets editors in. The request carries the [`Editor`](crate::editors::Editor) that it comes from.
pub async fn editors(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Response {
    let visitor = visitor(request.headers());
    let editor = match check_place(visitor, door.port, false) {
        Ok(()) if !door.settings.borrow().require_token => Ok(door.editors.anybody()),
        Ok(()) => {
            bearer(visitor).and_then(|token| door.editors.by_token(token).ok_or(Refusal::Token))
        }
        Err(refusal) => Err(refusal),
    };
    match editor {
        Ok(editor) => {
            let revoked = editor.revoked.clone();
            request.extensions_mut().insert(editor);
            until_revoked(next.run(request).await, revoked)
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
        Ok(token) if door.editors.knows(token) => StatusCode::NOT_FOUND.into_response(),
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

/// A stream that ends when its editor is turned away. An answer that is there already is sent.
fn until_revoked(response: Response, revoked: CancellationToken) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| {
        let frames = body.into_data_stream().take_until(revoked.cancelled_owned());
        Body::from_stream(frames)
    })
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
