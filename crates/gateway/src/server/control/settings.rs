//! Reads and edits `config.toml`: the settings, and which upstreams and tools are turned on.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use serde::Deserialize;
use serde_json::json;

use evermoor_core::api::{Settings, SettingsChange};
use evermoor_core::config::ConfigError;
use evermoor_core::config::edit::{ConfigEdit, NewUpstream, ServerSpec};

use super::{ControlApi, is_known, read_body, refuse, unknown};
use crate::config::edit::ConfigEditError;

pub(super) async fn read(State(control): State<Arc<ControlApi>>) -> Json<Settings> {
    Json(current_settings(&control))
}

/// Applies a change and returns the new settings.
pub(super) async fn change(State(control): State<Arc<ControlApi>>, body: Bytes) -> Response {
    let change: SettingsChange = match read_body(&body) {
        Ok(change) => change,
        Err(refusal) => return *refusal,
    };
    match control.config_editor.edit(move |edit| edit.apply(&change)).await {
        Ok(()) => Json(current_settings(&control)).into_response(),
        Err(error) => edit_error(error),
    }
}

fn current_settings(control: &ControlApi) -> Settings {
    let config = Arc::clone(&control.config_editor.in_force.borrow());
    Settings::of(control.config_editor.path.display().to_string(), &config)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShownBody {
    shown: bool,
}

pub(super) async fn show_tool(
    State(control): State<Arc<ControlApi>>,
    Path((name, tool)): Path<(String, String)>,
    body: Bytes,
) -> Response {
    if !is_known(&control, &name) {
        return unknown(&control, &name);
    }
    match read_body::<ShownBody>(&body) {
        Ok(ShownBody { shown }) => {
            edit_config(&control, move |edit| edit.set_tool_shown(&name, &tool, shown)).await
        }
        Err(refusal) => *refusal,
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Enabled {
    enabled: bool,
}

pub(super) async fn enable(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    if !is_known(&control, &name) {
        return unknown(&control, &name);
    }
    match read_body::<Enabled>(&body) {
        Ok(Enabled { enabled }) => {
            control.user_actions.turns(&name);
            edit_config(&control, move |edit| edit.set_enabled(&name, enabled)).await
        }
        Err(refusal) => *refusal,
    }
}

/// An app is added by the name of its preset, never by a URL or a command line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Added {
    preset: String,
}

pub(super) async fn add(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
    body: Bytes,
) -> Response {
    let Added { preset } = match read_body(&body) {
        Ok(added) => added,
        Err(refusal) => return *refusal,
    };
    if let Err(failure) = control.config_editor.preset_set.borrow().get(&preset).map(drop) {
        return refuse(StatusCode::NOT_FOUND, failure);
    }
    let new = NewUpstream { name, title: None, way: ServerSpec::Preset(preset) };
    edit_config(&control, move |edit| edit.add_upstream(&new)).await
}

pub(super) async fn remove(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    if !is_known(&control, &name) {
        return unknown(&control, &name);
    }
    edit_config(&control, move |edit| edit.remove_upstream(&name)).await
}

async fn edit_config(
    control: &ControlApi,
    how: impl FnOnce(&mut ConfigEdit) -> Result<(), ConfigError> + Send + 'static,
) -> Response {
    match control.config_editor.edit(how).await {
        Ok(()) => Json(json!({})).into_response(),
        Err(error) => edit_error(error),
    }
}

pub(super) fn edit_error(error: ConfigEditError) -> Response {
    match error {
        ConfigEditError::Refused(failure) => refuse(StatusCode::UNPROCESSABLE_ENTITY, failure),
        ConfigEditError::Failed(failure) => refuse(StatusCode::INTERNAL_SERVER_ERROR, failure),
    }
}
