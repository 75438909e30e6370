//! Reacts to a changed secret. Its value is never sent: it is in the keychain.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use evermoor_core::security::secret_ref::SecretRef;

use crate::server::control::ControlApi;

/// Reconnects the upstreams that use the secret, and returns their names.
pub(crate) async fn changed(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Json<Value> {
    let changed = SecretRef::Keyring(name);
    let mut users = Vec::new();
    for upstream in control.router.all_upstreams().iter() {
        if upstream.config.transport.references().contains(&&changed) && !upstream.is_paused() {
            upstream.restart();
            users.push(upstream.name().to_string());
        }
    }
    Json(json!({ "upstreams": users }))
}
