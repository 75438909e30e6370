//! Moves the application to Applications when it runs from a place that vanishes. See
//! [`evermoor_platform::startup::location`].

use std::time::Duration;

use evermoor_platform::process::run;
use evermoor_platform::startup::location::Relocation;
use evermoor_platform::system::System;
use tauri::{AppHandle, Manager, async_runtime};
use tracing::{info, warn};

use crate::actions::quit::RequestedExit;
use crate::gateway::Gateway;

/// A copy from a slow disk image can take a while.
const COPY_TIMEOUT: Duration = Duration::from_secs(120);
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// How this application can move, if it must.
pub(crate) fn pending() -> Option<Relocation> {
    Relocation::of(System::HERE, &std::env::current_exe().ok()?)
}

/// Copies the application and exits, so that the copy can start.
pub(crate) fn relocate(app: &AppHandle) {
    let Some(relocation) = pending() else { return };
    let (gateway, app) = (app.state::<Gateway>(), app.clone());
    gateway.spawn(async move {
        if !run(relocation.copy_command(), COPY_TIMEOUT).await {
            return;
        }
        info!(to = %relocation.to.display(), "copied to Applications");
        app.state::<RequestedExit>().relocate();
        app.exit(0);
    });
}

/// Starts the copy. Called when the event loop has ended: a copy that starts earlier finds this process,
/// and exits.
pub(crate) fn open_copy() {
    if let Some(relocation) = pending() {
        async_runtime::block_on(run(relocation.open_command(), OPEN_TIMEOUT));
    }
}

/// Returns whether the command succeeded.
async fn run((program, args): (&'static str, Vec<String>), timeout: Duration) -> bool {
    match run::output(program, &args, timeout).await {
        Some(output) if output.success => return true,
        Some(output) => warn!(program, error = output.stderr, "cannot move to Applications"),
        None => warn!(program, "cannot move to Applications: the command did not finish"),
    }
    false
}
