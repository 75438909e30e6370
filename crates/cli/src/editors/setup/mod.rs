//! `evermoor setup`: connects the editors on this machine, previews the changes, or undoes them.
//!
//! [`args`] has the arguments, [`connect`] connects one editor, [`undo`] undoes it, [`report`]
//! prints the results, and [`access`] provides the gateway's address and the editors' tokens.

mod access;
mod args;
mod connect;
mod report;
mod undo;

use evermoor_core::api::SetupState;
use evermoor_core::failure::Failure;
use evermoor_gateway::config::file;
use evermoor_gateway::server::doctor;
use evermoor_setup::{EditorSpec, SetupScope, UserEditors, client, clients, did_you_mean};

use crate::exit::Exit;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::servers::lookup;
use crate::terminal;

pub(crate) use access::{EditorAccess, attached, found, revoke, short};
pub(crate) use args::SetupArgs;
pub(crate) use connect::{EditorOutcome, OutcomeKind};
pub(crate) use undo::everything as undo_everything;

pub(crate) fn run(instance: &Instance, args: &SetupArgs, json: bool) -> Exit {
    let Some(user_editors) = UserEditors::here(&instance.paths) else {
        return Exit::failure(&"There is no home folder, so no editor can be found. Set HOME.");
    };
    let access = match access::EditorAccess::find(instance) {
        Ok(access) => access,
        Err(failure) => return Exit::failure(&failure),
    };
    if let Err(failure) = check_upstreams(instance, &args.upstream) {
        return Exit::failed(&failure);
    }
    if args.undo && args.editors.is_empty() {
        return ended(&undo::everything(&user_editors, &instance.paths), args, json);
    }
    let chosen = match choose(&user_editors, &access, args, json) {
        Ok(chosen) => chosen,
        Err(exit) => return exit,
    };
    if args.undo {
        let scope = args.scope.map(SetupScope::from);
        let undone = chosen
            .into_iter()
            .flat_map(|client| undo::editor(&user_editors, &instance.paths, client, scope));
        return ended(&undone.collect::<Vec<_>>(), args, json);
    }
    let work = connect::SetupRun { user_editors: &user_editors, access: &access, args };
    let done: Vec<connect::EditorOutcome> =
        chosen.into_iter().map(|client| work.on(client)).collect();
    ended(&done, args, json)
}

/// Refuses a server that is not in the configuration: an entry for it would never work.
fn check_upstreams(instance: &Instance, wanted: &[String]) -> Result<(), Failure> {
    if wanted.is_empty() {
        return Ok(());
    }
    let config = file::read(&instance.paths.config)?.unwrap_or_default();
    let names = || config.upstreams.iter().chain(&config.off).map(|one| one.name.as_str());
    match wanted.iter().find(|wanted| !names().any(|name| name == *wanted)) {
        Some(unknown) => Err(lookup::unknown(unknown, names())),
        None => Ok(()),
    }
}

fn ended(done: &[connect::EditorOutcome], args: &SetupArgs, json: bool) -> Exit {
    let over_http = done.iter().any(|done| done.over_http);
    report::show(done, args, over_http && !starts_at_login(), json);
    let failed = |done: &EditorOutcome| matches!(done.what, OutcomeKind::Failed { .. });
    match done.iter().any(|done| failed(done) || done.is_unusable()) {
        true => Exit::Failure,
        false => Exit::Ok,
    }
}

/// Whether the system starts the gateway at login, as a service or with the tray.
fn starts_at_login() -> bool {
    run_async(doctor::starts_at_login()).unwrap_or(true)
}

/// The editors that the user means.
fn choose(
    user_editors: &UserEditors,
    access: &access::EditorAccess,
    args: &SetupArgs,
    json: bool,
) -> Result<Vec<&'static EditorSpec>, Exit> {
    if !args.editors.is_empty() {
        return args.editors.iter().map(|name| client(name).ok_or_else(|| unknown(name))).collect();
    }
    let installed: Vec<&EditorSpec> =
        clients().iter().filter(|client| user_editors.is_installed(client)).collect();
    if args.all {
        return Ok(installed);
    }
    let open = |client: &&&EditorSpec| {
        let state = user_editors.drift(client, SetupScope::User, &access.of(client));
        client.file.is_some() && matches!(state, SetupState::NotConnected | SetupState::Changed)
    };
    let open: Vec<&EditorSpec> = installed.iter().filter(open).copied().collect();
    report::list(user_editors, access, &installed, json);
    match agreed(&open, json) {
        true => Ok(open),
        false => Err(Exit::Ok),
    }
}

fn unknown(name: &str) -> Exit {
    let what = format!("There is no editor `{name}`.");
    match did_you_mean(name) {
        Some(meant) => Exit::failure(&format!("{what} Did you mean `{meant}`?")),
        None => {
            let known: Vec<&str> = clients().iter().map(|client| client.id.as_str()).collect();
            Exit::failure(&format!("{what} Known editors: {}.", known.join(", ")))
        }
    }
}

/// Asks whether to connect them. Without a terminal, the answer is no.
fn agreed(open: &[&EditorSpec], json: bool) -> bool {
    if open.is_empty() || json {
        return false;
    }
    if terminal::options().yes {
        return true;
    }
    let titles: Vec<&str> = open.iter().map(|client| client.title.as_str()).collect();
    let wanted = terminal::confirm(&format!("Connect {}?", titles.join(", ")));
    if !wanted {
        terminal::print_note(
            &"To connect them all, run `evermoor setup --all`; for one, `evermoor setup EDITOR`.",
        );
    }
    wanted
}
