//! `evermoor service`: a gateway that the system starts when you log in.

use evermoor_platform::startup::service;
use evermoor_platform::startup::service::{Service, ServiceResult, ServiceState, unit};
use evermoor_platform::system::System;
use serde_json::json;

use crate::args::ServiceAction;
use crate::exit::Exit;
use crate::gateway::serve::Place;
use crate::inspect::status::run_async;
use crate::terminal::{self, Progress};

pub(crate) fn run(place: &Place, action: ServiceAction) -> Exit {
    let service = match described(place) {
        Ok(service) => service,
        Err(error) => return Exit::failure(&error),
    };
    match action {
        ServiceAction::Install { dry_run: true } => preview(&service),
        ServiceAction::Install { dry_run: false } => {
            let progress = Progress::show("Installing the service");
            let done = run_async(service::install(&service)).flatten();
            drop(progress);
            conclude(done, "The system starts Evermoor when you log in, and it runs now.", true)
        }
        ServiceAction::Uninstall => {
            let progress = Progress::show("Removing the service");
            let done = run_async(service::uninstall()).flatten();
            drop(progress);
            conclude(done, "The system starts Evermoor no longer.", false)
        }
        ServiceAction::Status => status(),
    }
}

/// The gateway of this very program.
pub(crate) fn described(place: &Place) -> std::io::Result<Service> {
    Ok(Service {
        program: std::env::current_exe()?,
        home: place.home.clone().map(std::path::absolute).transpose()?,
        output: place.paths.output_file(),
        account: service::account(),
    })
}

fn preview(service: &Service) -> Exit {
    let (file, text) = (service::file(), unit::text(System::HERE, service));
    let steps = unit::steps(System::HERE, unit::ManagerAction::Install, 0, file.as_deref());
    let commands: Vec<String> =
        steps.iter().map(|step| format!("{} {}", step.program, step.args.join(" "))).collect();
    if terminal::manner().json {
        terminal::print_json(json!({ "file": file, "text": text, "commands": commands }));
        return Exit::Ok;
    }
    if let Some(file) = &file {
        terminal::print(&format_args!("# {}\n{text}", file.display()));
    }
    for command in commands {
        terminal::print(&format_args!("$ {command}"));
    }
    Exit::Ok
}

fn conclude(done: std::io::Result<ServiceResult>, well: &str, installed: bool) -> Exit {
    let done = match done {
        Ok(done) => done,
        Err(error) => return Exit::failure(&format_args!("It could not be done: {error}.")),
    };
    let file = service::file();
    match &done {
        ServiceResult::Refused(why) => {
            return Exit::failure(&format_args!(
                "The system's service manager refused: {why}. Nothing else was changed."
            ));
        }
        ServiceResult::Well | ServiceResult::NoManager => {}
    }
    if terminal::manner().json {
        let started = installed && done == ServiceResult::Well;
        terminal::print_json(json!({ "installed": installed, "started": started, "file": file }));
        return Exit::Ok;
    }
    if done == ServiceResult::Well {
        terminal::say(&well);
        return Exit::Ok;
    }
    let file = file.map(|file| file.display().to_string()).unwrap_or_default();
    match installed {
        true => {
            terminal::say(&format_args!("{file} is written."));
            terminal::remark(
                &"There is no service manager in this session, so nothing was started.",
            );
        }
        false => terminal::say(&format_args!("{file} is removed.")),
    }
    Exit::Ok
}

fn status() -> Exit {
    let state = match run_async(service::state()) {
        Ok(state) => state,
        Err(error) => return Exit::failure(&error),
    };
    let (word, sentence) = match state {
        ServiceState::NotInstalled => ("notInstalled", "The system does not start Evermoor."),
        ServiceState::NoManager => {
            ("noManager", "It is installed, and there is no service manager to run it.")
        }
        ServiceState::Installed { running: true } => ("running", "The system runs Evermoor."),
        ServiceState::Installed { running: false } => {
            ("stopped", "It is installed, and does not run. `evermoor logs` may say why.")
        }
    };
    if terminal::manner().json {
        terminal::print_json(json!({ "state": word, "file": service::file() }));
    } else {
        terminal::print(&sentence);
    }
    match state {
        ServiceState::Installed { running: true } => Exit::Ok,
        ServiceState::NotInstalled
        | ServiceState::NoManager
        | ServiceState::Installed { running: false } => Exit::NotRunning,
    }
}
