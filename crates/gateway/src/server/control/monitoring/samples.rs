//! An app's memory and CPU samples.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;

use crate::server::control::{ControlApi, refuse, unknown};

#[derive(Deserialize)]
pub(crate) struct SamplesQuery {
    /// From this time on, in Unix milliseconds.
    #[serde(default)]
    since: u64,
}

pub(crate) async fn list(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
    Query(query): Query<SamplesQuery>,
) -> Response {
    if control.router.upstream(&name).is_none() {
        return unknown(&control, &name);
    }
    match control.history.samples(&name, query.since).await {
        Ok(samples) => Json(serde_json::json!({ "samples": samples })).into_response(),
        Err(failure) => refuse(StatusCode::SERVICE_UNAVAILABLE, failure),
    }
}
