//! The checks that run outside the gateway: whether it is running, its version, whether an editor
//! can use it, and what else of Evermoor is on the machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use evermoor_client::ControlClient;
use evermoor_client::launch::Launcher;
use evermoor_client::mcp::Session;
use evermoor_core::api::{Check, CheckState};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::lifecycle::version::is_older;
use evermoor_core::protocol::mcp::method;
use evermoor_gateway::VERSION;
use evermoor_platform::paths::Paths;

use crate::instance::Instance;

/// How long an answer may take. Editors do not wait much longer.
const REPLY_TIMEOUT: Duration = Duration::from_millis(1_500);
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) fn no_gateway() -> Check {
    let remedy = "Run `evermoor start`.";
    Check::bad("gateway", "Gateway", "Evermoor is not running.", remedy).fixable()
}

pub(super) fn not_answering(control: &ControlClient) -> Check {
    let detail = format!("Running (process {}), but not answering.", control.runtime().pid);
    let remedy = "Run `evermoor restart --gateway`, then `evermoor logs`.";
    Check::bad("gateway", "Gateway", detail, remedy)
}

pub(super) fn no_program() -> Failure {
    let what = "Evermoor cannot find its own program.";
    Failure::new(Code::Internal, what, "Reinstall Evermoor.")
}

pub(super) fn not_here() -> Failure {
    let what = "This needs a running gateway.";
    Failure::new(Code::NotRunning, what, "Run `evermoor start`.")
}

/// Whether the gateway and this program have the same version.
pub(super) fn version(control: &ControlClient) -> Check {
    let (id, title, running) = ("version", "Version", &control.runtime().version);
    if running == VERSION {
        return Check::good(id, title, format!("Gateway and command line are {VERSION}."));
    }
    let detail = format!("The gateway is {running}, but this program is {VERSION}.");
    match is_older(running, VERSION) {
        true => {
            let remedy = "Run `evermoor restart --gateway`. No call is lost.";
            Check::bad(id, title, detail, remedy).fixable()
        }
        false => Check::bad(id, title, detail, "Install the newer version everywhere."),
    }
}

/// Replaces an older gateway with one of this version.
pub(super) async fn replace(launcher: &Launcher, paths: &Paths) -> Result<String, Failure> {
    let stuck = |what: String| Failure::new(Code::Internal, what, "Run `evermoor logs`.");
    launcher
        .take_over()
        .map_err(|error| stuck(format!("The new gateway could not be started: {error}.")))?;
    let deadline = Instant::now() + TAKEOVER_TIMEOUT;
    while Instant::now() < deadline {
        let now = ControlClient::find(paths).map(|control| control.runtime().version.clone());
        if now.as_deref() == Some(VERSION) {
            return Ok(format!("A gateway of version {VERSION} has taken over."));
        }
        sleep(Duration::from_millis(20)).await;
    }
    Err(stuck("The older gateway is still running.".into()))
}

/// Does what an editor does first: initialises a session and lists the tools.
pub(super) async fn endpoint(control: &ControlClient, paths: &Paths) -> Check {
    let (id, title) = ("endpoint", "Endpoint");
    let remedy = "Run `evermoor restart --gateway`, then `evermoor logs`.";
    match timeout(REPLY_TIMEOUT, list(control, "/mcp", paths)).await {
        Ok(Ok((tools, took))) => {
            let detail = format!("Editors see {tools} tools. Answered in {} ms.", took.as_millis());
            Check::good(id, title, detail)
        }
        Ok(Err(error)) => Check::bad(id, title, format!("Editors get an error: {error}"), remedy),
        Err(_) => Check::bad(id, title, "Editors get no answer.", remedy),
    }
}

async fn list(
    control: &ControlClient,
    path: &str,
    paths: &Paths,
) -> Result<(usize, Duration), evermoor_client::mcp::SessionError> {
    let began = Instant::now();
    let mut session = Session::open(&control.runtime().origin, path, paths).await?;
    let listed = session.ask(method::TOOLS_LIST, None).await?;
    let tools = listed.member("tools").and_then(|tools| tools.elements()).unwrap_or_default();
    Ok((tools.len(), began.elapsed()))
}

/// Lists the tools of every upstream that reports no problem, all at once.
pub(super) async fn ask_each(control: &ControlClient, paths: &Paths, checks: &mut [Check]) {
    let well = checks.iter_mut().filter(|check| check.state == CheckState::Good);
    let asked = well.filter_map(|check| {
        let name = check.id.strip_prefix("upstream.")?.to_owned();
        Some(async move {
            let path = format!("/mcp/{name}");
            match timeout(REPLY_TIMEOUT, list(control, &path, paths)).await {
                Ok(Ok((_, took))) => {
                    let detail = check.detail.trim_end_matches('.').to_owned();
                    check.detail = format!("{detail}, answered in {} ms.", took.as_millis());
                }
                Ok(Err(error)) => {
                    *check = failing(check, &format!("Editors get an error: {error}"))
                }
                Err(_) => *check = failing(check, "Connected, but not answering."),
            }
        })
    });
    futures_util::future::join_all(asked).await;
}

fn failing(check: &Check, detail: &str) -> Check {
    let remedy = format!("Run `evermoor restart {}`.", check.title);
    let remedy = check
        .id
        .strip_prefix("upstream.")
        .map_or(remedy, |name| format!("Run `evermoor restart {name}`."));
    Check::bad(check.id.clone(), check.title.clone(), detail, remedy).fixable()
}

/// Whether the `evermoor` on the PATH is this one.
pub(super) fn program() -> Check {
    let (id, title) = ("program", "Program");
    let Ok(this) = std::env::current_exe() else {
        return Check::skipped(id, title, "Evermoor cannot find its own program.");
    };
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("evermoor{}", std::env::consts::EXE_SUFFIX);
    let found = std::env::split_paths(&folders).map(|folder| folder.join(&name));
    check_program(&this, found.into_iter().find(|program| program.is_file()))
}

fn check_program(this: &Path, found: Option<PathBuf>) -> Check {
    let (id, title) = ("program", "Program");
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match found {
        None => {
            let detail = format!("`evermoor` is not on the PATH; this is {}.", this.display());
            Check::skipped(id, title, detail)
        }
        Some(found) if real(&found) == real(this) => {
            Check::good(id, title, format!("`evermoor` is {}.", found.display()))
        }
        Some(found) => {
            let detail = format!("The PATH has another `evermoor`: {}.", found.display());
            Check::bad(id, title, detail, "Remove the older one, or put this one first.")
        }
    }
}

/// Whether the tray of this instance is running.
pub(super) fn tray(instance: &Instance) -> Check {
    let (id, title) = ("tray", "Tray");
    match instance.tray() {
        Some(tray) => Check::good(id, title, format!("Running (process {}).", tray.pid)),
        None => Check::skipped(id, title, "Not running. The gateway does not need it."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_of_the_same_name_is_reported() {
        let folder = std::env::temp_dir();
        let this = std::env::current_exe().unwrap();
        assert!(!check_program(&this, Some(this.clone())).is_bad());
        assert!(check_program(&this, Some(folder)).is_bad());
        assert!(!check_program(&this, None).is_bad());
    }
}
