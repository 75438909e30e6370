//! Whether somebody waits for an answer, for whoever wants to replace the program and disturb nobody.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;

use evermoor_core::api::CallsUnderWay;

use super::Control;

pub(super) async fn count(State(control): State<Arc<Control>>) -> Json<CallsUnderWay> {
    let lineup = control.router.lineup();
    let calls: usize = lineup.iter().map(|upstream| upstream.calls_under_way()).sum();
    Json(CallsUnderWay { under_way: u64::try_from(calls).unwrap_or(u64::MAX) })
}
