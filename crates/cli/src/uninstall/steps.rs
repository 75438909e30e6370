//! What is undone, in the order in which nothing is put back by what is still there.

use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use evermoor_client::Control;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::keychain::{Keychain, KeychainError, Prompting};
use evermoor_platform::startup::login;
use evermoor_platform::startup::service;
use evermoor_platform::startup::service::ServiceState;

use super::{Done, editors};
use crate::gateway::serve::Place;
use crate::inspect::status::run_async;
use crate::terminal::Progress;

const END_LIMIT: Duration = Duration::from_secs(20);

pub(super) fn all(place: &Place, keep_data: bool) -> Vec<(&'static str, Done)> {
    let progress = Progress::show("Undoing");
    let mut done: Vec<(&'static str, Done)> =
        editors::undo(place).into_iter().map(|done| ("editors", done)).collect();
    done.extend([
        ("login", login(place.home.as_deref())),
        ("service", service(place)),
        ("gateway", gateway(place)),
    ]);
    if !keep_data {
        done.push(("secrets", secrets(place.home.as_deref())));
    }
    // What could not be undone needs the record of it.
    let undone = !done.iter().any(|(_, done)| matches!(done, Done::Failed(_)));
    if !keep_data && undone {
        done.push(("data", data(place)));
    }
    drop(progress);
    done
}

fn failed(what: String) -> Done {
    Done::Failed(Failure::new(Code::Internal, what, "Undo it by hand, or try again."))
}

/// What is in the keychain. A second Evermoor, in a folder of its own, leaves it to the first.
fn secrets(home: Option<&Path>) -> Done {
    if home.is_some() {
        return Done::Nothing;
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
        Ok(Ok(0)) => Done::Nothing,
        Ok(Ok(1)) => Done::Undone("1 secret is removed from the keychain.".into()),
        Ok(Ok(many)) => Done::Undone(format!("{many} secrets are removed from the keychain.")),
        Ok(Err(error)) => failed(format!("Secrets stay in the keychain: {error}.")),
        Err(error) => failed(format!("Secrets stay in the keychain: {error}.")),
    }
}

/// The tray is started at login no longer.
fn login(home: Option<&Path>) -> Done {
    // A second Evermoor, in a folder of its own, has no tray.
    if home.is_some() {
        return Done::Nothing;
    }
    match run_async(login::remove()).flatten() {
        Ok(None) => Done::Nothing,
        Ok(Some(place)) => Done::Undone(format!("The tray starts at login no longer ({place}).")),
        Err(error) => failed(format!("What starts the tray at login stays: {error}.")),
    }
}

fn service(place: &Place) -> Done {
    let undone = run_async(async {
        let ours = crate::gateway::service::described(place)?;
        if service::state().await == ServiceState::NotInstalled || !is_of(&ours) {
            return Ok(None);
        }
        service::uninstall().await.map(Some)
    });
    match undone.flatten() {
        Ok(None) => Done::Nothing,
        Ok(Some(service::ServiceResult::Well | service::ServiceResult::NoManager)) => {
            Done::Undone("The system starts Evermoor no longer.".into())
        }
        Ok(Some(service::ServiceResult::Refused(why))) => {
            failed(format!("The system's service manager refused: {why}."))
        }
        Err(error) => failed(format!("The service could not be removed: {error}.")),
    }
}

/// Whether the service is of this Evermoor, and not of one in another folder.
fn is_of(ours: &service::Service) -> bool {
    let text = service::file().and_then(|file| std::fs::read_to_string(file).ok());
    text.is_none_or(|text| match &ours.home {
        Some(home) => text.contains(&*home.to_string_lossy()),
        None => !text.contains("--home"),
    })
}

fn gateway(place: &Place) -> Done {
    let Some(control) = Control::find(&place.paths) else { return Done::Nothing };
    let pid = control.runtime().pid;
    let stopped = run_async(async {
        control.stop().await?;
        let deadline = Instant::now() + END_LIMIT;
        while Instant::now() < deadline {
            match Control::find(&place.paths) {
                None => return Ok(()),
                Some(now) if now.runtime().pid != pid => {
                    let what = "Somebody has started Evermoor again.";
                    return Err(Failure::new(
                        Code::Internal,
                        what,
                        "Quit the tray, then try again.",
                    ));
                }
                Some(_) => sleep(Duration::from_millis(20)).await,
            }
        }
        let what = format!("The gateway (process {pid}) is still there.");
        Err(Failure::new(Code::Timeout, what, "End that process, then try again."))
    });
    match stopped {
        Ok(Ok(())) => Done::Undone("The gateway is stopped.".into()),
        Ok(Err(failure)) => Done::Failed(failure),
        Err(error) => failed(format!("The gateway could not be stopped: {error}.")),
    }
}

/// Removes what is Evermoor's own, and no folder that holds anything else.
fn data(place: &Place) -> Done {
    if Control::find(&place.paths).is_some() {
        return failed("The data was left, because a gateway still runs.".into());
    }
    let paths = &place.paths;
    let mut removed = Vec::new();
    for folder in [&paths.runtime, &paths.logs, &paths.data] {
        match std::fs::remove_dir_all(folder) {
            Ok(()) => removed.push(folder.display().to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return failed(format!("{} stays: {error}.", folder.display())),
        }
    }
    if let Err(error) = configuration(&paths.config, &mut removed) {
        return failed(format!("{} stays: {error}.", paths.config.display()));
    }
    match removed.is_empty() {
        true => Done::Nothing,
        false => Done::Undone(format!("Removed {}.", removed.join(", "))),
    }
}

/// The file, its older versions and the person's presets; then the folder, if it is empty.
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
    // Something of somebody else's may be in it.
    let _ = std::fs::remove_dir(folder);
    Ok(())
}
