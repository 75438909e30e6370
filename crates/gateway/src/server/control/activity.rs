//! The calls of editors, and how long they took.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use evermoor_core::api::{Activity, CallOutcome, Latency};

use super::{Control, is_known, unknown};
use crate::monitoring::activity::Wanted;

/// What one answer has if nothing is said, and at most.
const USUAL: usize = 100;
const MOST: usize = 2000;

#[derive(Deserialize)]
pub(super) struct Which {
    limit: Option<usize>,
    /// Only calls with a smaller number.
    before: Option<u64>,
    upstream: Option<String>,
    editor: Option<String>,
    outcome: Option<CallOutcome>,
}

pub(super) async fn list(
    State(control): State<Arc<Control>>,
    Query(which): Query<Which>,
) -> Json<Activity> {
    let Which { limit, before, upstream, editor, outcome } = which;
    let wanted = Wanted { upstream, editor, outcome, before };
    let most = limit.unwrap_or(USUAL).min(MOST);
    Json(Activity { calls: control.activity.newest(&wanted, most) })
}

#[derive(Deserialize)]
pub(super) struct Since {
    /// From this moment on, in milliseconds of the Unix epoch.
    #[serde(default)]
    since: u64,
}

pub(super) async fn latency(
    State(control): State<Arc<Control>>,
    Path(name): Path<String>,
    Query(Since { since }): Query<Since>,
) -> Response {
    if !is_known(&control, &name) {
        return unknown(&control, &name);
    }
    Json(Latency { points: control.activity.latency(&name, since) }).into_response()
}

pub(super) async fn timeline(
    State(control): State<Arc<Control>>,
    Path(name): Path<String>,
    Query(Since { since }): Query<Since>,
) -> Response {
    if !is_known(&control, &name) {
        return unknown(&control, &name);
    }
    let spans = control.timelines.spans(&name, since);
    Json(evermoor_core::api::Timeline { spans }).into_response()
}
