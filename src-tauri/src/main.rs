//! The tray application's binary. It has no console window on Windows.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    evermoor_tray::run()
}
