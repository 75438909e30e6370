//! Quitting. The gateway goes on serving, unless the person wants it to end with the tray; one that a
//! supervisor runs is the supervisor's to end.

use std::sync::atomic::{AtomicBool, Ordering};

use evermoor_core::api::Status;
use tauri::{AppHandle, Manager};

use crate::gateway::state_task::Desk;

/// Whether the gateway is to end when the application does.
#[derive(Default)]
pub(crate) struct Leaving {
    ends_gateway: AtomicBool,
}

impl Leaving {
    pub(crate) fn ends_gateway(&self) -> bool {
        self.ends_gateway.load(Ordering::Relaxed)
    }
}

pub(crate) fn quit(app: &AppHandle) {
    let ends = app.state::<Desk>().known().borrow().status().is_some_and(is_to_end);
    app.state::<Leaving>().ends_gateway.store(ends, Ordering::Relaxed);
    app.exit(0);
}

fn is_to_end(status: &Status) -> bool {
    status.tray.quit_stops_gateway && !status.supervised
}
