//! The way out when another program has the gateway's port: another port, and every editor with it.

use std::time::Duration;

use evermoor_client::{GatewaySupervisor, Presence, move_port};
use evermoor_core::failure::Failure;
use tauri::{AppHandle, Manager};
use tokio::time::timeout;
use tracing::{info, warn};

use crate::gateway::Gateway;
use crate::gateway::state_task::Desk;
use crate::window;
use crate::window::page::Page;

/// Longer than a gateway takes to start.
const START_LIMIT: Duration = Duration::from_secs(20);

pub(crate) fn move_port(app: &AppHandle) {
    let gateway = app.state::<Gateway>();
    let (keeper, app) = (gateway.keeper().clone(), app.clone());
    gateway.spawn(async move {
        match everything(&keeper).await {
            Ok(()) => app.state::<Desk>().look_again(),
            Err(failure) => warn!(%failure, "the gateway could not be moved to another port"),
        }
        // Either way the person wants to see how it stands.
        window::open_at(&app, &Page::Editors);
    });
}

async fn everything(keeper: &GatewaySupervisor) -> Result<(), Failure> {
    let port = move_port::to_free_port(keeper.paths())?;
    info!(port, "the gateway moves to another port");
    keeper.try_now();
    let mut presence = keeper.presence();
    let serves = |presence: &Presence| matches!(presence, Presence::Serving { .. });
    drop(timeout(START_LIMIT, presence.wait_for(serves)).await);
    let updated = move_port::update_editors(&keeper.control()?).await?;
    info!(?updated, "the editors were told");
    Ok(())
}
