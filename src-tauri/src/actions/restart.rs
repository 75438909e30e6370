//! Restarts an upstream and shows it as restarting until the restart has ended.

use std::time::Duration;

use evermoor_client::{GatewaySupervisor, Presence};
use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::policy::alerts::TrayAction;
use evermoor_platform::clock;
use tauri::{AppHandle, Manager};
use tokio::time::timeout;
use tracing::warn;

use crate::alerts;
use crate::gateway::SupervisedGateway;
use crate::gateway::state_task::StateHandle;

/// After this time the user can click Restart again.
const RESTART_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) fn restart(app: &AppHandle, upstream: String) {
    let gateway = app.state::<SupervisedGateway>();
    let (supervisor, app) = (gateway.supervisor().clone(), app.clone());
    alerts::record_action(&app, TrayAction::Restart(upstream.clone()));
    app.state::<StateHandle>().restarting(&upstream);
    gateway.spawn(async move {
        let _ = timeout(RESTART_TIMEOUT, restart_and_wait(&supervisor, &upstream)).await;
        app.state::<StateHandle>().restarted(&upstream);
    });
}

pub(crate) fn restart_all(app: &AppHandle) {
    let state = app.state::<StateHandle>().subscribe().borrow().clone();
    for upstream in state.down() {
        restart(app, upstream.name.clone());
    }
}

async fn restart_and_wait(supervisor: &GatewaySupervisor, upstream: &str) {
    let clicked = clock::unix_millis();
    let mut presence = supervisor.presence();
    let number = match supervisor.restart_upstream(upstream).await {
        Ok(number) => number,
        Err(failure) => {
            warn!(upstream, %failure, "cannot restart the upstream");
            return;
        }
    };
    let over = |presence: &Presence| match presence {
        Presence::Serving { status } => {
            let found = status.upstreams.iter().find(|one| one.name == upstream);
            found.is_none_or(|found| is_over(found, number, clicked))
        }
        Presence::Starting | Presence::Lost { .. } | Presence::Stopped => true,
    };
    drop(presence.wait_for(over).await);
}

/// Whether the restart with this number has ended, or the connection is newer than the click.
fn is_over(upstream: &UpstreamStatus, number: Option<u64>, clicked: u64) -> bool {
    let ended = upstream.app.as_ref().and_then(|app| app.restart.as_ref()).is_some_and(|restart| {
        number.is_some_and(|number| restart.number >= number) && restart.end.is_some()
    });
    let reconnected =
        matches!(upstream.link, UpstreamState::Connected { since, .. } if since >= clicked);
    let inactive = upstream.is_off() || upstream.is_paused();
    ended || inactive || (number.is_none() && reconnected)
}
