//! The steps of `evermoor uninstall`, ordered so that nothing restores what an earlier step removed.

use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use evermoor_client::ControlClient;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::keychain::{Keychain, KeychainError, Prompting};
use evermoor_platform::startup::login;
use evermoor_platform::startup::service;
use evermoor_platform::startup::service::ServiceState;

use super::{StepOutcome, editors};
use crate::gateway::start_stop::STOP_TIMEOUT;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::terminal::Progress;

pub(super) fn all(instance: &Instance, keep_data: bool) -> Vec<(&'static str, StepOutcome)> {
    let progress = Progress::show("Uninstalling");
    let mut done: Vec<(&'static str, StepOutcome)> =
        editors::undo(instance).into_iter().map(|done| ("editors", done)).collect();
    done.extend([
        ("login", login(instance.home.as_deref())),
        ("service", service(instance)),
        ("gateway", gateway(instance)),
    ]);
    if !keep_data {
        done.push(("secrets", secrets(instance.home.as_deref())));
    }
    // If a step failed, keep the data: undoing it later needs the journal.
    let undone = !done.iter().any(|(_, done)| matches!(done, StepOutcome::Failed(_)));
    if !keep_data && undone {
        done.push(("data", data(instance)));
    }
    drop(progress);
    done
}

fn failed(what: String) -> StepOutcome {
    StepOutcome::Failed(Failure::new(Code::Internal, what, "Try again, or undo it yourself."))
}

/// Removes the secrets. An instance with its own `--home` leaves them to the default one.
fn secrets(home: Option<&Path>) -> StepOutcome {
    if home.is_some() {
        return StepOutcome::Nothing;
    }
    let keychain = Keychain::system_default(Prompting::Allowed);
    let removed = run_async(async {
        let names = match keychain.list().await {
            Ok(names) => names,
            Err(KeychainError::Unavailable(_)) => Vec::new(),
            Err(error) => return Err(error),
        };
        for name in &names {
            keychain.delete(name).await?;
        }
        Ok(names.len())
    });
    match removed {
        Ok(Ok(0)) => StepOutcome::Nothing,
        Ok(Ok(1)) => StepOutcome::Undone("Removed 1 secret from the keychain.".into()),
        Ok(Ok(many)) => StepOutcome::Undone(format!("Removed {many} secrets from the keychain.")),
        Ok(Err(error)) => failed(format!("The secrets could not be removed: {error}.")),
        Err(error) => failed(format!("The secrets could not be removed: {error}.")),
    }
}

/// Removes the tray's login entry.
fn login(home: Option<&Path>) -> StepOutcome {
    // An instance with its own `--home` has no tray.
    if home.is_some() {
        return StepOutcome::Nothing;
    }
    match run_async(login::remove()).flatten() {
        Ok(None) => StepOutcome::Nothing,
        Ok(Some(location)) => {
            StepOutcome::Undone(format!("The tray no longer starts at login ({location})."))
        }
        Err(error) => failed(format!("The login entry could not be removed: {error}.")),
    }
}

fn service(instance: &Instance) -> StepOutcome {
    let undone = run_async(async {
        let ours = crate::gateway::service::described(instance)?;
        if service::state().await == ServiceState::NotInstalled || !is_of(&ours) {
            return Ok(None);
        }
        service::uninstall().await.map(Some)
    });
    match undone.flatten() {
        Ok(None) => StepOutcome::Nothing,
        Ok(Some(service::ServiceResult::Well | service::ServiceResult::NoManager)) => {
            StepOutcome::Undone("Removed the service.".into())
        }
        Ok(Some(service::ServiceResult::Refused(why))) => {
            failed(format!("The system's service manager reported an error: {why}."))
        }
        Err(error) => failed(format!("The service could not be removed: {error}.")),
    }
}

/// Whether the service belongs to this instance.
fn is_of(ours: &service::Service) -> bool {
    let text = service::file().and_then(|file| std::fs::read_to_string(file).ok());
    text.is_none_or(|text| match &ours.home {
        Some(home) => text.contains(&*home.to_string_lossy()),
        None => !text.contains("--home"),
    })
}

fn gateway(instance: &Instance) -> StepOutcome {
    let Some(control) = ControlClient::find(&instance.paths) else { return StepOutcome::Nothing };
    let pid = control.runtime().pid;
    let stopped = run_async(async {
        control.stop().await?;
        let deadline = Instant::now() + STOP_TIMEOUT;
        while Instant::now() < deadline {
            match ControlClient::find(&instance.paths) {
                None => return Ok(()),
                Some(now) if now.runtime().pid != pid => {
                    let what = "Evermoor was started again.";
                    return Err(Failure::new(
                        Code::Internal,
                        what,
                        "Quit the tray, then try again.",
                    ));
                }
                Some(_) => sleep(Duration::from_millis(20)).await,
            }
        }
        let what = format!("The gateway (process {pid}) is still running.");
        Err(Failure::new(Code::Timeout, what, "End that process, then try again."))
    });
    match stopped {
        Ok(Ok(())) => StepOutcome::Undone("Stopped the gateway.".into()),
        Ok(Err(failure)) => StepOutcome::Failed(failure),
        Err(error) => failed(format!("The gateway could not be stopped: {error}.")),
    }
}

/// Removes Evermoor's own files, and no folder that contains anything else.
fn data(instance: &Instance) -> StepOutcome {
    if ControlClient::find(&instance.paths).is_some() {
        return failed("The data was kept, because a gateway is still running.".into());
    }
    let paths = &instance.paths;
    let mut removed = Vec::new();
    for folder in [&paths.runtime, &paths.logs, &paths.data] {
        match std::fs::remove_dir_all(folder) {
            Ok(()) => removed.push(folder.display().to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return failed(format!("{} could not be removed: {error}.", folder.display()));
            }
        }
    }
    if let Err(error) = configuration(&paths.config, &mut removed) {
        return failed(format!("{} could not be removed: {error}.", paths.config.display()));
    }
    match removed.is_empty() {
        true => StepOutcome::Nothing,
        false => StepOutcome::Undone(format!("Removed {}.", removed.join(", "))),
    }
}

/// Removes the file, its backups and the user's presets, then the folder if it is empty.
fn configuration(path: &Path, removed: &mut Vec<String>) -> std::io::Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match name.as_str() {
            "presets" => std::fs::remove_dir_all(entry.path())?,
            name if name.starts_with("config.toml") => std::fs::remove_file(entry.path())?,
            _ => continue,
        }
        removed.push(entry.path().display().to_string());
    }
    // This fails if the folder contains anything else.
    let _ = std::fs::remove_dir(folder);
    Ok(())
}
