//! The tray application: an icon, a menu and a window over the gateway, which is a process of its
//! own. It holds no state and knows no MCP; all it shows is the gateway's presence.

mod actions;
mod alerts;
mod commands;
mod gateway;
mod login;
mod menu;
mod system;
mod tray;
mod updates;
mod window;

use std::process::ExitCode;

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::clock;
use tauri::{App, AppHandle, Manager, RunEvent};
use tokio::time::Instant;
use tracing::{error, info};

use crate::actions::quit::Leaving;
use crate::gateway::Gateway;
use crate::gateway::state_task::Desk;
use crate::tray::Tray;
use crate::updates::Updates;
use crate::window::at_start::Start;
use crate::window::pending_page::Waiting;
use crate::window::reopen::Reopening;

/// Runs until a person quits.
pub fn run() -> ExitCode {
    system::log::start();
    info!(version = env!("CARGO_PKG_VERSION"), "the tray starts");
    let app = match build() {
        Ok(app) => app,
        Err(failure) => {
            error!(%failure, "Evermoor cannot start");
            system::log::finish();
            return ExitCode::FAILURE;
        }
    };
    let mut reopening = Reopening::new(clock::now(), Instant::now());
    let code = app.run_return(move |app, event| on_event(app, &event, &mut reopening));
    system::log::finish();
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn build() -> Result<App, Failure> {
    system::check_display()?;
    let launcher = gateway::launcher()?;
    tauri::Builder::default()
        .plugin(tauri_plugin_single_instance::init(|app, arguments, _| {
            Start::read(arguments).again(app);
        }))
        .plugin(tauri_plugin_clipboard_manager::init())
        .plugin(tauri_plugin_opener::Builder::new().open_js_links_on_click(false).build())
        .plugin(login::plugin())
        .plugin(updates::plugin())
        .manage(Leaving::default())
        .manage(Waiting::default())
        .invoke_handler(tauri::generate_handler![
            commands::control,
            commands::copy,
            commands::login_item,
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
            system::show_in_dock(app, false);
            login::renew(app);
            app.manage(Gateway::start(launcher));
            let gateway = app.state::<Gateway>();
            gateway.spawn(window::follow(app.clone(), gateway.presence()));
            let start = Start::read(std::env::args());
            app.manage(Updates::start(app));
            alerts::start(app, start.is_by_login());
            let updates = app.state::<Updates>().state();
            app.manage(Desk::start(app, gateway.presence(), updates));
            let known = app.state::<Desk>().known();
            let tray = Tray::put_up(app, &known.borrow());
            gateway.spawn(start.first(app.clone(), tray.is_some()));
            if let Some(tray) = tray {
                gateway.spawn(tray.follow(known));
            }
            Ok(())
        })
        .build(tauri::generate_context!())
        .map_err(|error| {
            let what = format!("The application could not be put together: {error}.");
            Failure::new(Code::Internal, what, "Please report this.")
        })
}

fn on_event(app: &AppHandle, event: &RunEvent, reopening: &mut Reopening) {
    if let RunEvent::ExitRequested { code: None, api, .. } = event {
        // The last window was closed; the tray stays.
        api.prevent_exit();
    } else if matches!(event, RunEvent::Exit) {
        app.state::<Gateway>().let_go(app.state::<Leaving>().ends_gateway());
    } else if system::is_reopened(event) && reopening.is_by_a_person(clock::now(), Instant::now()) {
        window::open(app);
    }
}
