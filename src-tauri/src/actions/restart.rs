//! Restarting what a person clicked, and noticing when it is over.

use std::time::Duration;

use evermoor_client::{GatewaySupervisor, Presence};
use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::policy::alerts::TrayAction;
use evermoor_platform::clock;
use tauri::{AppHandle, Manager};
use tokio::time::timeout;
use tracing::warn;

use crate::alerts;
use crate::gateway::Gateway;
use crate::gateway::state_task::Desk;

/// A person who clicked wants to be able to click again by then.
const LONGEST: Duration = Duration::from_secs(30);

pub(crate) fn restart(app: &AppHandle, upstream: String) {
    let gateway = app.state::<Gateway>();
    let (keeper, app) = (gateway.keeper().clone(), app.clone());
    alerts::acted(&app, TrayAction::Restart(upstream.clone()));
    app.state::<Desk>().restarting(&upstream);
    gateway.spawn(async move {
        let _ = timeout(LONGEST, bring_back(&keeper, &upstream)).await;
        app.state::<Desk>().restarted(&upstream);
    });
}

pub(crate) fn restart_all(app: &AppHandle) {
    let known = app.state::<Desk>().known().borrow().clone();
    for upstream in known.broken() {
        restart(app, upstream.name.clone());
    }
}

async fn bring_back(keeper: &GatewaySupervisor, upstream: &str) {
    let clicked = clock::unix_millis();
    let mut presence = keeper.presence();
    let number = match keeper.restart_upstream(upstream).await {
        Ok(number) => number,
        Err(failure) => {
            warn!(upstream, %failure, "the upstream was not restarted");
            return;
        }
    };
    let over = |presence: &Presence| match presence {
        Presence::Serving { status } => {
            let found = status.upstreams.iter().find(|one| one.name == upstream);
            found.is_none_or(|found| is_over(found, number, clicked))
        }
        Presence::Starting | Presence::Lost { .. } => true,
    };
    drop(presence.wait_for(over).await);
}

/// Whether the restart of this number has ended, or the connection is newer than the click.
fn is_over(upstream: &UpstreamStatus, number: Option<u64>, clicked: u64) -> bool {
    let ended = upstream.app.as_ref().and_then(|app| app.restart.as_ref()).is_some_and(|restart| {
        number.is_some_and(|number| restart.number >= number) && restart.end.is_some()
    });
    let renewed =
        matches!(upstream.link, UpstreamState::Connected { since, .. } if since >= clicked);
    let left_alone = upstream.is_off() || upstream.is_paused();
    ended || left_alone || (number.is_none() && renewed)
}
