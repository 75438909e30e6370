//! The tray application. It lives in the menu bar or the notification area and has no console.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    evermoor_tray::run()
}
