//! Pausing and resuming upstreams.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use futures_util::future::join_all;
use http::StatusCode;

use crate::server::control::{ControlApi, refuse, unknown};

pub(crate) async fn pause_all(State(control): State<Arc<ControlApi>>) -> Response {
    change(&control, None, true).await
}

pub(crate) async fn resume_all(State(control): State<Arc<ControlApi>>) -> Response {
    change(&control, None, false).await
}

pub(crate) async fn pause(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    change(&control, Some(&name), true).await
}

pub(crate) async fn resume(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    change(&control, Some(&name), false).await
}

async fn change(control: &ControlApi, upstream: Option<&str>, pause: bool) -> Response {
    let present = control.router.all_upstreams();
    let names: Vec<&str> = present.iter().map(|one| one.name().as_str()).collect();
    if let Some(name) = upstream.filter(|name| !names.contains(name)) {
        return unknown(control, name);
    }
    for name in names.iter().filter(|name| upstream.is_none_or(|wanted| wanted == **name)) {
        control.user_actions.turns(name);
    }
    let changed = control.pauses.change(|paused| match pause {
        true => paused.pause(upstream),
        false => paused.resume(upstream, names.iter().copied()),
    });
    let changed = changed.await;
    let concerned =
        present.iter().filter(|one| upstream.is_none_or(|name| one.name().as_str() == name));
    join_all(concerned.map(|one| one.until_paused(pause))).await;
    match changed {
        Ok(()) => Json(serde_json::json!({})).into_response(),
        Err(failure) => refuse(StatusCode::INTERNAL_SERVER_ERROR, failure),
    }
}
