//! The control API: what the tray, the dashboard and the command line can read and do.
//!
//! It has a token of its own, in files that only their owner can read. No request carries a command
//! line or a URL to connect to.
//!
//! # Layout
//! - [`editors`]: tokens, setup and import
//! - `gateway`: doctor, self-test and moving to another port
//! - `monitoring`: calls, status events, incidents, logs and samples
//! - `upstreams`: catalog, pause, restart, secrets and test calls
//! - `settings`: `config.toml`; `sign_in`: signing in to servers
//! - [`login_links`]: how a browser logs in to Evermoor

pub mod editors;
mod gateway;
pub mod login_links;
mod monitoring;
mod settings;
pub(super) mod sign_in;
mod upstreams;

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use http::StatusCode;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use evermoor_core::api::{ErrorBody, Status};
use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;

use crate::apps::Apps;
use crate::config::edit::ConfigEditor;
use crate::config::first_run::FirstRun;
use crate::config::pauses::Pauses;
use crate::editors::Editors;
use crate::history::History;
use crate::mcp::endpoint::McpEndpoint;
use crate::monitoring::activity::Activity;
use crate::monitoring::timelines::Timelines;
use crate::monitoring::user_actions::UserActions;
use crate::routing::router;
use crate::upstream::auth::sign_in::SignIns;
use editors::{import, setup, tokens};
use gateway::{doctor, move_port, self_test};
use login_links::LoginLinks;
use monitoring::{activity, events, incidents, logs, samples};
use upstreams::{catalog, pause, restart, secrets, try_tool};

/// What the handlers of the control API work on.
pub struct ControlApi {
    pub router: router::Router,
    pub editors: Arc<Editors>,
    pub history: History,
    pub pauses: Pauses,
    pub apps: Apps,
    pub links: LoginLinks,
    pub control_token: String,
    pub here: setup::GatewayLocation,
    /// Cancelled when this gateway stops serving, because another one took over or it shuts down.
    pub moved: CancellationToken,
    /// Where test calls from the dashboard go.
    pub endpoint: Arc<McpEndpoint>,
    pub activity: Activity,
    pub timelines: Timelines,
    pub config_editor: ConfigEditor,
    pub welcome: FirstRun,
    pub user_actions: UserActions,
    pub sign_ins: SignIns,
    /// Stops the gateway.
    pub stop: CancellationToken,
    /// Cancelled if the gateway is to start again after it stops, with the configuration at that
    /// time.
    pub again: CancellationToken,
    pub paths: Paths,
}

/// The routes that require the control token.
pub fn routes() -> Router<Arc<ControlApi>> {
    Router::new()
        .route("/api/status", get(status))
        .route("/api/stop", post(stop))
        .route("/api/move", post(move_port::begin))
        .route("/api/doctor", get(doctor::list))
        .route("/api/doctor/{id}/fix", post(doctor::fix))
        .route("/api/events", get(events::follow))
        .route("/api/calls", get(activity::calls_in_flight))
        .route("/api/pause", post(pause::pause_all))
        .route("/api/resume", post(pause::resume_all))
        .route("/api/upstreams/{name}/pause", post(pause::pause))
        .route("/api/upstreams/{name}/resume", post(pause::resume))
        .route("/api/upstreams/{name}/restart", post(restart::restart))
        .route("/api/upstreams/{name}/reconnect", post(restart::reconnect))
        .route("/api/upstreams/{name}/samples", get(samples::list))
        .route("/api/upstreams/{name}", post(settings::add).delete(settings::remove))
        .route("/api/upstreams/{name}/catalog", get(catalog::read))
        .route("/api/upstreams/{name}/tools/{tool}", post(settings::show_tool))
        .route("/api/upstreams/{name}/enabled", post(settings::enable))
        .route("/api/upstreams/{name}/call", post(try_tool::call))
        .route(
            "/api/upstreams/{name}/sign-in",
            post(sign_in::begin).get(sign_in::progress).delete(sign_in::cancel),
        )
        .route("/api/upstreams/{name}/sign-out", post(sign_in::sign_out))
        .route("/api/sign-ins/callback", post(sign_in::paste))
        .route("/api/upstreams/{name}/timeline", get(activity::timeline))
        .route("/api/upstreams/{name}/latency", get(activity::latency))
        .route("/api/activity", get(activity::list))
        .route("/api/settings", get(settings::read).put(settings::change))
        .route("/api/welcome", post(self_test::welcomed))
        .route("/api/selftest", post(self_test::run))
        .route("/api/incidents", get(incidents::list))
        .route("/api/logs", get(logs::list))
        .route("/api/logs/follow", get(logs::follow))
        .route("/api/editors", get(tokens::list))
        .route("/api/editors/{name}", post(tokens::add).delete(tokens::revoke))
        .route("/api/editors/{name}/rotate", post(tokens::rotate))
        .route("/api/secrets/{name}/changed", post(secrets::changed))
        .route("/api/links", post(login_links::make))
        .route("/api/setup", get(setup::list))
        .route("/api/setup/{id}/preview", post(setup::preview))
        .route("/api/setup/{id}/connect", post(setup::connect))
        .route("/api/setup/{id}/undo", post(setup::undo))
        .route("/api/setup/{id}/import", post(import::import))
        .route("/api/setup/{id}/import/preview", post(import::preview))
}

/// The route where a browser gets the control token.
pub fn login() -> Router<Arc<ControlApi>> {
    Router::new().route("/api/login", post(login_links::login))
}

async fn status(State(control): State<Arc<ControlApi>>) -> Json<Status> {
    Json(control.router.overview().borrow().status.clone())
}

/// Stops the gateway as a signal would: calls in flight may finish first.
async fn stop(State(control): State<Arc<ControlApi>>) -> StatusCode {
    tracing::info!("stopping at a user's request");
    control.stop.cancel();
    StatusCode::NO_CONTENT
}

fn unknown(control: &ControlApi, name: &str) -> Response {
    let is_off = UpstreamName::parse(name).is_ok_and(|name| control.router.is_off(&name));
    let (what, remedy) = match is_off {
        true => (format!("The server `{name}` is turned off."), router::ENABLE_REMEDY),
        false => (format!("There is no server `{name}`."), "Run `evermoor status` to list them."),
    };
    refuse(StatusCode::NOT_FOUND, Failure::new(Code::NotFound, what, remedy))
}

/// Whether there is an upstream of this name, turned off or not.
fn is_known(control: &ControlApi, name: &str) -> bool {
    let overview = control.router.overview();
    overview.borrow().status.upstreams.iter().any(|upstream| upstream.name == name)
}

/// Parses a request body, or answers 400.
fn read_body<T: DeserializeOwned>(body: &[u8]) -> Result<T, Box<Response>> {
    serde_json::from_slice(body).map_err(|error| {
        let what = format!("Evermoor cannot read the request: {error}.");
        let failure = Failure::new(Code::Refused, what, "Update the program that sent it.");
        Box::new(refuse(StatusCode::BAD_REQUEST, failure))
    })
}

fn refuse(status: StatusCode, error: Failure) -> Response {
    (status, Json(ErrorBody { error })).into_response()
}
