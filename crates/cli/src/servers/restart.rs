//! `evermoor restart`: restarts or reconnects an upstream and prints each step.

use evermoor_client::ControlClient;
use evermoor_client::control::StatusStream;
use evermoor_core::api::{RestartProgress, Status};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;

use crate::exit::Exit;
use crate::runtime::run_async;
use crate::servers::lookup;
use crate::terminal;

pub(crate) fn run(paths: &Paths, upstream: &str) -> Exit {
    let Some(control) = ControlClient::find(paths) else {
        return Exit::not_running();
    };
    match run_async(restart(&control, upstream)) {
        Ok(Ok(restart)) => conclude(upstream, restart),
        Ok(Err(failure)) => Exit::failed(&failure),
        Err(error) => Exit::failure(&error),
    }
}

/// Restarts every upstream that is not off or paused, one after the other.
pub(crate) fn all(paths: &Paths) -> Exit {
    let Some(control) = ControlClient::find(paths) else {
        return Exit::not_running();
    };
    let status = match run_async(control.status()) {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => return Exit::failed(&error.into()),
        Err(error) => return Exit::failure(&error),
    };
    let on = status.upstreams.iter().filter(|one| !one.is_off() && !one.is_paused());
    let (mut exit, mut done) = (Exit::Ok, Vec::new());
    for upstream in on {
        terminal::print_message(&format_args!("{}", upstream.title));
        match run_async(restart(&control, &upstream.name)) {
            Ok(Ok(restart)) => {
                let failure = restart.as_ref().and_then(|one| one.end.as_ref()?.failure.clone());
                if let (Some(failure), false) = (&failure, terminal::options().json) {
                    exit = Exit::failed(failure);
                }
                done.push(serde_json::json!({ "upstream": upstream.name, "restart": restart }));
            }
            Ok(Err(failure)) => exit = Exit::failed(&failure),
            Err(error) => return Exit::failure(&error),
        }
    }
    if terminal::options().json {
        terminal::print_json(serde_json::json!({ "restarts": done }));
    }
    exit
}

fn conclude(upstream: &str, restart: Option<RestartProgress>) -> Exit {
    let failure = restart.as_ref().and_then(|restart| restart.end.as_ref()?.failure.clone());
    if terminal::options().json {
        terminal::print_json(serde_json::json!({ "upstream": upstream, "restart": restart }));
        return if failure.is_some() { Exit::Failure } else { Exit::Ok };
    }
    match failure {
        Some(failure) => Exit::failed(&failure),
        None => Exit::Ok,
    }
}

/// Restarts an upstream. If it is an application, follows the restart to its end.
async fn restart(
    control: &ControlClient,
    upstream: &str,
) -> Result<Option<RestartProgress>, Failure> {
    let json = terminal::options().json;
    // Subscribe first, so that no step is missed.
    let mut states = control.follow().await?;
    let begun = match control.restart_upstream(upstream).await {
        Ok(begun) => begun,
        Err(error) => return Err(lookup::explain(control, error, Some(upstream)).await),
    };
    let Some(number) = begun else {
        terminal::print_message(&format_args!("Reconnecting to `{upstream}`."));
        return Ok(None);
    };
    let mut printed = 0;
    loop {
        let restart = next(&mut states, upstream, number).await?;
        let steps = restart.steps.get(printed..).unwrap_or_default();
        for step in steps.iter().filter(|_| !json) {
            let seconds = step.at.saturating_sub(restart.began) as f64 / 1000.0;
            terminal::print_message(&format_args!("{seconds:6.1} s  {}", step.what));
        }
        printed = restart.steps.len();
        if restart.end.is_some() {
            return Ok(Some(restart));
        }
    }
}

/// The next state of this restart.
async fn next(
    states: &mut StatusStream,
    upstream: &str,
    number: u64,
) -> Result<RestartProgress, Failure> {
    loop {
        let Some(Status { upstreams, .. }) = states.next().await else {
            let what = "The gateway stopped during the restart.";
            return Err(Failure::new(Code::ConnectionLost, what, "Run `evermoor status`."));
        };
        let seen = upstreams.into_iter().find(|one| one.name == upstream);
        let restart = seen.and_then(|one| one.app?.restart);
        if let Some(restart) = restart.filter(|restart| restart.number >= number) {
            return Ok(restart);
        }
    }
}
