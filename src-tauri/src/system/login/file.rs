//! Linux and macOS: the entry is a file.

use std::path::PathBuf;
use std::{env, fs, io};

use evermoor_platform::startup::login;
use evermoor_platform::startup::login::LoginProgram;
use evermoor_platform::system::System;
use tauri::Env;

/// Whether the system follows the entry; the plugin knows less of it than the file does.
pub(crate) fn is_on(_plugin: impl FnOnce() -> bool) -> bool {
    entry().is_some_and(|entry| login::is_enabled(System::HERE, &entry))
}

pub(crate) fn starts(item: &LoginProgram<'_>) -> bool {
    entry().is_some_and(|entry| item.is_started_by(System::HERE, &entry))
}

/// Writes the entry as it should be. The plugin's own goes if it lies in another folder.
pub(crate) fn put_right(item: &LoginProgram<'_>) -> io::Result<()> {
    let place = place()?;
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    let content = item.text(System::HERE);
    evermoor_platform::fs::private::write_private(&place, content.as_bytes())?;
    match usual().filter(|usual| *usual != place) {
        Some(usual) => gone(fs::remove_file(usual)),
        None => Ok(()),
    }
}

pub(crate) fn remove() -> io::Result<()> {
    gone(fs::remove_file(place()?))
}

/// A program in an image runs from a place that is gone after it; the image stays.
#[cfg(target_os = "linux")]
pub(crate) fn image(env: &Env) -> Option<PathBuf> {
    env.appimage.as_ref().map(PathBuf::from)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn image(_env: &Env) -> Option<PathBuf> {
    None
}

fn entry() -> Option<String> {
    fs::read_to_string(place().ok()?).ok()
}

fn place() -> io::Result<PathBuf> {
    let place = login::entry_path(System::HERE, |name| env::var_os(name));
    place.ok_or_else(|| io::Error::other("there is no home folder"))
}

/// Where the plugin writes, whatever folder a person chose for settings.
fn usual() -> Option<PathBuf> {
    login::entry_path(System::HERE, |name| env::var_os(name).filter(|_| name == "HOME"))
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
