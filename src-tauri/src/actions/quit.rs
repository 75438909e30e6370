//! Quitting. The gateway keeps running, unless the user has set it to stop with the tray. A gateway
//! that runs under the system's service manager is never stopped here.

use std::sync::atomic::{AtomicBool, Ordering};

use evermoor_core::api::Status;
use tauri::{AppHandle, Manager};

use crate::gateway::state_task::StateHandle;

/// What to do when the application exits.
#[derive(Default)]
pub(crate) struct QuitOptions {
    stops_gateway: AtomicBool,
}

impl QuitOptions {
    pub(crate) fn stops_gateway(&self) -> bool {
        self.stops_gateway.load(Ordering::Relaxed)
    }
}

pub(crate) fn quit(app: &AppHandle) {
    let stop = app.state::<StateHandle>().subscribe().borrow().status().is_some_and(stops_gateway);
    app.state::<QuitOptions>().stops_gateway.store(stop, Ordering::Relaxed);
    app.exit(0);
}

fn stops_gateway(status: &Status) -> bool {
    status.tray.quit_stops_gateway && !status.supervised
}
