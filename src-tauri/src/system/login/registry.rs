//! The login entry on Windows: a command line in the registry, for all users or for this one.

use std::io;
use std::path::PathBuf;

use evermoor_platform::startup::login::{LoginProgram, NAME};
use evermoor_platform::system::System;
use tauri::Env;
use windows_registry::{CURRENT_USER, Key, LOCAL_MACHINE};

const RUN: &str = r"Software\Microsoft\Windows\CurrentVersion\Run";

/// Task Manager disables an entry elsewhere in the registry, which the plugin checks.
pub(crate) fn is_on(plugin: impl FnOnce() -> bool) -> bool {
    plugin()
}

/// The plugin turns an entry on that was turned off.
pub(crate) fn is_turned_off() -> bool {
    false
}

pub(crate) fn starts(item: &LoginProgram<'_>) -> bool {
    let has = |root: &Key| {
        let entry = root.open(RUN).and_then(|key| key.get_string(NAME));
        entry.is_ok_and(|entry| item.is_started_by(System::Windows, &entry))
    };
    has(CURRENT_USER) || has(LOCAL_MACHINE)
}

/// Quotes the path in the entry that the plugin has written.
pub(crate) fn write_entry(item: &LoginProgram<'_>) -> io::Result<()> {
    let text = item.text(System::Windows);
    for root in [LOCAL_MACHINE, CURRENT_USER] {
        let there = root.open(RUN).and_then(|key| key.get_string(NAME)).is_ok();
        if there {
            let key = root.create(RUN).map_err(io::Error::from)?;
            key.set_string(NAME, &text).map_err(io::Error::from)?;
        }
    }
    Ok(())
}

/// Nothing to do: the plugin has removed the entry.
pub(crate) fn remove() -> io::Result<()> {
    Ok(())
}

pub(crate) fn image(_env: &Env) -> Option<PathBuf> {
    None
}
