//! The routes for editors, and the authentication that every group of routes requires. The control
//! API lists its own routes in [`crate::server::control`]; every other path is a file of the
//! dashboard.
//!
//! Messages of editors to `/mcp` and `/mcp/<upstream>` are most requests. They are answered without the router
//! ([`MessageRoute`]), which would copy their headers and box each step.

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::extract::DefaultBodyLimit;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use axum::{BoxError, Router, middleware};
use bytes::Bytes;
use http::{Method, Request};
use tower::Service as _;

use evermoor_core::protocol::mcp::header as mcp_header;
use evermoor_core::protocol::request_size::MAX_REQUEST_BYTES;

use crate::mcp::dispatch;
use crate::mcp::endpoint::McpEndpoint;
use crate::mcp::request_body::RequestBody;
use crate::mcp::session::{sse, stream};
use crate::server::auth;
use crate::server::auth::Authenticator;
use crate::server::control;
use crate::server::control::ControlApi;
use crate::server::dashboard;
use crate::server::listener::ConnectionState;
use crate::server::oauth_callback;
use crate::system::redaction;
use crate::upstream::auth::sign_in::CALLBACK;

/// The routes for editors, without authentication.
pub(crate) fn editors(endpoint: Arc<McpEndpoint>) -> Router {
    Router::new()
        .route("/mcp", streamable())
        .route("/mcp/{upstream}", streamable())
        .route("/sse", get(sse::open).fallback(dispatch::method_not_allowed))
        .route("/sse/{upstream}", get(sse::open).fallback(dispatch::method_not_allowed))
        .route("/messages", post(sse::post).fallback(dispatch::method_not_allowed))
        .route("/messages/{upstream}", post(sse::post).fallback(dispatch::method_not_allowed))
        .layer(DefaultBodyLimit::max(MAX_REQUEST_BYTES))
        .with_state(endpoint)
}

/// All routes.
#[derive(Clone)]
pub struct Routes {
    messages: Option<MessageRoute>,
    router: Router,
}

/// Answers messages of editors.
#[derive(Clone)]
struct MessageRoute {
    authenticator: Arc<Authenticator>,
    endpoint: Arc<McpEndpoint>,
}

impl Routes {
    /// Answers a request that arrived over this connection.
    pub(super) async fn answer<B>(
        &self,
        request: Request<B>,
        connection: &Arc<ConnectionState>,
    ) -> Response
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        if let Some(messages) = self.messages.as_ref().filter(|_| is_message(&request)) {
            // Boxed, because a connection that waits for a request must not keep room for its answer.
            return Box::pin(messages.answer(request, connection)).await;
        }
        let (mut head, body) = request.into_parts();
        head.extensions.insert(Arc::clone(connection));
        let mut router = self.router.clone();
        let Ok(response) = router.call(Request::from_parts(head, Body::new(body))).await;
        response
    }
}

impl From<Router> for Routes {
    fn from(router: Router) -> Self {
        Self { messages: None, router }
    }
}

impl MessageRoute {
    async fn answer<B>(&self, request: Request<B>, connection: &Arc<ConnectionState>) -> Response
    where
        B: HttpBody<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        let editor = match self.authenticator.admit_editor(&request, Some(connection)) {
            Ok(editor) => editor,
            Err(refusal) => return Authenticator::refusal(refusal),
        };
        let (head, body) = request.into_parts();
        let in_session = head.headers.contains_key(mcp_header::SESSION);
        let answering = async {
            let upstream = named_upstream(head.uri.path()).flatten();
            match RequestBody::charged(&self.endpoint, &editor, body).await {
                Ok(RequestBody(body)) => {
                    dispatch::answer(&self.endpoint, &editor, upstream, &head.headers, body).await
                }
                Err(refusal) => refusal,
            }
        };
        self.authenticator.answer_as(editor.clone(), in_session, answering).await
    }
}

/// Whether a request is a message of an editor. One with an encoded path is left to the router.
fn is_message<B>(request: &Request<B>) -> bool {
    request.method() == Method::POST && named_upstream(request.uri().path()).is_some()
}

/// The upstream in the path of the endpoint; `Some(None)` for all upstreams, `None` for any other path.
fn named_upstream(path: &str) -> Option<Option<&str>> {
    match path.strip_prefix("/mcp")? {
        "" => Some(None),
        rest => {
            let name = rest.strip_prefix('/')?;
            (!name.is_empty() && !name.contains(['/', '%'])).then_some(Some(name))
        }
    }
}

/// All routes. `editors` are those for editors.
pub(crate) fn all(
    authenticator: &Arc<Authenticator>,
    endpoint: &Arc<McpEndpoint>,
    editors: Router,
    control: Arc<ControlApi>,
) -> Routes {
    let messages =
        MessageRoute { authenticator: Arc::clone(authenticator), endpoint: Arc::clone(endpoint) };
    Routes { messages: Some(messages), router: app(authenticator, editors, control) }
}

fn app(authenticator: &Arc<Authenticator>, editors: Router, control: Arc<ControlApi>) -> Router {
    let editors = editors.layer(middleware::from_fn_with_state(
        Arc::clone(authenticator),
        auth::require_editor_token,
    ));
    let tools = control::routes()
        .layer(middleware::from_fn(redaction::answers))
        .layer(middleware::from_fn_with_state(
            Arc::clone(authenticator),
            auth::require_control_token,
        ))
        .with_state(Arc::clone(&control));
    let callback = Router::new()
        .route(CALLBACK, get(oauth_callback::answer))
        .layer(middleware::from_fn_with_state(Arc::clone(authenticator), auth::require_navigation))
        .with_state(Arc::clone(&control));
    let pages = control::login()
        .with_state(control)
        .fallback(dashboard::file)
        .layer(middleware::from_fn_with_state(Arc::clone(authenticator), auth::require_own_origin));
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .merge(editors)
        .merge(tools)
        .merge(callback)
        .merge(pages)
}

/// Streamable HTTP: POST for messages, GET for the notification stream, DELETE to end a session.
fn streamable() -> MethodRouter<Arc<McpEndpoint>> {
    post(dispatch::post)
        .get(stream::get)
        .delete(dispatch::delete)
        .fallback(dispatch::method_not_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_of_the_endpoint_bypass_the_router() {
        assert_eq!(named_upstream("/mcp"), Some(None));
        assert_eq!(named_upstream("/mcp/notes"), Some(Some("notes")));
        for path in ["/", "/mcp/", "/mcpx", "/mcp/a/b", "/mcp/a%20b", "/sse", "/api/status"] {
            assert_eq!(named_upstream(path), None, "{path}");
        }
        let get = Request::get("/mcp").body(()).unwrap();
        assert!(!is_message(&get));
        assert!(is_message(&Request::post("/mcp?x=1").body(()).unwrap()));
    }
}
