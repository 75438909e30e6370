//! Editors' tokens: listing, creating, rotating and revoking them.
//!
//! A token is shown once, in the response that creates it, and never again.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::{StatusCode, header};

use evermoor_core::api::{Editor, NewToken};
use evermoor_core::failure::Failure;
use evermoor_core::security::tokens::Denied;

use super::setup;
use crate::monitoring::status::with_shown;
use crate::server::control::{Control, refuse};
use crate::system::keys::ChangeError;

pub(crate) async fn list(State(control): State<Arc<Control>>) -> Json<Vec<Editor>> {
    let overview = control.router.overview();
    let sights = Arc::clone(&overview.borrow().sights);
    let editors = control.editors.list().into_iter();
    Json(editors.map(|editor| with_shown(editor, &sights)).collect())
}

pub(crate) async fn add(State(control): State<Arc<Control>>, Path(name): Path<String>) -> Response {
    new_token_response(control.editors.add(name).await, StatusCode::CREATED)
}

pub(crate) async fn rotate(
    State(control): State<Arc<Control>>,
    Path(name): Path<String>,
) -> Response {
    let rotated = control.editors.rotate(name.clone()).await;
    if rotated.is_ok() {
        setup::rewrite_token(&control, &name).await;
    }
    new_token_response(rotated, StatusCode::OK)
}

pub(crate) async fn revoke(
    State(control): State<Arc<Control>>,
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
        ChangeError::Denied(Denied::Unknown(_)) => StatusCode::NOT_FOUND,
        ChangeError::Denied(Denied::Taken(_) | Denied::Local) => StatusCode::CONFLICT,
        ChangeError::Denied(Denied::Name(_)) => StatusCode::BAD_REQUEST,
        ChangeError::Keys(_) => StatusCode::INTERNAL_SERVER_ERROR,
    };
    refuse(status, Failure::from(error))
}
