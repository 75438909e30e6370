//! `evermoor restart`: bringing an upstream back, step by step.

use evermoor_client::Control;
use evermoor_client::control::Following;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::view::{Restart, Status};
use evermoor_platform::paths::Paths;

use crate::exit::Exit;
use crate::status::run_async;
use crate::terminal;

pub(crate) fn run(paths: &Paths, upstream: &str, json: bool) -> Exit {
    let Some(control) = Control::find(paths) else {
        return Exit::not_running();
    };
    let restart = match run_async(restart(&control, upstream, json)) {
        Ok(Ok(restart)) => restart,
        Ok(Err(failure)) => return Exit::failure(&failure),
        Err(error) => return Exit::failure(&error),
    };
    if json {
        let data =
            serde_json::json!({ "schema": 1, "upstream": upstream, "restart": restart.as_ref() });
        terminal::print(&data);
    } else if restart.is_none() {
        terminal::print(&format_args!("The connection to `{upstream}` is made anew."));
    }
    match restart.and_then(|restart| restart.end?.failure) {
        Some(failure) => Exit::failure(&failure),
        None => Exit::Ok,
    }
}

/// Restarts it, and follows the restart to its end if it is one of an application.
async fn restart(
    control: &Control,
    upstream: &str,
    json: bool,
) -> Result<Option<Restart>, Failure> {
    // Nothing is missed by one who listens before.
    let mut states = control.follow().await?;
    let Some(number) = control.restart_upstream(upstream).await? else { return Ok(None) };
    let mut said = 0;
    loop {
        let restart = next(&mut states, upstream, number).await?;
        let steps = restart.steps.get(said..).unwrap_or_default();
        for step in steps.iter().filter(|_| !json) {
            let seconds = step.at.saturating_sub(restart.began) as f64 / 1000.0;
            terminal::print(&format_args!("{seconds:6.1} s  {}", step.what));
        }
        said = restart.steps.len();
        if restart.end.is_some() {
            return Ok(Some(restart));
        }
    }
}

/// What the next state says of this restart.
async fn next(states: &mut Following, upstream: &str, number: u64) -> Result<Restart, Failure> {
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
