//! `evermoor doctor`: checks for common problems.
//!
//! A running gateway runs its own checks. [`without_gateway`] and [`editors`] add what only another
//! process can see. If no gateway is running, this command runs the gateway's machine checks itself.
//! [`show`] prints the results.

mod editors;
mod show;
mod without_gateway;

use std::time::Duration;

use tokio::time::{Instant, timeout};

use evermoor_client::ControlClient;
use evermoor_core::api::Check;
use evermoor_core::failure::Failure;
use evermoor_gateway::server::doctor;

use crate::exit::Exit;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::terminal::Progress;

/// How long the gateway's own checks may take.
const GATEWAY_TIMEOUT: Duration = Duration::from_millis(1_800);

/// An attempt to fix a problem.
pub(crate) struct Repair {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) done: Result<String, Failure>,
}

pub(crate) fn run(instance: &Instance, fix: bool) -> Exit {
    let progress = Progress::show("Checking");
    let checked = run_async(async {
        let began = Instant::now();
        let mut checks = run_checks(instance).await;
        let mut repairs = Vec::new();
        if fix {
            for check in checks.iter().filter(|check| check.is_bad() && check.fixable) {
                let done = repair(instance, check).await;
                repairs.push(Repair { id: check.id.clone(), title: check.title.clone(), done });
            }
            if !repairs.is_empty() {
                checks = run_checks(instance).await;
            }
        }
        (checks, repairs, began.elapsed())
    });
    drop(progress);
    let (checks, repairs, took) = match checked {
        Ok(checked) => checked,
        Err(error) => return Exit::failure(&error),
    };
    show::all(&checks, &repairs, took);
    let runs = ControlClient::find(&instance.paths).is_some();
    match (checks.iter().any(Check::is_bad), runs) {
        (false, _) => Exit::Ok,
        (true, true) => Exit::Degraded,
        (true, false) => Exit::NotRunning,
    }
}

/// Runs all checks.
pub(crate) async fn run_checks(instance: &Instance) -> Vec<Check> {
    let Some(control) = ControlClient::find(&instance.paths) else {
        let mut checks = vec![without_gateway::no_gateway()];
        let (machine, editors) =
            tokio::join!(doctor::machine(&instance.paths), editors::all(instance));
        checks.extend(machine);
        checks.extend([without_gateway::program(), without_gateway::tray(instance)]);
        checks.extend(editors);
        return checks;
    };
    let (inside, endpoint, editors) = tokio::join!(
        timeout(GATEWAY_TIMEOUT, control.doctor()),
        without_gateway::endpoint(&control, &instance.paths),
        editors::all(instance),
    );
    let mut checks = match inside {
        Ok(Ok(checks)) => checks,
        // The gateway does not answer, or not in a form we know, so we run the checks ourselves.
        Ok(Err(_)) | Err(_) => {
            let mut checks = vec![without_gateway::not_answering(&control)];
            checks.extend(doctor::machine(&instance.paths).await);
            checks
        }
    };
    let at = checks.len().min(1);
    checks.splice(at..at, [without_gateway::version(&control), endpoint]);
    without_gateway::ask_each(&control, &instance.paths, &mut checks).await;
    let at = checks.iter().position(|check| check.id.starts_with("upstream."));
    let at = at.unwrap_or(checks.len());
    let tray = without_gateway::tray(instance);
    checks.splice(at..at, [without_gateway::program(), tray]);
    checks.extend(editors);
    checks
}

/// Fixes one problem, through the gateway if possible.
async fn repair(instance: &Instance, check: &Check) -> Result<String, Failure> {
    match check.id.as_str() {
        "gateway" => {
            let launcher = instance.launcher().map_err(|_| without_gateway::no_program())?;
            let control = launcher.attach().await?;
            Ok(format!("Started the gateway at {}/mcp.", control.runtime().origin))
        }
        "version" => {
            let launcher = instance.launcher().map_err(|_| without_gateway::no_program())?;
            without_gateway::replace(&launcher, &instance.paths).await
        }
        id => match ControlClient::find(&instance.paths) {
            Some(control) => Ok(control.fix(id).await?),
            None => doctor::fix_machine(&instance.paths, id)
                .unwrap_or_else(|| Err(without_gateway::not_here())),
        },
    }
}
