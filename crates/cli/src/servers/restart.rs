//! `evermoor restart`: bringing an upstream back, step by step.

use evermoor_client::Control;
use evermoor_client::control::Following;
use evermoor_core::api::{RestartProgress, Status};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;

use crate::exit::Exit;
use crate::inspect::status::run_async;
use crate::servers::lookup;
use crate::terminal;

pub(crate) fn run(paths: &Paths, upstream: &str) -> Exit {
    let Some(control) = Control::find(paths) else {
        return Exit::not_running();
    };
    match run_async(restart(&control, upstream)) {
        Ok(Ok(restart)) => conclude(upstream, restart),
        Ok(Err(failure)) => Exit::failed(&failure),
        Err(error) => Exit::failure(&error),
    }
}

/// Restarts every upstream that is on, one after the other.
pub(crate) fn all(paths: &Paths) -> Exit {
    let Some(control) = Control::find(paths) else {
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
        terminal::say(&format_args!("{}", upstream.title));
        match run_async(restart(&control, &upstream.name)) {
            Ok(Ok(restart)) => {
                let failure = restart.as_ref().and_then(|one| one.end.as_ref()?.failure.clone());
                if let (Some(failure), false) = (&failure, terminal::manner().json) {
                    exit = Exit::failed(failure);
                }
                done.push(serde_json::json!({ "upstream": upstream.name, "restart": restart }));
            }
            Ok(Err(failure)) => exit = Exit::failed(&failure),
            Err(error) => return Exit::failure(&error),
        }
    }
    if terminal::manner().json {
        terminal::print_json(serde_json::json!({ "restarts": done }));
    }
    exit
}

fn conclude(upstream: &str, restart: Option<RestartProgress>) -> Exit {
    let failure = restart.as_ref().and_then(|restart| restart.end.as_ref()?.failure.clone());
    if terminal::manner().json {
        terminal::print_json(serde_json::json!({ "upstream": upstream, "restart": restart }));
        return if failure.is_some() { Exit::Failure } else { Exit::Ok };
    }
    match failure {
        Some(failure) => Exit::failed(&failure),
        None => Exit::Ok,
    }
}

/// Restarts it, and follows the restart to its end if it is one of an application.
async fn restart(control: &Control, upstream: &str) -> Result<Option<RestartProgress>, Failure> {
    let json = terminal::manner().json;
    // Nothing is missed by one who listens before.
    let mut states = control.follow().await?;
    let begun = match control.restart_upstream(upstream).await {
        Ok(begun) => begun,
        Err(error) => return Err(lookup::explain(control, error, Some(upstream)).await),
    };
    let Some(number) = begun else {
        terminal::say(&format_args!("The connection to `{upstream}` is made anew."));
        return Ok(None);
    };
    let mut said = 0;
    loop {
        let restart = next(&mut states, upstream, number).await?;
        let steps = restart.steps.get(said..).unwrap_or_default();
        for step in steps.iter().filter(|_| !json) {
            let seconds = step.at.saturating_sub(restart.began) as f64 / 1000.0;
            terminal::say(&format_args!("{seconds:6.1} s  {}", step.what));
        }
        said = restart.steps.len();
        if restart.end.is_some() {
            return Ok(Some(restart));
        }
    }
}

/// What the next state says of this restart.
async fn next(
    states: &mut Following,
    upstream: &str,
    number: u64,
) -> Result<RestartProgress, Failure> {
    loop {
        let Some(Status { upstreams, .. }) = states.next().await else {
            let what = "The gateway ended while the restart was under way.";
            return Err(Failure::new(Code::ConnectionLost, what, "See `evermoor status`."));
        };
        let seen = upstreams.into_iter().find(|one| one.name == upstream);
        let restart = seen.and_then(|one| one.app?.restart);
        if let Some(restart) = restart.filter(|restart| restart.number >= number) {
            return Ok(restart);
        }
    }
}
