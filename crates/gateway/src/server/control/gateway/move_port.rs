//! Moves the gateway to the address that `config.toml` now names. The gateway stops and starts
//! again in the same process, so whatever supervises that process notices nothing.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde_json::json;

use evermoor_core::failure::Failure;

use crate::config::file;
use crate::server::bind;
use crate::server::control::{ControlApi, refuse};

/// Answers with the new address. Whatever would prevent the new start is checked before the stop.
pub(crate) async fn begin(State(control): State<Arc<ControlApi>>) -> Response {
    let path = control.paths.config.clone();
    let read = tokio::task::spawn_blocking(move || file::read(&path)).await;
    let config = match read {
        Ok(Ok(config)) => config.unwrap_or_default(),
        Ok(Err(failure)) => return refuse(StatusCode::CONFLICT, failure),
        Err(_) => return StatusCode::SERVICE_UNAVAILABLE.into_response(),
    };
    let wanted = config.gateway.listen;
    let origin = format!("http://{wanted}");
    if origin == control.here.origin {
        return Json(json!({ "origin": origin })).into_response();
    }
    if let Err(error) = bind::listen(wanted).await {
        return refuse(StatusCode::CONFLICT, Failure::from(&error));
    }
    tracing::info!(%wanted, "moving to another address");
    control.again.cancel();
    control.stop.cancel();
    (StatusCode::ACCEPTED, Json(json!({ "origin": origin }))).into_response()
}
