//! `evermoor start`, `evermoor stop` and `evermoor restart --gateway`: the life of the gateway.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use evermoor_client::Control;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::process::info;
use evermoor_platform::startup::service;

use crate::exit::Exit;
use crate::gateway::connect::launcher;
use crate::gateway::serve::Place;
use crate::inspect::status::run_async;
use crate::terminal::{self, Progress};

/// A gateway lets calls under way end for ten seconds, and then its upstreams' programs.
const END_LIMIT: Duration = Duration::from_secs(20);
/// Another one takes over when it has tried the upstreams.
const TAKEOVER_LIMIT: Duration = Duration::from_secs(30);
/// There is nothing to wait on in another process, so its file is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How fast the tray starts a gateway that has gone.
const TRAY: Duration = Duration::from_secs(2);

pub(crate) fn start(place: &Place) -> Exit {
    let launcher = match launcher(place.clone()) {
        Ok(launcher) => launcher,
        Err(exit) => return exit,
    };
    let was_there = Control::find(&place.paths).is_some();
    let progress = Progress::show("Starting Evermoor");
    let started = run_async(launcher.attach());
    drop(progress);
    match started {
        Ok(Ok(control)) => {
            tell(&control, if was_there { "Evermoor is already running" } else { "Evermoor runs" });
            Exit::Ok
        }
        Ok(Err(failure)) => Exit::failed(&failure),
        Err(error) => Exit::failure(&error),
    }
}

pub(crate) fn stop(place: &Place) -> Exit {
    let Some(control) = Control::find(&place.paths) else {
        return Exit::not_running();
    };
    let progress = Progress::show("Stopping Evermoor; calls under way may end");
    let stopped = run_async(async {
        control.stop().await?;
        let next = next_gateway(place, &control, END_LIMIT).await?;
        let tray = !info::find_by_name(|name| name.starts_with("evermoor-tray")).await.is_empty();
        let again = match (next, tray) {
            (Some(_), _) => true,
            (None, true) => is_started_again(place).await,
            (None, false) => false,
        };
        Ok::<_, Failure>(again)
    });
    drop(progress);
    let again = match stopped {
        Ok(Ok(again)) => again,
        Ok(Err(failure)) => return Exit::failed(&failure),
        Err(error) => return Exit::failure(&error),
    };
    if terminal::manner().json {
        terminal::print_json(serde_json::json!({ "stopped": true, "startedAgain": again }));
    } else if again {
        terminal::say(&"Evermoor was stopped, and somebody has started it again.");
        terminal::remark(&"The tray keeps it running: quit the tray first.");
    } else {
        terminal::say(&"Evermoor is stopped.");
        terminal::remark(&"`evermoor start` starts it, and so does the next editor that uses it.");
    }
    Exit::Ok
}

/// A new gateway takes the place of the one that runs.
pub(crate) fn restart(place: &Place) -> Exit {
    let Some(control) = Control::find(&place.paths) else {
        return start(place);
    };
    let launcher = match launcher(place.clone()) {
        Ok(launcher) => launcher,
        Err(exit) => return exit,
    };
    let supervised = run_async(control.status())
        .is_ok_and(|status| status.is_ok_and(|status| status.supervised));
    let progress = Progress::show("A new gateway takes over");
    let restarted = run_async(async {
        if supervised {
            // One that takes over would not be the system's to look after.
            return by_the_system(place, &control).await;
        }
        launcher.take_over().map_err(|error| {
            let what = format!("The new gateway could not be started: {error}.");
            Failure::new(Code::Internal, what, "Install Evermoor again.")
        })?;
        let next = next_gateway(place, &control, TAKEOVER_LIMIT).await?;
        next.ok_or_else(|| {
            let what = "The gateway ended, and no other one has taken its place.";
            Failure::new(Code::Internal, what, "Run `evermoor start`, then `evermoor logs`.")
        })
    });
    drop(progress);
    match restarted {
        Ok(Ok(control)) => {
            let done = match supervised {
                true => "The system has restarted the gateway",
                false => "A new gateway has taken over",
            };
            tell(&control, done);
            if !supervised {
                terminal::remark(&"No call was lost.");
            }
            Exit::Ok
        }
        Ok(Err(failure)) => Exit::failed(&failure),
        Err(error) => Exit::failure(&error),
    }
}

/// The service manager restarts it; calls under way have ten seconds to end.
async fn by_the_system(place: &Place, before: &Control) -> Result<Control, Failure> {
    let refused = |why: String| {
        let what = format!("The system's service manager did not restart it: {why}.");
        Failure::new(Code::Internal, what, "See `evermoor service status`.")
    };
    match service::restart().await {
        service::ServiceResult::Well => {}
        service::ServiceResult::NoManager => return Err(refused("there is none".into())),
        service::ServiceResult::Refused(why) => return Err(refused(why)),
    }
    let deadline = Instant::now() + TAKEOVER_LIMIT;
    while Instant::now() < deadline {
        match Control::find(&place.paths) {
            Some(now) if now.runtime().pid != before.runtime().pid => return Ok(now),
            Some(_) | None => sleep(LOOK_AGAIN).await,
        }
    }
    Err(refused("it has not come back".into()))
}

/// Waits until this gateway has ended. The one in its place, if there is one.
async fn next_gateway(
    place: &Place,
    before: &Control,
    within: Duration,
) -> Result<Option<Control>, Failure> {
    let deadline = Instant::now() + within;
    while Instant::now() < deadline {
        match Control::find(&place.paths) {
            Some(now) if now.runtime().pid == before.runtime().pid => sleep(LOOK_AGAIN).await,
            other => return Ok(other),
        }
    }
    let what = format!("The gateway (process {}) is still there.", before.runtime().pid);
    Err(Failure::new(Code::Timeout, what, "Run `evermoor logs`, or end that process."))
}

async fn is_started_again(place: &Place) -> bool {
    let deadline = Instant::now() + TRAY;
    while Instant::now() < deadline {
        if Control::find(&place.paths).is_some() {
            return true;
        }
        sleep(LOOK_AGAIN).await;
    }
    false
}

fn tell(control: &Control, what: &str) {
    let runtime = control.runtime();
    let endpoint = format!("{}/mcp", runtime.origin);
    if terminal::manner().json {
        let (pid, version) = (runtime.pid, &runtime.version);
        let data = serde_json::json!({ "endpoint": endpoint, "pid": pid, "version": version });
        return terminal::print_json(data);
    }
    terminal::say(&format_args!("{what} at {endpoint}."));
}
