//! The routes for editors, and the authentication that every group of routes requires. The control
//! API lists its own routes in [`crate::server::control`]; every other path is a file of the
//! dashboard.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, get, post};
use axum::{Router, middleware};

use evermoor_core::protocol::request_size::MAX_REQUEST_BYTES;

use crate::mcp::dispatch;
use crate::mcp::endpoint::McpEndpoint;
use crate::mcp::session::{sse, stream};
use crate::server::auth;
use crate::server::auth::Authenticator;
use crate::server::control;
use crate::server::control::ControlApi;
use crate::server::dashboard;
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

/// All routes. `editors` are those for editors.
pub(crate) fn app(
    authenticator: &Arc<Authenticator>,
    editors: Router,
    control: Arc<ControlApi>,
) -> Router {
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
