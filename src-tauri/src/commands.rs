//! What the dashboard may ask of the shell.

use evermoor_client::Presence;
use evermoor_core::failure::{Code, Failure};
use tauri::{AppHandle, State};
use tauri_plugin_clipboard_manager::ClipboardExt;

use crate::gateway::Gateway;

#[tauri::command]
pub(crate) fn presence(gateway: State<'_, Gateway>) -> Presence {
    gateway.presence().borrow().clone()
}

#[tauri::command]
pub(crate) async fn restart_upstream(
    gateway: State<'_, Gateway>,
    name: String,
) -> Result<(), Failure> {
    gateway.keeper().restart_upstream(&name).await
}

#[tauri::command]
pub(crate) async fn resume_upstream(
    gateway: State<'_, Gateway>,
    name: String,
) -> Result<(), Failure> {
    gateway.keeper().resume(Some(&name)).await
}

#[tauri::command]
pub(crate) async fn revoke_editor(
    gateway: State<'_, Gateway>,
    name: String,
) -> Result<(), Failure> {
    gateway.keeper().revoke_editor(&name).await
}

#[tauri::command]
pub(crate) fn copy(app: AppHandle, text: String) -> Result<(), Failure> {
    app.clipboard().write_text(text).map_err(|error| {
        let what = format!("The text could not be copied: {error}.");
        Failure::new(Code::Internal, what, "Select it and copy it by hand.")
    })
}
