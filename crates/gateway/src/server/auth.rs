//! Authentication: checks Host, Origin and token before a body is read. The rules are in
//! `core::security::request_access`.
//!
//! When an editor's token is revoked, its open streams end. A request in flight still gets its
//! response: a refusal would wrongly say that it was not executed.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use http::uri::Authority;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use hyper::body::Body as _;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use evermoor_core::api;
use evermoor_core::config;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::mcp::header as mcp_header;
use evermoor_core::security::request_access::{
    AccessDenied, AccessRequest, GuessLimiter, bearer, check_navigation, check_origin, same_token,
};

use crate::editors::{Editor, Editors};
use crate::server::listener::ConnectionState;
use crate::system::budget::Budgets;

/// What requests are checked against.
pub struct Authenticator {
    pub port: u16,
    pub editors: Arc<Editors>,
    pub settings: watch::Receiver<config::GatewayConfig>,
    pub control_token: String,
    pub guesses: Mutex<HashMap<GuessTarget, GuessLimiter>>,
    pub budgets: Budgets,
}

/// What a client may be guessing: a token, or a session of an authenticated editor.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum GuessTarget {
    Token,
    Session(String),
}

/// Wrong tokens per minute before the answer is 429.
const MAX_WRONG_TOKENS: usize = 20;
/// Unknown sessions per minute before the answer is 429. After a reinstallation there may be one
/// per call in flight.
const MAX_UNKNOWN_SESSIONS: usize = 200;

impl Authenticator {
    fn is_over_limit(&self, target: GuessTarget, most: usize) -> bool {
        let mut guesses = self.guesses.lock();
        let guesses = guesses.entry(target).or_insert_with(|| GuessLimiter::new(most));
        guesses.is_over_limit(Instant::now().into_std())
    }

    /// The refusal of a wrong token. A request without a token does not count as a guess.
    fn wrong_token(&self) -> AccessDenied {
        match self.is_over_limit(GuessTarget::Token, MAX_WRONG_TOKENS) {
            true => AccessDenied::TooManyTokens,
            false => AccessDenied::WrongToken,
        }
    }

    /// The editor that presents this token, or any client if no token is required.
    pub fn editor(&self, token: Option<&str>) -> Result<Editor, AccessDenied> {
        if !self.settings.borrow().require_token {
            return Ok(self.editors.without_token());
        }
        let token = token.filter(|token| !token.is_empty()).ok_or(AccessDenied::NoToken)?;
        self.editors.by_token(token).ok_or_else(|| self.wrong_token())
    }

    /// The response to a client that may not enter.
    pub fn refusal(refusal: AccessDenied) -> Response {
        refuse(refusal)
    }

    /// Answers a request of an authenticated editor with what `answering` returns. Limits guesses of session
    /// ids, and ends a stream when the token is revoked. `in_session` says whether the request has one.
    pub async fn answer_as(
        &self,
        editor: Editor,
        in_session: bool,
        answering: impl Future<Output = Response>,
    ) -> Response {
        let response = answering.await;
        if in_session && response.status() == StatusCode::NOT_FOUND {
            let target = GuessTarget::Session(editor.name);
            if self.is_over_limit(target, MAX_UNKNOWN_SESSIONS) {
                return refuse(AccessDenied::TooManySessions);
            }
        }
        until_revoked(response, editor.revoked)
    }

    /// The editor that sends this request over this connection, if it may.
    pub(super) fn admit_editor<B>(
        &self,
        request: &http::Request<B>,
        connection: Option<&Arc<ConnectionState>>,
    ) -> Result<Editor, AccessDenied> {
        self.check_headers(request, false)?;
        let editor = self.editor(bearer(access_request(request)).ok())?;
        match connection {
            Some(state) if !state.set_editor(|| self.budgets.connection(&editor.name)) => {
                Err(AccessDenied::TooManyConnections)
            }
            Some(_) | None => Ok(editor),
        }
    }

    /// Checks Host and Origin. A preflight is always refused: pages that need one have no access.
    fn check_headers<B>(
        &self,
        request: &http::Request<B>,
        own_page: bool,
    ) -> Result<(), AccessDenied> {
        check_origin(access_request(request), self.port, own_page)?;
        if request.method() == Method::OPTIONS { Err(AccessDenied::Origin) } else { Ok(()) }
    }

    /// Checks Host, and that a browser opens the address as a page.
    fn check_navigation(&self, request: &Request) -> Result<(), AccessDenied> {
        let header = |name: &'static str| {
            request.headers().get(name).map(|value| value.to_str().unwrap_or("unreadable"))
        };
        let (mode, target) = (header("sec-fetch-mode"), header("sec-fetch-dest"));
        check_navigation(access_request(request), self.port, mode, target)
    }
}

