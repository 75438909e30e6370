//! A gateway that the system itself starts at login and, where it can, keeps running.
//!
//! launchd, systemd and the Task Scheduler of Windows read a file that says how. All are told that a
//! gateway that ends well wants to be left alone, and that one that fails is to be started again.
//! What is written and what is run are pure functions of the system.

pub mod unit;

use std::path::PathBuf;
use std::time::Duration;

use crate::process::run;
use crate::process::run::Said;
use crate::system::System;
use unit::{Act, Step};

/// Which gateway is to be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    pub program: PathBuf,
    /// What `--home` was given, if it was.
    pub home: Option<PathBuf>,
    /// Where what it prints goes, where the system does not keep that itself.
    pub output: PathBuf,
    /// Whose gateway it is, where the system has to be told.
    pub account: String,
}

/// How the service stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    NotInstalled,
    /// It is installed, and nobody is there to run it.
    NoManager,
    Installed {
        running: bool,
    },
}

/// What became of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    Well,
    /// Nobody is there to run it: the file is written or removed, and that is all.
    NoManager,
    /// The manager refused, in its own words.
    Refused(String),
}

const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(800);

/// The file that the manager reads, where it reads one.
pub fn file() -> Option<PathBuf> {
    unit::path(System::HERE, |name| std::env::var_os(name))
}

/// Writes the file and has the manager start it.
pub async fn install(service: &Service) -> std::io::Result<Done> {
    if let Some(path) = file() {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(&path, unit::bytes(System::HERE, service))?;
    }
    Ok(order(Act::Install).await)
}

/// Has the manager end it and forget it, and removes the file.
pub async fn uninstall() -> std::io::Result<Done> {
    let done = order(Act::Uninstall).await;
    match file() {
        Some(path) if path.exists() => std::fs::remove_file(path)?,
        Some(_) | None => {}
    }
    Ok(done)
}

/// Has the manager end it and start it again.
pub async fn restart() -> Done {
    order(Act::Restart).await
}

/// How it stands now.
pub async fn state() -> State {
    let file = file();
    if file.as_ref().is_some_and(|file| !file.exists()) {
        return State::NotInstalled;
    }
    let mut steps = unit::steps(System::HERE, Act::Ask, user(), file.as_deref());
    let Some(step) = steps.pop() else { return State::NotInstalled };
    let said = ask(&step, GLANCE).await;
    match (System::HERE, said) {
        // Whether it runs is told in the language of the person.
        (System::Windows, Some(said)) if said.good => State::Installed { running: true },
        (System::Windows, _) => State::NotInstalled,
        (_, None) => State::NoManager,
        (_, Some(said)) if no_manager(&said.complaint) => State::NoManager,
        (_, Some(said)) => State::Installed { running: said.good },
    }
}

async fn order(act: Act) -> Done {
    let file = file();
    for step in unit::steps(System::HERE, act, user(), file.as_deref()) {
        match ask(&step, PATIENCE).await {
            None => return Done::NoManager,
            Some(said) if said.good || step.may_fail => {}
            Some(said) if no_manager(&said.complaint) => return Done::NoManager,
            Some(said) => return Done::Refused(said.complaint),
        }
    }
    Done::Well
}

/// What systemd and launchd say where no session of theirs runs.
fn no_manager(complaint: &str) -> bool {
    let signs = [
        "Failed to connect",
        "not been booted with systemd",
        "No medium found",
        "Could not find domain",
    ];
    signs.iter().any(|sign| complaint.contains(sign))
}

async fn ask(step: &Step, within: Duration) -> Option<Said> {
    run::said(&step.program, &step.args, within).await
}

/// Who runs this program, as Windows names accounts; the other systems need not be told.
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
