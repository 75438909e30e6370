//! Updates of the application.

use evermoor_core::failure::{Code, Failure};
use serde::Serialize;

/// How it stands with updates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub(crate) enum Update {
    /// This build cannot update itself, and why.
    Off { reason: String },
}

#[tauri::command]
pub(crate) fn update_state() -> Update {
    Update::Off { reason: "This build has no key for updates.".into() }
}

#[tauri::command]
pub(crate) fn install_update() -> Result<(), Failure> {
    let what = "This build cannot update itself.";
    Err(Failure::new(Code::Forbidden, what, "Install a newer version by hand."))
}