/// Requires an editor's token. Adds the [`Editor`] to the request.
pub async fn require_editor_token(
    State(authenticator): State<Arc<Authenticator>>,
    mut request: Request,
    next: Next,
) -> Response {
    match authenticator.admit_editor(&request, request.extensions().get()) {
        Ok(editor) => {
            request.extensions_mut().insert(editor.clone());
            let in_session = request.headers().contains_key(mcp_header::SESSION);
            authenticator.answer_as(editor, in_session, next.run(request)).await
        }
        Err(refusal) => refuse(refusal),
    }
}

/// Requires the control token, which the tray, the command line and the dashboard have.
pub async fn require_control_token(
    State(authenticator): State<Arc<Authenticator>>,
    request: Request,
    next: Next,
) -> Response {
    let known =
        authenticator.check_headers(&request, true).and_then(|()| bearer(access_request(&request)));
    match known {
        // To an editor, the control API does not exist.
        Ok(token) if authenticator.editors.knows(token) => StatusCode::NOT_FOUND.into_response(),
        Ok(token) if same_token(token, &authenticator.control_token) => {
            mark_authenticated(&request);
            next.run(request).await
        }
        Ok(_) => refuse(authenticator.wrong_token()),
        Err(refusal) => refuse(refusal),
    }
}

/// Requires only the dashboard's own origin, for pages that have no token yet.
pub async fn require_own_origin(
    State(authenticator): State<Arc<Authenticator>>,
    request: Request,
    next: Next,
) -> Response {
    match authenticator.check_headers(&request, true) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refuse(refusal),
    }
}

/// Requires that a browser shows the page to a user, for a page to which another site sends it.
pub async fn require_navigation(
    State(authenticator): State<Arc<Authenticator>>,
    request: Request,
    next: Next,
) -> Response {
    match authenticator.check_navigation(&request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refuse(refusal),
    }
}

/// Ends a stream when its editor's token is revoked. A response that is already complete is sent.
fn until_revoked(response: Response, revoked: CancellationToken) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    response.map(|body| {
        let frames = body.into_data_stream().take_until(revoked.cancelled_owned());
        Body::from_stream(frames)
    })
}

/// Marks the connection as authenticated, so that it may stay open while idle.
fn mark_authenticated(request: &Request) {
    if let Some(state) = request.extensions().get::<Arc<ConnectionState>>() {
        state.set_authenticated();
    }
}

fn access_request<B>(request: &http::Request<B>) -> AccessRequest<'_> {
    let headers = request.headers();
    // A header that is sent twice is ambiguous, so it counts as missing.
    let one = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        let first = values.next()?;
        values.next().is_none().then(|| first.to_str().unwrap_or("unreadable"))
    };
    // A header that only pages send says that there is a page, however often it is sent.
    let of_page =
        |name: HeaderName| headers.contains_key(&name).then(|| one(name).unwrap_or("doubled"));
    AccessRequest {
        host: one(header::HOST),
        authority: request.uri().authority().map(Authority::as_str),
        origin: of_page(header::ORIGIN),
        fetch_site: of_page(HeaderName::from_static("sec-fetch-site")),
        authorization: one(header::AUTHORIZATION),
    }
}

fn refuse(refusal: AccessDenied) -> Response {
    let (status, remedy) = match refusal {
        AccessDenied::NoHost => (StatusCode::BAD_REQUEST, "Send one Host header."),
        AccessDenied::Host => {
            (StatusCode::FORBIDDEN, "Use the address that `evermoor status` shows.")
        }
        AccessDenied::Origin => (StatusCode::FORBIDDEN, "Use an MCP client, not a web page."),
        AccessDenied::NoToken => {
            (StatusCode::UNAUTHORIZED, "Send the header `Authorization: Bearer <token>`.")
        }
        AccessDenied::WrongToken => {
            (StatusCode::UNAUTHORIZED, "Run `evermoor setup` to give the client a valid token.")
        }
        AccessDenied::TooManyTokens => {
            (StatusCode::TOO_MANY_REQUESTS, "Correct the token in the client's configuration.")
        }
        AccessDenied::TooManySessions => {
            (StatusCode::TOO_MANY_REQUESTS, "Send `initialize` again.")
        }
        AccessDenied::TooManyConnections => {
            (StatusCode::TOO_MANY_REQUESTS, "Close connections that are not used.")
        }
    };
    let what = format!("Refused: {refusal}.");
    let body = api::ErrorBody { error: Failure::new(Code::Forbidden, what, remedy) };
    let mut response = (status, axum::Json(body)).into_response();
    let more = match refusal {
        AccessDenied::NoToken | AccessDenied::WrongToken => (header::WWW_AUTHENTICATE, "Bearer"),
        AccessDenied::TooManyTokens | AccessDenied::TooManySessions => (header::RETRY_AFTER, "60"),
        AccessDenied::TooManyConnections => (header::RETRY_AFTER, "5"),
        AccessDenied::NoHost | AccessDenied::Host | AccessDenied::Origin => return response,
    };
    response.headers_mut().insert(more.0, HeaderValue::from_static(more.1));
    response
}
