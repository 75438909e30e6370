//! `evermoor setup`: connects the editors of this machine, says what that would change, or undoes it.

mod access;
mod args;
mod one;
mod report;
mod undo;

use evermoor_core::api::SetupState;
use evermoor_setup::{EditorSpec, SetupScope, UserEditors, client, clients, did_you_mean};

use crate::exit::Exit;
use crate::gateway::serve::Place;
use crate::terminal;

pub(crate) use access::{Gates, attached, found, revoke, short};
pub(crate) use args::SetupArgs;
pub(crate) use one::{Outcome, What};
pub(crate) use undo::everything as undo_everything;

pub(crate) fn run(place: &Place, args: &SetupArgs, json: bool) -> Exit {
    let Some(user_editors) = UserEditors::here(&place.paths) else {
        return Exit::failure(&"There is no home folder, so no editor can be found. Set HOME.");
    };
    let gate = match access::Gates::find(place) {
        Ok(gate) => gate,
        Err(failure) => return Exit::failure(&failure),
    };
    if args.undo && args.editors.is_empty() {
        return ended(&undo::everything(&user_editors, &place.paths), args, json);
    }
    let chosen = match choose(&user_editors, &gate, args, json) {
        Ok(chosen) => chosen,
        Err(exit) => return exit,
    };
    if args.undo {
        let scope = args.scope.map(SetupScope::from);
        let undone = chosen
            .into_iter()
            .flat_map(|client| undo::one(&user_editors, &place.paths, client, scope));
        return ended(&undone.collect::<Vec<_>>(), args, json);
    }
    let work = one::Work { user_editors: &user_editors, gates: &gate, args };
    let done: Vec<one::Outcome> = chosen.into_iter().map(|client| work.on(client)).collect();
    ended(&done, args, json)
}

fn ended(done: &[one::Outcome], args: &SetupArgs, json: bool) -> Exit {
    report::show(done, args, json);
    if done.iter().any(|done| matches!(done.what, one::What::Failed { .. })) {
        Exit::Failure
    } else {
        Exit::Ok
    }
}

/// The editors that a person means.
fn choose(
    user_editors: &UserEditors,
    gates: &access::Gates,
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
        let state = user_editors.drift(client, SetupScope::User, &gates.of(client));
        client.file.is_some() && matches!(state, SetupState::NotConnected | SetupState::Changed)
    };
    let open: Vec<&EditorSpec> = installed.iter().filter(open).copied().collect();
    report::list(user_editors, gates, &installed, json);
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
            Exit::failure(&format!("{what} Evermoor knows these: {}.", known.join(", ")))
        }
    }
}

/// Asks whether to connect them. Where nobody can be asked, nothing is done.
fn agreed(open: &[&EditorSpec], json: bool) -> bool {
    if open.is_empty() || json {
        return false;
    }
    if terminal::manner().yes {
        return true;
    }
    let titles: Vec<&str> = open.iter().map(|client| client.title.as_str()).collect();
    let wanted = terminal::confirm(&format!("Connect {}?", titles.join(", ")));
    if !wanted {
        terminal::remark(
            &"Connect them with `evermoor setup --all`, or one with `evermoor setup EDITOR`.",
        );
    }
    wanted
}
