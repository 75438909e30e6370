//! The HTTP API of the fake PiecesOS: every path of the real one that Evermoor may use.
//!
//! It has no websockets, because Evermoor uses none. Requests other than MCP are recorded in the
//! ledger by method and path.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use serde_json::{Value, json};

use super::fault::Area;
use super::mcp::{sse, streamable};
use super::process::FakeApp;
use super::settings::AppSettings;

const VISION: &str = "/workstream_pattern_engine/processors/vision";

pub(super) fn routes(app: &Arc<FakeApp>) -> Router {
    let plain = Router::new()
        .route("/.well-known/health", get(health))
        .route("/.well-known/version", get(version))
        .route("/.well-known/installation/path", get(|| async { "/opt/pieces-os" }))
        .route("/user", get(user))
        .route("/applications", get(applications))
        .route("/connect", post(|| async { Json(json!({ "application": { "id": "caller" } })) }))
        .route(&format!("{VISION}/status"), get(vision))
        .route(&format!("{VISION}/activate"), post(|app: State<Arc<FakeApp>>| remember(app, true)))
        .route(
            &format!("{VISION}/deactivate"),
            post(|app: State<Arc<FakeApp>>| remember(app, false)),
        )
        .route("/os/restart", get(restart))
        .route("/os/terminate", post(terminate))
        .route("/os/memory/optimize", post(optimize))
        .layer(middleware::from_fn_with_state(Arc::clone(app), in_good_health));
    let mcp = Router::new()
        .route("/model_context_protocol/schema_versions", get(schema_versions))
        .route(sse::STREAM, get(sse::open))
        .route(sse::MESSAGES, post(sse::take))
        .route(
            streamable::PATH,
            post(streamable::take).get(streamable::listen).delete(streamable::end),
        )
        .layer(middleware::from_fn_with_state(Arc::clone(app), in_mood_for_mcp));
    plain.merge(mcp).with_state(Arc::clone(app))
}

async fn in_good_health(State(app): State<Arc<FakeApp>>, request: Request, next: Next) -> Response {
    match app.behaviours.pass(Area::Health).await {
        Ok(()) => next.run(request).await,
        Err(status) => status.into_response(),
    }
}

async fn in_mood_for_mcp(
    State(app): State<Arc<FakeApp>>,
    request: Request,
    next: Next,
) -> Response {
    if app.settings().half_up {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    match app.behaviours.pass(Area::Mcp).await {
        Ok(()) => next.run(request).await,
        Err(status) => status.into_response(),
    }
}

/// The number after the word differs in every process.
async fn health() -> String {
    format!("ok:{:08x}-0000-4000-8000-000000000000", std::process::id())
}

async fn version(State(app): State<Arc<FakeApp>>) -> String {
    app.settings().version
}

async fn user(State(app): State<Arc<FakeApp>>) -> Json<Value> {
    Json(match app.settings().signed_in {
        true => json!({ "user": { "id": "somebody", "name": "Somebody" } }),
        false => json!({}),
    })
}

async fn applications() -> Json<Value> {
    Json(json!({ "iterable": [{ "id": "os", "name": "OS_SERVER" }] }))
}

async fn vision(State(app): State<Arc<FakeApp>>) -> Json<Value> {
    let activation =
        app.settings().long_term_memory.then(|| json!({ "value": "2026-01-01T00:00:00Z" }));
    Json(json!({ "vision": { "activation": activation } }))
}

async fn remember(State(app): State<Arc<FakeApp>>, on: bool) -> StatusCode {
    AppSettings::alter(&app.folder, |settings| settings.long_term_memory = on);
    StatusCode::NO_CONTENT
}

/// The older transport comes first, which is why PiecesOS's own command line uses it.
async fn schema_versions(State(app): State<Arc<FakeApp>>) -> Json<Value> {
    let at = |path: &str| format!("http://localhost:{}{path}", app.port);
    Json(json!({ "iterable": [
        { "version": "2024-11-05", "entry_endpoint": at(sse::STREAM) },
        { "version": "2025-03-26", "entry_endpoint": at(streamable::PATH) },
    ] }))
}

async fn restart(State(app): State<Arc<FakeApp>>) -> StatusCode {
    app.ledger.record("GET /os/restart");
    match app.restart() {
        Ok(()) => StatusCode::NO_CONTENT,
        Err(status) => StatusCode::from_u16(status).expect("a status of HTTP"),
    }
}

async fn terminate(State(app): State<Arc<FakeApp>>) -> StatusCode {
    app.ledger.record("POST /os/terminate");
    app.quit();
    StatusCode::NO_CONTENT
}

async fn optimize(State(app): State<Arc<FakeApp>>) -> StatusCode {
    app.ledger.record("POST /os/memory/optimize");
    app.optimize();
    StatusCode::NO_CONTENT
}
