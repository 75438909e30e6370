//! Moves the gateway to a free port when another program uses its own, and updates the editors.

use std::time::Duration;

use evermoor_client::{GatewaySupervisor, Presence, move_port};
use evermoor_core::failure::Failure;
use tauri::{AppHandle, Manager};
use tokio::time::timeout;
use tracing::{info, warn};

use crate::gateway::SupervisedGateway;
use crate::gateway::state_task::StateHandle;
use crate::window;
use crate::window::page::Page;

/// Longer than a gateway takes to start.
const START_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) fn move_port(app: &AppHandle) {
    let gateway = app.state::<SupervisedGateway>();
    let (supervisor, app) = (gateway.supervisor().clone(), app.clone());
    gateway.spawn(async move {
        match move_all(&supervisor).await {
            Ok(()) => app.state::<StateHandle>().refresh(),
            Err(failure) => warn!(%failure, "cannot move the gateway to another port"),
        }
        // Either way the user wants to see the result.
        window::open_at(&app, &Page::Editors);
    });
}

async fn move_all(supervisor: &GatewaySupervisor) -> Result<(), Failure> {
    let port = move_port::to_free_port(supervisor.paths())?;
    info!(port, "moving the gateway to another port");
    supervisor.try_now();
    let mut presence = supervisor.presence();
    let serves = |presence: &Presence| matches!(presence, Presence::Serving { .. });
    drop(timeout(START_TIMEOUT, presence.wait_for(serves)).await);
    let updated = move_port::update_editors(&supervisor.control()?).await?;
    info!(?updated, "updated the editors");
    Ok(())
}
