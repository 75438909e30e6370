//! Moves the application to Applications when it runs from a place that vanishes. See
//! [`evermoor_platform::startup::location`].

use std::time::Duration;

use evermoor_platform::process::run;
use evermoor_platform::startup::location::Relocation;
use evermoor_platform::system::System;
use tauri::{AppHandle, Manager, async_runtime};
use tracing::{info, warn};

use crate::actions::quit::RequestedExit;
use crate::gateway::SupervisedGateway;

/// A copy from a slow disk image can take a while.
const COPY_TIMEOUT: Duration = Duration::from_secs(120);
const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Where this application can move, if it must.
fn choices() -> Vec<Relocation> {
    let Ok(program) = std::env::current_exe() else { return Vec::new() };
    let home = std::env::home_dir();
    Relocation::choices(System::HERE, &program, home.as_deref())
}

/// Whether this application must move.
pub(crate) fn is_pending() -> bool {
    !choices().is_empty()
}

/// Copies the application and exits, so that the copy can start.
pub(crate) fn relocate(app: &AppHandle) {
    let choices = choices();
    let (gateway, app) = (app.state::<SupervisedGateway>(), app.clone());
    gateway.spawn(async move {
        for choice in &choices {
            if copy(choice).await {
                info!(to = %choice.to.display(), "copied to Applications");
                app.state::<RequestedExit>().relocate(choice.clone());
                app.exit(0);
                return;
            }
        }
        // The user can still drag it there.
        if let Some(choice) = choices.first() {
            run(choice.reveal_command(), OPEN_TIMEOUT).await;
        }
    });
}

async fn copy(relocation: &Relocation) -> bool {
    let placed = run(relocation.copy_command(), COPY_TIMEOUT).await
        && relocation
            .put_in_place()
            .inspect_err(|error| warn!(%error, "cannot move to Applications"))
            .is_ok();
    if !placed {
        relocation.clean_up();
    }
    placed
}

/// Starts the copy. Called when the event loop has ended: a copy that starts earlier finds this process,
/// and exits.
pub(crate) fn open_copy(relocation: &Relocation) {
    async_runtime::block_on(run(relocation.open_command(), OPEN_TIMEOUT));
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
