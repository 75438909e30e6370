//! Every HTTP route of a gateway, and who may use it.

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::routing::{MethodRouter, get, post};
use axum::{Router, middleware};

use crate::control::{self, Control};
use crate::downstream::endpoint::{Endpoint, LARGEST_REQUEST};
use crate::downstream::guard::{self, Door};
use crate::downstream::{events, listen, mcp};
use crate::{dashboard, redaction};

pub(crate) fn app(door: &Arc<Door>, endpoint: Arc<Endpoint>, control: Arc<Control>) -> Router {
    let editors = Router::new()
        .route("/mcp", streamable())
        .route("/mcp/{upstream}", streamable())
        .route("/sse", get(events::open).fallback(mcp::not_offered))
        .route("/sse/{upstream}", get(events::open).fallback(mcp::not_offered))
        .route("/messages", post(events::post).fallback(mcp::not_offered))
        .route("/messages/{upstream}", post(events::post).fallback(mcp::not_offered))
        .layer(DefaultBodyLimit::max(LARGEST_REQUEST))
        .layer(middleware::from_fn_with_state(Arc::clone(door), guard::editors))
        .with_state(endpoint);
    let tools = control::routes()
        .layer(middleware::from_fn(redaction::answers))
        .layer(middleware::from_fn_with_state(Arc::clone(door), guard::control))
        .with_state(Arc::clone(&control));
    let pages = control::login()
        .with_state(control)
        .fallback(dashboard::file)
        .layer(middleware::from_fn_with_state(Arc::clone(door), guard::place));
    Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .merge(editors)
        .merge(tools)
        .merge(pages)
}

/// Streamable HTTP: messages, the stream of news, and the end of a session.
fn streamable() -> MethodRouter<Arc<Endpoint>> {
    post(mcp::post).get(listen::get).delete(mcp::delete).fallback(mcp::not_offered)
}
