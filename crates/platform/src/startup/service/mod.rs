//! The gateway as a service that the system starts at login and keeps running.
//!
//! launchd, systemd and the Windows Task Scheduler read a file that describes the service. They
//! restart the gateway after a failure, but not after a normal exit. The file and the commands are
//! pure functions of the system, in [`unit`](mod@unit), and `verdict` says what the answers mean.
//! [`stored_listener`] is the socket that the service manager keeps open meanwhile.

pub mod stored_listener;
pub mod unit;
mod verdict;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::process::run;
use crate::process::run::CommandOutput;
use crate::system::System;
use unit::{ManagerAction, ManagerCommand};
use verdict::ManagerVerdict;

/// The gateway to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub program: PathBuf,
    /// The value of `--home`, if one was given.
    pub home: Option<PathBuf>,
    /// The file for its output, on systems that do not capture it.
    pub output: PathBuf,
    /// The account of the user, on systems that need it.
    pub account: String,
    /// The address to listen on, for a system that opens the socket itself.
    pub address: Option<SocketAddr>,
}

/// The state of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceState {
    NotInstalled,
    /// It is installed, but no service manager is running.
    NoManager,
    Installed {
        running: bool,
    },
}

/// The result of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceResult {
    Well,
    /// No service manager is running: only the file was written or removed.
    NoManager,
    /// The service manager failed, with its error message.
    Refused(String),
}

const ACTION_TIMEOUT: Duration = Duration::from_secs(10);
const QUERY_TIMEOUT: Duration = Duration::from_millis(800);
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// The file that describes the service.
pub fn file() -> Option<PathBuf> {
    unit::path(System::HERE, |name| std::env::var_os(name))
}

/// Writes the file and starts the service.
pub async fn install(service: &Service) -> std::io::Result<ServiceResult> {
    if let Some(path) = file() {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, unit::bytes(System::HERE, service))?;
    }
    Ok(perform(ManagerAction::Install).await)
}

/// Stops the service and removes it and its file.
pub async fn uninstall() -> std::io::Result<ServiceResult> {
    let done = perform(ManagerAction::Uninstall).await;
    match file() {
        Some(path) if path.exists() => std::fs::remove_file(path)?,
        Some(_) | None => {}
    }
    Ok(done)
}

/// Restarts the service.
pub async fn restart() -> ServiceResult {
    perform(ManagerAction::Restart).await
}

/// Stops what the service manager keeps for a gateway that the user stopped, until the next login.
pub async fn release() -> ServiceResult {
    perform(ManagerAction::Release).await
}

/// The current state.
pub async fn state() -> ServiceState {
    let file = file();
    if file.as_ref().is_some_and(|file| !file.exists()) {
        return ServiceState::NotInstalled;
    }
    let mut steps = unit::steps(System::HERE, ManagerAction::Query, user(), file.as_deref());
    let Some(step) = steps.pop() else { return ServiceState::NotInstalled };
    verdict::state(System::HERE, run_step(&step, QUERY_TIMEOUT).await.as_ref())
}

async fn perform(act: ManagerAction) -> ServiceResult {
    let file = file();
    for step in unit::steps(System::HERE, act, user(), file.as_deref()) {
        let began = Instant::now();
        loop {
            let answer = run_step(&step, ACTION_TIMEOUT).await;
            match verdict::judge(System::HERE, &step, answer.as_ref(), began.elapsed()) {
                ManagerVerdict::Done => break,
                ManagerVerdict::Retry => sleep(RETRY_INTERVAL).await,
                ManagerVerdict::NoManager => return ServiceResult::NoManager,
                ManagerVerdict::Refused(why) => return ServiceResult::Refused(why),
            }
        }
    }
    ServiceResult::Well
}

async fn run_step(step: &ManagerCommand, within: Duration) -> Option<CommandOutput> {
    run::output(&step.program, &step.args, within).await
}

/// The account of the user, on Windows; other systems do not need it.
pub fn account() -> String {
    let named = |name| std::env::var(name).unwrap_or_default();
    match System::HERE {
        System::Windows => format!(r"{}\{}", named("USERDOMAIN"), named("USERNAME")),
        System::MacOs | System::Linux => String::new(),
    }
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::getuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}
