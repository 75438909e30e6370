//! The commands that the dashboard may call in the tray application. Everything else it asks of the
//! gateway's control API, through [`control`]. [`open`] opens web pages and folders.

pub(crate) mod open;

use evermoor_client::{ControlResponse, Presence};
use evermoor_core::failure::{Code, Failure};
use serde::Serialize;
use serde_json::Value;
use tauri::{AppHandle, State};
use tauri_plugin_clipboard_manager::ClipboardExt;

use crate::gateway::SupervisedGateway;
use crate::launch_at_login;
use crate::system::notifications::CurrentDelivery;
use crate::system::notifications::permission::NotificationDelivery;

#[tauri::command]
pub(crate) fn presence(gateway: State<'_, SupervisedGateway>) -> Presence {
    gateway.presence().borrow().clone()
}

/// Forwards a request to the gateway's control API. The dashboard never sees the token.
#[tauri::command]
pub(crate) async fn control(
    gateway: State<'_, SupervisedGateway>,
    method: String,
    path: String,
    body: Option<Value>,
) -> Result<ControlResponse, Failure> {
    let control = gateway.supervisor().control()?;
    control.forward(&method, &path, body.as_ref()).await.map_err(Failure::from)
}

#[tauri::command]
pub(crate) fn copy(app: AppHandle, text: String) -> Result<(), Failure> {
    app.clipboard().write_text(text).map_err(|error| {
        let what = format!("The text could not be copied: {error}.");
        Failure::new(Code::Internal, what, "Select it and copy it yourself.")
    })
}

/// How notifications reach the user.
#[tauri::command]
pub(crate) fn notification_delivery(delivery: State<'_, CurrentDelivery>) -> NotificationDelivery {
    delivery.get()
}

/// Whether Evermoor starts at login.
#[derive(Serialize)]
pub(crate) struct LoginItem {
    enabled: bool,
}

#[tauri::command]
pub(crate) async fn login_item(app: AppHandle) -> LoginItem {
    LoginItem { enabled: launch_at_login::is_enabled(&app) }
}

#[tauri::command]
pub(crate) async fn set_login_item(app: AppHandle, enabled: bool) -> Result<LoginItem, Failure> {
    launch_at_login::set(&app, enabled)?;
    Ok(LoginItem { enabled: launch_at_login::is_enabled(&app) })
}
