//! `evermoor service`: installs the gateway as a service that starts when you log in.

use evermoor_gateway::config::file;
use evermoor_gateway::editors::setup::check_location;
use evermoor_platform::startup::service;
use evermoor_platform::startup::service::{Service, ServiceResult, ServiceState, unit};
use evermoor_platform::system::System;
use serde_json::json;

use crate::args::ServiceAction;
use crate::exit::Exit;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::terminal::{self, Progress};

pub(crate) fn run(instance: &Instance, action: ServiceAction) -> Exit {
    let service = match described(instance) {
        Ok(service) => service,
        Err(error) => return Exit::failure(&error),
    };
    match action {
        ServiceAction::Install { dry_run: true } => preview(&service),
        ServiceAction::Install { dry_run: false } => {
            if let Err(failure) = check_location() {
                return Exit::failed(&failure);
            }
            let progress = Progress::show("Installing the service");
            let done = run_async(service::install(&service)).flatten();
            drop(progress);
            conclude(done, "Evermoor is running and starts when you log in.", true)
        }
        ServiceAction::Uninstall => {
            let progress = Progress::show("Removing the service");
            let done = run_async(service::uninstall()).flatten();
            drop(progress);
            conclude(done, "Evermoor no longer starts when you log in.", false)
        }
        ServiceAction::Status => status(),
    }
}

/// A service that runs the gateway with this program.
pub(crate) fn described(instance: &Instance) -> std::io::Result<Service> {
    // A port that is chosen at each start cannot be opened beforehand.
    let listen =
        file::read(&instance.paths.config).ok().flatten().unwrap_or_default().gateway.listen;
    Ok(Service {
        address: Some(listen).filter(|listen| listen.port() != 0),
        program: std::env::current_exe()?,
        home: instance.home.clone().map(std::path::absolute).transpose()?,
        output: instance.paths.output_file(),
        account: service::account(),
    })
}

fn preview(service: &Service) -> Exit {
    let (file, text) = (service::file(), unit::text(System::HERE, service));
    let steps = unit::steps(System::HERE, unit::ManagerAction::Install, 0, file.as_deref());
    let commands: Vec<String> =
        steps.iter().map(|step| format!("{} {}", step.program, step.args.join(" "))).collect();
    if terminal::options().json {
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
        Err(error) => {
            return Exit::failure(&format_args!("The service could not be changed: {error}."));
        }
    };
    let file = service::file();
    match &done {
        ServiceResult::Refused(why) => {
            return Exit::failure(&format_args!(
                "The system's service manager reported an error: {why}. Nothing else was changed."
            ));
        }
        ServiceResult::Well | ServiceResult::NoManager => {}
    }
    if terminal::options().json {
        let started = installed && done == ServiceResult::Well;
        terminal::print_json(json!({ "installed": installed, "started": started, "file": file }));
        return Exit::Ok;
    }
    if done == ServiceResult::Well {
        terminal::print_message(&well);
        return Exit::Ok;
    }
    let file = file.map(|file| file.display().to_string()).unwrap_or_default();
    match installed {
        true => {
            terminal::print_message(&format_args!("{file} is written."));
            terminal::print_note(
                &"This session has no service manager, so the service was not started.",
            );
        }
        false => terminal::print_message(&format_args!("{file} is removed.")),
    }
    Exit::Ok
}

fn status() -> Exit {
    let state = match run_async(service::state()) {
        Ok(state) => state,
        Err(error) => return Exit::failure(&error),
    };
    let (name, sentence) = match state {
        ServiceState::NotInstalled => ("notInstalled", "The service is not installed."),
        ServiceState::NoManager => {
            ("noManager", "The service is installed, but this session has no service manager.")
        }
        ServiceState::Installed { running: true } => {
            ("running", "The service is installed and running.")
        }
        ServiceState::Installed { running: false } => {
            ("stopped", "The service is installed but not running. Run `evermoor logs` to see why.")
        }
    };
    if terminal::options().json {
        terminal::print_json(json!({ "state": name, "file": service::file() }));
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
