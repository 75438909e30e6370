//! Launch at login. The system holds the setting; it is read each time and never cached.
//!
//! The autostart plugin registers the program with the system. Its entry is then corrected for
//! cases it gets wrong: a path with a space, a custom configuration folder, a program that moved.

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::startup::location;
use evermoor_platform::startup::login::{LoginProgram, approval};
use evermoor_platform::system::System;
use tauri::plugin::TauriPlugin;
use tauri::{AppHandle, Manager, Wry};
use tauri_plugin_autostart::ManagerExt;
use tracing::{info, warn};

use crate::system::login;

/// The argument in the login entry. With it, the program opens no window.
pub(crate) const HIDDEN: &str = "--hidden";

pub(crate) fn plugin() -> TauriPlugin<Wry> {
    let builder = tauri_plugin_autostart::Builder::new();
    builder.app_name(evermoor_platform::startup::login::NAME).arg(HIDDEN).build()
}

pub(crate) fn is_enabled(app: &AppHandle) -> bool {
    login::is_on(|| app.autolaunch().is_enabled().unwrap_or(false))
}

pub(crate) fn set(app: &AppHandle, enabled: bool) -> Result<(), Failure> {
    if enabled {
        check_location(app)?;
    }
    let done = if enabled { enable(app) } else { disable(app) };
    done.map_err(|error| {
        let what = format!("Launch at login could not be changed: {error}.");
        Failure::new(Code::Internal, what, "Change it in your system's settings.")
    })?;
    if enabled && login::is_turned_off() {
        approval::open_settings();
        let what = "Evermoor is turned off under Login Items in System Settings.";
        return Err(Failure::new(Code::Forbidden, what, "Turn it on there."));
    }
    Ok(())
}

/// Fails if the program will not be where it is now.
fn check_location(app: &AppHandle) -> Result<(), Failure> {
    let program = program(app).map_err(|error| {
        let what = format!("Launch at login could not be changed: {error}.");
        Failure::new(Code::Internal, what, "Please report this.")
    })?;
    match location::transient(System::HERE, &program) {
        Some(location) => Err(Failure::new(Code::Refused, location.sentence(), location.remedy())),
        None => Ok(()),
    }
}

/// Rewrites the login entry if the program has moved since it was written.
pub(crate) fn renew(app: &AppHandle) {
    let Ok(program) = program(app) else { return };
    let item = LoginProgram { program: &program, arguments: &[HIDDEN] };
    // An entry that the user turned off stays as it is, and one that starts another copy is not replaced
    // by a copy that will vanish.
    if !is_enabled(app) || login::starts(&item) || check_location(app).is_err() {
        return;
    }
    match set(app, true) {
        Ok(()) => info!("updated the login entry"),
        Err(failure) => warn!(%failure, "the login entry is out of date"),
    }
}

fn enable(app: &AppHandle) -> Result<(), String> {
    let program = program(app)?;
    app.autolaunch().enable().map_err(|error| error.to_string())?;
    let item = LoginProgram { program: &program, arguments: &[HIDDEN] };
    login::write_entry(&item).map_err(|error| error.to_string())
}

fn disable(app: &AppHandle) -> Result<(), String> {
    app.autolaunch().disable().map_err(|error| error.to_string())?;
    login::remove().map_err(|error| error.to_string())
}

/// The program to start: this one, or the AppImage that it was unpacked from.
fn program(app: &AppHandle) -> Result<std::path::PathBuf, String> {
    match login::image(&app.env()) {
        Some(image) => Ok(image),
        None => std::env::current_exe().map_err(|error| error.to_string()),
    }
}
