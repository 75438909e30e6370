//! Restarting the app behind an upstream, and reconnecting.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde_json::json;

use evermoor_core::config::TransportConfig;
use evermoor_core::failure::{Code, Failure};

use crate::server::control::{ControlApi, refuse, unknown};
use crate::upstream::UpstreamHandle;

/// Restarts an app and returns the number of the restart, whose progress is in the status. Any
/// other upstream is reconnected.
pub(crate) async fn restart(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    let upstream = match active_upstream(&control, &name) {
        Ok(upstream) => upstream,
        Err(refusal) => return *refusal,
    };
    let number = match &upstream.config.transport {
        TransportConfig::App { .. } => {
            let number = control.apps.app_state(upstream.name()).requested_restart();
            upstream.restart_app(number);
            Some(number)
        }
        TransportConfig::Http { .. } | TransportConfig::Stdio(_) | TransportConfig::Demo => {
            upstream.restart();
            None
        }
    };
    (StatusCode::ACCEPTED, Json(json!({ "number": number }))).into_response()
}

pub(crate) async fn reconnect(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    match active_upstream(&control, &name) {
        Ok(upstream) => {
            upstream.restart();
            (StatusCode::ACCEPTED, Json(json!({}))).into_response()
        }
        Err(refusal) => *refusal,
    }
}

/// The upstream of this name, unless it is paused.
fn active_upstream(control: &ControlApi, name: &str) -> Result<UpstreamHandle, Box<Response>> {
    match control.router.upstream(name) {
        Some(upstream) if upstream.is_paused() => {
            let what = format!("{} is paused.", upstream.config.title);
            let remedy = format!("Resume it with `evermoor resume {name}`.");
            Err(refuse(StatusCode::CONFLICT, Failure::new(Code::Paused, what, remedy)).into())
        }
        Some(upstream) => Ok(upstream),
        None => Err(unknown(control, name).into()),
    }
}
