//! What the doctor finds, and putting one thing right.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;

use evermoor_core::api::{Checks, Fixed};

use super::{Control, refuse};
use crate::monitoring::doctor;

pub(super) async fn list(State(control): State<Arc<Control>>) -> Json<Checks> {
    Json(Checks { checks: doctor::all(&control).await })
}

pub(super) async fn fix(State(control): State<Arc<Control>>, Path(id): Path<String>) -> Response {
    match doctor::fix(&control, &id).await {
        Ok(what) => Json(Fixed { what }).into_response(),
        Err(failure) => refuse(StatusCode::CONFLICT, failure),
    }
}
