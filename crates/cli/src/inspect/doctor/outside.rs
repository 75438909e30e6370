//! What only somebody outside the gateway can see: whether it is there and of our version, whether an
//! editor could use it, and what else of Evermoor is on the machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use evermoor_client::Control;
use evermoor_client::launch::Launcher;
use evermoor_client::mcp::Session;
use evermoor_core::api::{Check, CheckState};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::lifecycle::version::is_older;
use evermoor_core::protocol::mcp::method;
use evermoor_gateway::VERSION;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::info;

/// How long an editor would wait before it gets nervous.
const PATIENCE: Duration = Duration::from_millis(1_500);
const TAKEOVER_LIMIT: Duration = Duration::from_secs(30);

pub(super) fn no_gateway() -> Check {
    let remedy = "Run `evermoor start`.";
    Check::bad("gateway", "Gateway", "Evermoor is not running.", remedy).fixable()
}

pub(super) fn mute(control: &Control) -> Check {
    let detail = format!("It runs (process {}) and does not answer.", control.runtime().pid);
    let remedy = "Run `evermoor restart --gateway`, then `evermoor logs`.";
    Check::bad("gateway", "Gateway", detail, remedy)
}

pub(super) fn no_program() -> Failure {
    Failure::new(Code::Internal, "This program cannot find itself.", "Install Evermoor again.")
}

pub(super) fn not_here() -> Failure {
    let what = "That needs a gateway that runs.";
    Failure::new(Code::NotRunning, what, "Run `evermoor start`.")
}

/// Whether the gateway and this program are of one version.
pub(super) fn version(control: &Control) -> Check {
    let (id, title, running) = ("version", "Version", &control.runtime().version);
    if running == VERSION {
        return Check::good(id, title, format!("Gateway and command line are both {VERSION}."));
    }
    let detail = format!("The gateway is {running}, and this program is {VERSION}.");
    match is_older(running, VERSION) {
        true => {
            let remedy = "Run `evermoor serve --takeover`: no call is lost.";
            Check::bad(id, title, detail, remedy).fixable()
        }
        false => Check::bad(id, title, detail, "Install the newer version everywhere."),
    }
}

/// A newer gateway takes the place of an older one.
pub(super) async fn replace(launcher: &Launcher, paths: &Paths) -> Result<String, Failure> {
    let stuck = |what: String| Failure::new(Code::Internal, what, "Run `evermoor logs`.");
    launcher.take_over().map_err(|error| stuck(format!("It could not be started: {error}.")))?;
    let deadline = Instant::now() + TAKEOVER_LIMIT;
    while Instant::now() < deadline {
        let now = Control::find(paths).map(|control| control.runtime().version.clone());
        if now.as_deref() == Some(VERSION) {
            return Ok(format!("A gateway of version {VERSION} has taken over."));
        }
        sleep(Duration::from_millis(20)).await;
    }
    Err(stuck("The older gateway is still there.".into()))
}

/// Does what an editor does first: shakes hands and asks for the tools.
pub(super) async fn endpoint(control: &Control, paths: &Paths) -> Check {
    let (id, title) = ("endpoint", "Endpoint");
    let remedy = "Run `evermoor logs`, and `evermoor restart --gateway`.";
    match timeout(PATIENCE, list(control, "/mcp", paths)).await {
        Ok(Ok((tools, took))) => {
            let detail =
                format!("An editor is shown {tools} tools, after {} ms.", took.as_millis());
            Check::good(id, title, detail)
        }
        Ok(Err(error)) => Check::bad(id, title, format!("An editor is refused: {error}"), remedy),
        Err(_) => Check::bad(id, title, "An editor gets no answer.", remedy),
    }
}

async fn list(
    control: &Control,
    path: &str,
    paths: &Paths,
) -> Result<(usize, Duration), evermoor_client::mcp::SessionError> {
    let began = Instant::now();
    let mut session = Session::open(&control.runtime().origin, path, paths).await?;
    let listed = session.ask(method::TOOLS_LIST, None).await?;
    let tools = listed.member("tools").and_then(|tools| tools.elements()).unwrap_or_default();
    Ok((tools.len(), began.elapsed()))
}

/// Asks every upstream that is said to be well for its tools, all at once.
pub(super) async fn ask_each(control: &Control, paths: &Paths, checks: &mut [Check]) {
    let well = checks.iter_mut().filter(|check| check.state == CheckState::Good);
    let asked = well.filter_map(|check| {
        let name = check.id.strip_prefix("upstream.")?.to_owned();
        Some(async move {
            let path = format!("/mcp/{name}");
            match timeout(PATIENCE, list(control, &path, paths)).await {
                Ok(Ok((_, took))) => {
                    let said = check.detail.trim_end_matches('.').to_owned();
                    check.detail = format!("{said}, answered in {} ms.", took.as_millis());
                }
                Ok(Err(error)) => {
                    *check = failing(check, &format!("It refuses an editor: {error}"))
                }
                Err(_) => *check = failing(check, "It is connected, and does not answer."),
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

/// Whether the `evermoor` that editors and shells find is this one.
pub(super) fn program() -> Check {
    let (id, title) = ("program", "Program");
    let Ok(this) = std::env::current_exe() else {
        return Check::skipped(id, title, "This program cannot find itself.");
    };
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("evermoor{}", std::env::consts::EXE_SUFFIX);
    let found = std::env::split_paths(&folders).map(|folder| folder.join(&name));
    judge(&this, found.into_iter().find(|program| program.is_file()))
}

fn judge(this: &Path, found: Option<PathBuf>) -> Check {
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
            let detail = format!("`evermoor` on the PATH is {}, another one.", found.display());
            Check::bad(id, title, detail, "Remove the older one, or put this one first.")
        }
    }
}

/// Whether the tray runs.
pub(super) async fn tray() -> Check {
    let (id, title) = ("tray", "Tray");
    let looking = info::find_by_name(|name| name.starts_with("evermoor-tray"));
    match timeout(PATIENCE, looking).await {
        Ok(found) => match found.first() {
            Some(tray) => Check::good(id, title, format!("It runs (process {}).", tray.pid)),
            None => Check::skipped(id, title, "It does not run. The gateway does not need it."),
        },
        Err(_) => Check::skipped(id, title, "The system does not say whether it runs."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_of_the_same_name_is_told() {
        let folder = std::env::temp_dir();
        let this = std::env::current_exe().unwrap();
        assert!(!judge(&this, Some(this.clone())).is_bad());
        assert!(judge(&this, Some(folder)).is_bad());
        assert!(!judge(&this, None).is_bad());
    }
}
