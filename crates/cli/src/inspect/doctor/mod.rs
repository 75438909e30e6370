//! `evermoor doctor`: everything that ever goes wrong, looked at from outside and from inside.
//!
//! A gateway that runs looks itself; what only somebody outside can see is added here. Where none
//! runs, the same looks are taken from here.

mod editors;
mod outside;
mod show;

use std::time::Duration;

use tokio::time::{Instant, timeout};

use evermoor_client::Control;
use evermoor_core::api::Check;
use evermoor_core::failure::Failure;
use evermoor_gateway::server::doctor;

use crate::exit::Exit;
use crate::gateway::connect::launcher;
use crate::gateway::serve::Place;
use crate::inspect::status::run_async;
use crate::terminal::Progress;

/// How long a gateway may look at itself.
const PATIENCE: Duration = Duration::from_millis(1_800);

/// Something that was put right, or could not be.
pub(crate) struct Repair {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) done: Result<String, Failure>,
}

pub(crate) fn run(place: &Place, fix: bool) -> Exit {
    let progress = Progress::show("Looking at everything");
    let looked = run_async(async {
        let began = Instant::now();
        let mut checks = look(place).await;
        let mut repairs = Vec::new();
        if fix {
            for check in checks.iter().filter(|check| check.is_bad() && check.fixable) {
                let done = repair(place, check).await;
                repairs.push(Repair { id: check.id.clone(), title: check.title.clone(), done });
            }
            if !repairs.is_empty() {
                checks = look(place).await;
            }
        }
        (checks, repairs, began.elapsed())
    });
    drop(progress);
    let (checks, repairs, took) = match looked {
        Ok(looked) => looked,
        Err(error) => return Exit::failure(&error),
    };
    show::all(&checks, &repairs, took);
    let runs = Control::find(&place.paths).is_some();
    match (checks.iter().any(Check::is_bad), runs) {
        (false, _) => Exit::Ok,
        (true, true) => Exit::Degraded,
        (true, false) => Exit::NotRunning,
    }
}

/// Everything that can be seen.
pub(crate) async fn look(place: &Place) -> Vec<Check> {
    let Some(control) = Control::find(&place.paths) else {
        let mut checks = vec![outside::no_gateway()];
        let (machine, tray, editors) =
            tokio::join!(doctor::machine(&place.paths), outside::tray(), editors::all(place));
        checks.extend(machine);
        checks.extend([outside::program(), tray]);
        checks.extend(editors);
        return checks;
    };
    let (inside, endpoint, tray, editors) = tokio::join!(
        timeout(PATIENCE, control.doctor()),
        outside::endpoint(&control, &place.paths),
        outside::tray(),
        editors::all(place),
    );
    let mut checks = match inside {
        Ok(Ok(checks)) => checks,
        // It does not answer, or not in words that we know: then we look ourselves.
        Ok(Err(_)) | Err(_) => {
            let mut checks = vec![outside::mute(&control)];
            checks.extend(doctor::machine(&place.paths).await);
            checks
        }
    };
    let at = checks.len().min(1);
    checks.splice(at..at, [outside::version(&control), endpoint]);
    outside::ask_each(&control, &place.paths, &mut checks).await;
    let at = checks.iter().position(|check| check.id.starts_with("upstream."));
    let at = at.unwrap_or(checks.len());
    checks.splice(at..at, [outside::program(), tray]);
    checks.extend(editors);
    checks
}

/// Puts one thing right: the gateway does it, or we do where it cannot.
async fn repair(place: &Place, check: &Check) -> Result<String, Failure> {
    match check.id.as_str() {
        "gateway" => {
            let launcher = launcher(place.clone()).map_err(|_| outside::no_program())?;
            let control = launcher.attach().await?;
            Ok(format!("The gateway was started; it serves at {}/mcp.", control.runtime().origin))
        }
        "version" => {
            let launcher = launcher(place.clone()).map_err(|_| outside::no_program())?;
            outside::replace(&launcher, &place.paths).await
        }
        id => match Control::find(&place.paths) {
            Some(control) => Ok(control.fix(id).await?),
            None => {
                doctor::fix_machine(&place.paths, id).unwrap_or_else(|| Err(outside::not_here()))
            }
        },
    }
}
