//! The login entry on Linux and macOS, where it is a file.

use std::path::PathBuf;
use std::{env, fs, io};

use evermoor_platform::startup::login;
use evermoor_platform::startup::login::LoginProgram;
use evermoor_platform::startup::login::approval::{Approval, approval};
use evermoor_platform::system::System;
use tauri::Env;

/// Whether the entry is active. The file says more about this than the plugin does.
pub(crate) fn is_on(_plugin: impl FnOnce() -> bool) -> bool {
    let enabled = entry().is_some_and(|entry| login::is_enabled(System::HERE, &entry));
    entry_path().is_ok_and(|path| approval(&path).permits(enabled))
}

/// Whether the user has turned the entry off in the system's settings, where only they can turn it on.
pub(crate) fn is_turned_off() -> bool {
    entry_path().is_ok_and(|path| approval(&path) == Approval::TurnedOff)
}

pub(crate) fn starts(item: &LoginProgram<'_>) -> bool {
    entry().is_some_and(|entry| item.is_started_by(System::HERE, &entry))
}

/// Writes the correct entry. Removes the plugin's if it is in another folder.
pub(crate) fn write_entry(item: &LoginProgram<'_>) -> io::Result<()> {
    let path = login::write(item)?;
    match plugin_path().filter(|plugin| *plugin != path) {
        Some(plugin) => ignore_missing(fs::remove_file(plugin)),
        None => Ok(()),
    }
}

pub(crate) fn remove() -> io::Result<()> {
    ignore_missing(fs::remove_file(entry_path()?))
}

/// The AppImage that this program runs from. The program itself is in a temporary mount.
#[cfg(target_os = "linux")]
pub(crate) fn image(env: &Env) -> Option<PathBuf> {
    env.appimage.as_ref().map(PathBuf::from)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn image(_env: &Env) -> Option<PathBuf> {
    None
}

fn entry() -> Option<String> {
    fs::read_to_string(entry_path().ok()?).ok()
}

fn entry_path() -> io::Result<PathBuf> {
    let path = login::entry_path(System::HERE, |name| env::var_os(name));
    path.ok_or_else(|| io::Error::other("there is no home folder"))
}

/// Where the plugin writes the entry. It ignores a custom configuration folder.
fn plugin_path() -> Option<PathBuf> {
    login::entry_path(System::HERE, |name| env::var_os(name).filter(|_| name == "HOME"))
}

fn ignore_missing(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
