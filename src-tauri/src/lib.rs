//! The tray application: an icon, a menu, notifications and a window for the gateway, which is a
//! separate process. The tray holds no state of its own and knows nothing about MCP.
//!
//! # Layout
//! - `gateway`: starts and follows the gateway, and keeps the state that the tray shows
//! - `tray`: the icon and its native menu
//! - `menu`: the menu as data, without any desktop API
//! - `actions`: what a click in the menu does
//! - `window`: the dashboard's window
//! - `commands`: what the dashboard may call
//! - `alerts`: notifications
//! - `updates`: updates of the application
//! - `launch_at_login`: whether the tray starts at login
//! - `system`: everything that differs between macOS, Linux and Windows

mod actions;
mod alerts;
mod commands;
mod gateway;
mod launch_at_login;
mod menu;
mod system;
mod tray;
mod updates;
mod window;

use std::process::ExitCode;

use evermoor_core::failure::{Code, Failure};
use tauri::{App, AppHandle, Manager, RunEvent};
use tracing::{error, info};

use crate::actions::quit::{ExitReason, RequestedExit};
use crate::actions::{quit, relocate};
use crate::gateway::SupervisedGateway;
use crate::gateway::state_task::StateHandle;
use crate::system::notifications::CurrentDelivery;
use crate::tray::Tray;
use crate::updates::Updates;
use crate::window::pending_page::PendingPage;
use crate::window::reopen::ReopenFilter;
use crate::window::start::Start;

/// Runs until the user quits.
pub fn run() -> ExitCode {
    system::log::start();
    info!(version = env!("CARGO_PKG_VERSION"), "starting the tray");
    let app = match build() {
        Ok(mut app) => {
            // Before the event loop starts, because at its start the system shows the Dock icon.
            system::start_without_dock_icon(&mut app);
            app
        }
        Err(failure) => {
            error!(%failure, "Evermoor cannot start");
            system::log::finish();
            return ExitCode::FAILURE;
        }
    };
    let handle = app.handle().clone();
    let code = app.run_return(|app, event| on_event(app, &event));
    if let ExitReason::Relocate(relocation) = handle.state::<RequestedExit>().reason() {
        relocate::open_copy(&relocation);
    }
    system::log::finish();
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn build() -> Result<App, Failure> {
    system::check_display()?;
    let launcher = gateway::launcher()?;
    system::start_in_background(tauri::Builder::default())
        .plugin(tauri_plugin_single_instance::init(|app, arguments, _| {
            Start::read(arguments).launched_again(app);
        }))
        .plugin(tauri_plugin_clipboard_manager::init())
        .plugin(tauri_plugin_opener::Builder::new().open_js_links_on_click(false).build())
        .plugin(launch_at_login::plugin())
        .plugin(updates::plugin())
        .manage(RequestedExit::default())
        .manage(ReopenFilter::default())
        .manage(CurrentDelivery::default())
        .manage(PendingPage::default())
        .invoke_handler(tauri::generate_handler![
            commands::control,
            commands::copy,
            commands::login_item,
            commands::notification_delivery,
            commands::open::open_folder,
            commands::open::open_link,
            commands::presence,
            commands::set_login_item,
            updates::install_update,
            updates::update_state,
            window::pending_page::listening
        ])
        .setup(move |app| {
            let app = app.handle();
            system::report_wakes(app, window::reopen::woke);
            launch_at_login::renew(app);
            app.manage(SupervisedGateway::start(launcher));
            let gateway = app.state::<SupervisedGateway>();
            gateway.spawn(window::follow(app.clone(), gateway.presence()));
            let start = Start::read(std::env::args());
            app.manage(Updates::start(app));
            alerts::start(app, start.is_login());
            let updates = app.state::<Updates>().state();
            app.manage(StateHandle::start(app, gateway.presence(), updates));
            let state = app.state::<StateHandle>().subscribe();
            let tray = Tray::create(app, &state.borrow());
            gateway.spawn(start.open_first_window(app.clone(), tray.is_some()));
            if let Some(tray) = tray {
                gateway.spawn(tray.follow(state));
            }
            Ok(())
        })
        .build(tauri::generate_context!())
        .map_err(|error| {
            let what = format!("Evermoor could not start: {error}.");
            Failure::new(Code::Internal, what, "Please report this.")
        })
}

fn on_event(app: &AppHandle, event: &RunEvent) {
    if let RunEvent::ExitRequested { code, api, .. } = event {
        match code {
            // The last window was closed. The tray stays.
            None => api.prevent_exit(),
            Some(code) => app.state::<RequestedExit>().requested(*code),
        }
    } else if matches!(event, RunEvent::Exit) {
        // Without a gateway, the application exits before it has started.
        if let Some(gateway) = app.try_state::<SupervisedGateway>() {
            gateway.shut_down(quit::stops_gateway(app));
        }
    } else if system::is_reopened(event) && app.state::<ReopenFilter>().is_by_user() {
        window::open(app);
    }
}
