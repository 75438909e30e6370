//! The doctor's checks, and fixing one problem.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

use evermoor_core::api::{Checks, FixResult};

use crate::server::control::{ControlApi, refuse};
use crate::server::doctor;

pub(crate) async fn list(State(control): State<Arc<ControlApi>>) -> Json<Checks> {
    Json(Checks { checks: doctor::all(&control).await })
}

pub(crate) async fn fix(
    State(control): State<Arc<ControlApi>>,
    Path(id): Path<String>,
) -> Response {
    match doctor::fix(&control, &id).await {
        Ok(what) => Json(FixResult { what }).into_response(),
        Err(failure) => refuse(StatusCode::CONFLICT, failure),
    }
}
