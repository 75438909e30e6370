//! Signing in to servers, and out of them.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;
use tokio::time::timeout;

use evermoor_core::api::{PastedCallback, SignInState};
use evermoor_core::config::UpstreamConfig;
use evermoor_core::failure::{Code, Failure};

use super::settings::edit_error;
use super::{ControlApi, read_body, refuse, unknown};
use crate::upstream::auth::ProtectedServer;
use crate::upstream::auth::sign_in::SignInProgress;

/// How long an answer about the progress waits for a change.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Deserialize)]
pub(super) struct SignInQuery {
    /// Whether the user has a browser on the computer of this gateway.
    #[serde(default = "yes")]
    browser: bool,
}

fn yes() -> bool {
    true
}

/// Begins a sign-in. A server without `auth` gets it, because the user wants to sign in to it.
pub(super) async fn begin(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
    Query(asked): Query<SignInQuery>,
) -> Response {
    let Some(config) = upstream(&control, &name) else { return unknown(&control, &name) };
    let server = match protected(&control, config).await {
        Ok(server) => server,
        Err(refusal) => return *refusal,
    };
    match control.sign_ins.begin(server, asked.browser).await {
        Ok(page) => Json(page).into_response(),
        Err(failure) => refuse(StatusCode::BAD_GATEWAY, failure),
    }
}

/// How far the last sign-in is. Waits a while for its end.
pub(super) async fn progress(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    let Some(mut progress) = control.sign_ins.progress(&name) else {
        return refuse(StatusCode::NOT_FOUND, none_waits(&name));
    };
    let ended = progress.wait_for(|progress| !matches!(progress, SignInProgress::Waiting(_)));
    let ended = timeout(PATIENCE, ended).await.map(|ended| ended.map(|ended| ended.clone()));
    let waiting = match &*progress.borrow() {
        SignInProgress::Waiting(page) => Some(page.clone()),
        SignInProgress::Done | SignInProgress::Failed(_) => None,
    };
    Json(match ended {
        Err(_) | Ok(Ok(SignInProgress::Waiting(_))) => SignInState::Waiting { page: waiting },
        Ok(Ok(SignInProgress::Done)) => SignInState::Done,
        Ok(Ok(SignInProgress::Failed(failure))) => SignInState::Failed { failure },
        Ok(Err(_)) => {
            let what = "The sign-in has expired, or another one replaced it.";
            let remedy = format!("Run `evermoor login {name}`.");
            SignInState::Failed { failure: Failure::new(Code::NotFound, what, remedy) }
        }
    })
    .into_response()
}

/// Ends a sign-in that waits for the user.
pub(super) async fn cancel(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    let Some(config) = upstream(&control, &name) else { return unknown(&control, &name) };
    let waited =
        ProtectedServer::of(&config).is_some_and(|server| control.sign_ins.cancel(&server));
    match waited {
        true => Json(serde_json::json!({})).into_response(),
        false => refuse(StatusCode::NOT_FOUND, none_waits(&name)),
    }
}

/// The address that a browser was sent to which cannot reach this gateway.
pub(super) async fn paste(State(control): State<Arc<ControlApi>>, body: Bytes) -> Response {
    let PastedCallback { address } = match read_body(&body) {
        Ok(pasted) => pasted,
        Err(refusal) => return *refusal,
    };
    match control.sign_ins.complete(&address).await.result {
        Ok(()) => Json(serde_json::json!({})).into_response(),
        Err(failure) => refuse(StatusCode::UNPROCESSABLE_ENTITY, failure),
    }
}

pub(super) async fn sign_out(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    let Some(config) = upstream(&control, &name) else { return unknown(&control, &name) };
    let Some(server) = ProtectedServer::of(&config) else {
        return refuse(StatusCode::CONFLICT, no_sign_in(&config));
    };
    match control.sign_ins.sign_out(server).await {
        Ok(ended) => Json(ended).into_response(),
        Err(failure) => refuse(StatusCode::SERVICE_UNAVAILABLE, failure),
    }
}

fn upstream(control: &ControlApi, name: &str) -> Option<Arc<UpstreamConfig>> {
    let all = control.router.all_upstreams();
    all.iter().find(|one| one.name().as_str() == name).map(|one| Arc::clone(&one.config))
}

/// The server of an upstream. Its entry gets `auth = "oauth"` if it does not have it.
async fn protected(
    control: &ControlApi,
    config: Arc<UpstreamConfig>,
) -> Result<ProtectedServer, Box<Response>> {
    let refused = |failure| Err(Box::new(refuse(StatusCode::CONFLICT, failure)));
    if !config.transport.takes_sign_in() {
        return refused(no_sign_in(&config));
    }
    if let Some(server) = ProtectedServer::of(&config) {
        return Ok(server);
    }
    let key = config.name.to_string();
    let edited =
        control.config_editor.edit(move |edit| edit.set(&["upstreams", &key, "auth"], "oauth"));
    edited.await.map_err(|error| Box::new(edit_error(error)))?;
    let in_force = Arc::clone(&control.config_editor.in_force.borrow());
    let now = in_force.upstreams.iter().find(|one| one.name == config.name);
    let now = now.and_then(ProtectedServer::of);
    match now {
        Some(server) => Ok(server),
        None => refused(no_sign_in(&config)),
    }
}

fn none_waits(name: &str) -> Failure {
    let what = format!("No sign-in to `{name}` is in progress.");
    Failure::new(Code::NotFound, what, format!("Run `evermoor login {name}`."))
}

fn no_sign_in(config: &UpstreamConfig) -> Failure {
    let what = format!("{} needs no sign-in.", config.title);
    let remedy =
        "Only servers with a `url` and without an `Authorization` header can use a sign-in.";
    Failure::new(Code::Refused, what, remedy)
}
