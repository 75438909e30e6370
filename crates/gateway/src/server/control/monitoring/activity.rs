//! The recent calls, and their latency.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;

use evermoor_core::api::{CallOutcome, CallsInFlight, Latency, RecentCalls};

use crate::monitoring::activity::CallFilter;
use crate::server::control::{ControlApi, is_known, unknown};

/// How many calls a response has by default, and at most.
const DEFAULT_COUNT: usize = 100;
const MAX_COUNT: usize = 2000;

#[derive(Deserialize)]
pub(crate) struct ActivityQuery {
    limit: Option<usize>,
    /// Only calls with a smaller number.
    before: Option<u64>,
    upstream: Option<String>,
    editor: Option<String>,
    outcome: Option<CallOutcome>,
}

pub(crate) async fn list(
    State(control): State<Arc<ControlApi>>,
    Query(query): Query<ActivityQuery>,
) -> Json<RecentCalls> {
    let ActivityQuery { limit, before, upstream, editor, outcome } = query;
    let wanted = CallFilter { upstream, editor, outcome, before };
    let most = limit.unwrap_or(DEFAULT_COUNT).min(MAX_COUNT);
    Json(RecentCalls { calls: control.activity.newest(&wanted, most) })
}

/// Lets an updater wait until no call is in flight.
pub(crate) async fn calls_in_flight(State(control): State<Arc<ControlApi>>) -> Json<CallsInFlight> {
    let upstreams = control.router.all_upstreams();
    let calls: usize = upstreams.iter().map(|upstream| upstream.calls_under_way()).sum();
    Json(CallsInFlight { under_way: u64::try_from(calls).unwrap_or(u64::MAX) })
}

#[derive(Deserialize)]
pub(crate) struct Since {
    /// From this time on, in Unix milliseconds.
    #[serde(default)]
    since: u64,
}

pub(crate) async fn latency(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
    Query(Since { since }): Query<Since>,
) -> Response {
    if !is_known(&control, &name) {
        return unknown(&control, &name);
    }
    Json(Latency { points: control.activity.latency(&name, since) }).into_response()
}

pub(crate) async fn timeline(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
    Query(Since { since }): Query<Since>,
) -> Response {
    if !is_known(&control, &name) {
        return unknown(&control, &name);
    }
    let spans = control.timelines.spans(&name, since);
    Json(evermoor_core::api::Timeline { spans }).into_response()
}
