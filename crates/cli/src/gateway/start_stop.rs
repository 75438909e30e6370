//! `evermoor start`, `evermoor stop` and `evermoor restart --gateway`.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use evermoor_client::ControlClient;
use evermoor_client::gateway_files::stop_marker;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::startup::service;

use crate::exit::Exit;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::terminal::{self, Progress};

/// A gateway waits up to ten seconds for running calls, and then for its upstreams' programs.
pub(crate) const STOP_TIMEOUT: Duration = Duration::from_secs(20);
/// A new gateway connects to the upstreams before it takes over.
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(30);
/// Another process does not report its state, so we poll its runtime file.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(crate) fn start(instance: &Instance) -> Exit {
    let launcher = match instance.launcher() {
        Ok(launcher) => launcher,
        Err(exit) => return exit,
    };
    let was_there = ControlClient::find(&instance.paths).is_some();
    let progress = Progress::show("Starting Evermoor");
    let started = run_async(launcher.attach());
    drop(progress);
    match started {
        Ok(Ok(control)) => {
            print_endpoint(
                &control,
                if was_there { "Evermoor is already running" } else { "Evermoor is running" },
            );
            Exit::Ok
        }
        Ok(Err(failure)) => Exit::failed(&failure),
        Err(error) => Exit::failure(&error),
    }
}

pub(crate) fn stop(instance: &Instance) -> Exit {
    let Some(control) = ControlClient::find(&instance.paths) else {
        return Exit::not_running();
    };
    let progress = Progress::show("Stopping Evermoor once running calls finish");
    let stopped = run_async(async {
        let supervised = control.status().await.is_ok_and(|status| status.supervised);
        // The tray, and editors that do not call, leave it stopped.
        stop_marker::write(&instance.paths).map_err(|error| {
            let what = format!("Cannot write to the folder of the running gateway: {error}.");
            Failure::new(Code::Internal, what, "Check its permissions.")
        })?;
        control.stop().await.inspect_err(|_| stop_marker::remove(&instance.paths))?;
        if supervised {
            // Otherwise the next connection would start it again.
            service::release().await;
        }
        let next = next_gateway(instance, &control, STOP_TIMEOUT).await?;
        Ok::<_, Failure>(next.is_some())
    });
    drop(progress);
    let again = match stopped {
        Ok(Ok(again)) => again,
        Ok(Err(failure)) => return Exit::failed(&failure),
        Err(error) => return Exit::failure(&error),
    };
    if terminal::options().json {
        terminal::print_json(serde_json::json!({ "stopped": true, "startedAgain": again }));
    } else if again {
        terminal::print_message(&"Evermoor stopped, but was started again.");
        terminal::print_note(
            &"An editor that runs `evermoor connect` made a call. Close it, then stop Evermoor again.",
        );
    } else {
        terminal::print_message(&"Evermoor is stopped.");
        terminal::print_note(
            &"To start it, run `evermoor start` or choose Start Evermoor in the tray. The next call of an editor \
              that runs `evermoor connect` starts it too, and so does the next login if Evermoor starts then.",
        );
    }
    Exit::Ok
}

/// Replaces the running gateway with a new one.
pub(crate) fn restart(instance: &Instance) -> Exit {
    let Some(control) = ControlClient::find(&instance.paths) else {
        return start(instance);
    };
    let launcher = match instance.launcher() {
        Ok(launcher) => launcher,
        Err(exit) => return exit,
    };
    let supervised = run_async(control.status())
        .is_ok_and(|status| status.is_ok_and(|status| status.supervised));
    let progress = Progress::show("Starting a new gateway");
    let restarted = run_async(async {
        if supervised {
            // A gateway that takes over would not run under the service manager.
            return restart_service(instance, &control).await;
        }
        launcher.take_over().map_err(|error| {
            let what = format!("The new gateway could not be started: {error}.");
            Failure::new(Code::Internal, what, "Reinstall Evermoor.")
        })?;
        let next = next_gateway(instance, &control, TAKEOVER_TIMEOUT).await?;
        next.ok_or_else(|| {
            let what = "The gateway stopped, but no other one took over.";
            Failure::new(Code::Internal, what, "Run `evermoor start`, then `evermoor logs`.")
        })
    });
    drop(progress);
    match restarted {
        Ok(Ok(control)) => {
            let done = match supervised {
                true => "The service was restarted",
                false => "A new gateway has taken over",
            };
            print_endpoint(&control, done);
            if !supervised {
                terminal::print_note(&"No call was lost.");
            }
            Exit::Ok
        }
        Ok(Err(failure)) => Exit::failed(&failure),
        Err(error) => Exit::failure(&error),
    }
}

/// Restarts the gateway through the service manager. Running calls have four seconds to finish.
async fn restart_service(
    instance: &Instance,
    before: &ControlClient,
) -> Result<ControlClient, Failure> {
    let refused = |why: String| {
        let what = format!("The system's service manager did not restart Evermoor: {why}.");
        Failure::new(Code::Internal, what, "Run `evermoor service status`.")
    };
    match service::restart().await {
        service::ServiceResult::Well => {}
        service::ServiceResult::NoManager => return Err(refused("there is none".into())),
        service::ServiceResult::Refused(why) => return Err(refused(why)),
    }
    let deadline = Instant::now() + TAKEOVER_TIMEOUT;
    while Instant::now() < deadline {
        match ControlClient::find(&instance.paths) {
            Some(now) if now.runtime().pid != before.runtime().pid => return Ok(now),
            Some(_) | None => sleep(POLL_INTERVAL).await,
        }
    }
    Err(refused("it did not start in time".into()))
}

/// Waits until this gateway has stopped. Returns the one that took over, if any.
async fn next_gateway(
    instance: &Instance,
    before: &ControlClient,
    within: Duration,
) -> Result<Option<ControlClient>, Failure> {
    let deadline = Instant::now() + within;
    while Instant::now() < deadline {
        match ControlClient::find(&instance.paths) {
            Some(now) if now.runtime().pid == before.runtime().pid => sleep(POLL_INTERVAL).await,
            other => return Ok(other),
        }
    }
    let what = format!("The gateway (process {}) is still running.", before.runtime().pid);
    Err(Failure::new(Code::Timeout, what, "Run `evermoor logs`, or end that process."))
}

fn print_endpoint(control: &ControlClient, what: &str) {
    let runtime = control.runtime();
    let endpoint = format!("{}/mcp", runtime.origin);
    if terminal::options().json {
        let (pid, version) = (runtime.pid, &runtime.version);
        let data = serde_json::json!({ "endpoint": endpoint, "pid": pid, "version": version });
        return terminal::print_json(data);
    }
    terminal::print_message(&format_args!("{what} at {endpoint}."));
}
