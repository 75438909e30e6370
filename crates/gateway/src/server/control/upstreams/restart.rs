//! Restarting the application behind an upstream, and making a connection anew.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde_json::json;

use evermoor_core::config::Transport;
use evermoor_core::failure::{Code, Failure};

use crate::server::control::{Control, refuse, unknown};
use crate::upstream::Handle;

/// Restarts an application, and says by which number its restart is known: its steps are in the
/// state. Of any other upstream the connection is made anew.
pub(crate) async fn restart(
    State(control): State<Arc<Control>>,
    Path(name): Path<String>,
) -> Response {
    let upstream = match active_upstream(&control, &name) {
        Ok(upstream) => upstream,
        Err(refusal) => return *refusal,
    };
    control.touches.restarts(&name);
    let number = match &upstream.config.transport {
        Transport::App { .. } => Some(control.apps.desk(upstream.name()).wish_restart()),
        Transport::Http { .. } | Transport::Stdio(_) | Transport::Demo => {
            upstream.restart().await;
            None
        }
    };
    (StatusCode::ACCEPTED, Json(json!({ "number": number }))).into_response()
}

pub(crate) async fn reconnect(
    State(control): State<Arc<Control>>,
    Path(name): Path<String>,
) -> Response {
    match active_upstream(&control, &name) {
        Ok(upstream) => {
            control.touches.restarts(&name);
            upstream.restart().await;
            (StatusCode::ACCEPTED, Json(json!({}))).into_response()
        }
        Err(refusal) => *refusal,
    }
}

/// The upstream of this name, if it may be touched.
fn active_upstream(control: &Control, name: &str) -> Result<Handle, Box<Response>> {
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
