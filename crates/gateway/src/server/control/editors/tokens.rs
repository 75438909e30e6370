//! Editors' tokens: listing, creating, rotating and revoking them.
//!
//! A token is shown once, in the response that creates it, and never again.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};

use evermoor_core::api::{EditorStatus, NewToken};
use evermoor_core::failure::Failure;
use evermoor_core::security::tokens::TokenError;

use super::setup;
use crate::monitoring::status::with_shown;
use crate::server::control::{ControlApi, refuse};
use crate::system::keys::ChangeError;

pub(crate) async fn list(State(control): State<Arc<ControlApi>>) -> Json<Vec<EditorStatus>> {
    let overview = control.router.overview();
    let editor_catalogs = Arc::clone(&overview.borrow().editor_catalogs);
    let editors = control.editors.list().into_iter();
    Json(editors.map(|editor| with_shown(editor, &editor_catalogs)).collect())
}

pub(crate) async fn add(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    new_token_response(control.editors.add(name).await, StatusCode::CREATED)
}

pub(crate) async fn rotate(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    let rotated = control.editors.rotate(name.clone()).await;
    if rotated.is_ok() {
        setup::rewrite_token(&control, &name).await;
    }
    new_token_response(rotated, StatusCode::OK)
}

pub(crate) async fn revoke(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    match control.editors.revoke(name).await {
        Ok(()) => Json(serde_json::json!({})).into_response(),
        Err(error) => token_error(&error),
    }
}

fn new_token_response(token: Result<NewToken, ChangeError>, status: StatusCode) -> Response {
    match token {
        Ok(token) => (status, [(header::CACHE_CONTROL, "no-store")], Json(token)).into_response(),
        Err(error) => token_error(&error),
    }
}

fn token_error(error: &ChangeError) -> Response {
    let status = match error {
        ChangeError::Denied(TokenError::Unknown(_)) => StatusCode::NOT_FOUND,
        ChangeError::Denied(TokenError::Taken(_) | TokenError::Local) => StatusCode::CONFLICT,
        ChangeError::Denied(TokenError::Name(_)) => StatusCode::BAD_REQUEST,
        ChangeError::Keys(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refuse(status, Failure::from(error))
}
