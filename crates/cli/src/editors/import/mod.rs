//! `evermoor import`: the MCP servers that editors have already become upstreams, and back. How that is
//! done is in `evermoor_gateway::editors::import`; here a person asks for it and reads what came of it.

mod show;

use std::path::PathBuf;

use evermoor_core::failure::{Code, Failure};
use evermoor_gateway::editors::import::{Import, ImportJournal, chosen, every, redirect, undo};
use evermoor_platform::keychain::{Keychain, Prompting};
use evermoor_setup::{UserEditors, client};

use crate::args::ImportArgs;
use crate::editors::setup::{Gates, revoke};
use crate::exit::Exit;
use crate::gateway::serve::Place;
use crate::inspect::status::run_async;
use crate::terminal;

pub(crate) fn run(place: &Place, args: &ImportArgs) -> Exit {
    let json = terminal::manner().json;
    let Some(desk) = UserEditors::here(&place.paths) else {
        return Exit::failure(&"There is no home folder, so no editor can be found. Set HOME.");
    };
    let done = match args.undo {
        true => put_back(place, &desk, json),
        false => import(place, &desk, args, json),
    };
    done.unwrap_or_else(|failure| Exit::failed(&failure))
}

fn import(
    place: &Place,
    desk: &UserEditors,
    args: &ImportArgs,
    json: bool,
) -> Result<Exit, Failure> {
    let editors = match &args.from {
        Some(name) => vec![chosen(name)?],
        None => every(),
    };
    let keychain = Keychain::system_default(Prompting::Allowed);
    // Names that are taken matter only if there is something to name.
    let kept = run_async(keychain.list()).ok().and_then(Result::ok).unwrap_or_default();
    let mut import = Import::of(&place.paths, desk, &editors, true, kept)?;
    if args.dry_run {
        let (before, after) = import.config()?;
        show::dry_run(&import.plan, before, &after, json);
        return Ok(Exit::Ok);
    }
    let mut journal = ImportJournal::open(&place.paths)?;
    wait(import.keep_secrets(&keychain, &mut journal))?;
    import.write(&place.paths, &mut journal)?;
    let pointed = match args.point {
        true => {
            let gates = Gates::find(place)?;
            let gate = &mut |client| gates.made_for(client);
            let pointed =
                redirect::all(&place.paths, desk, &import.plan, false, gate, &mut journal)?;
            journal.note(|record| record.gave_tokens(|id| gates.had_token(id)))?;
            pointed
        }
        false => Vec::new(),
    };
    show::done(&import.plan, &pointed, json);
    Ok(Exit::Ok)
}

fn put_back(place: &Place, desk: &UserEditors, json: bool) -> Result<Exit, Failure> {
    let mut journal = ImportJournal::open(&place.paths)?;
    if journal.is_empty() {
        let what = "Nothing was imported, or it is undone already.";
        return Err(Failure::new(Code::NotFound, what, "See `evermoor import --dry-run`."));
    }
    let gate = &mut |client| Gates::find(place)?.made_for(client);
    let (back, leftovers) = undo::editors(desk, &mut journal, None, gate)?;
    let mut editors: Vec<String> = back.into_iter().map(|pointed| pointed.client).collect();
    editors.sort();
    editors.dedup();
    for client in leftovers.tokens.iter().filter_map(|id| client(id)) {
        revoke(desk, &place.paths, client);
    }
    undo::configuration(&place.paths, &mut journal, &leftovers)?;
    let keychain = Keychain::system_default(Prompting::Allowed);
    let secrets = wait(undo::secrets(&keychain, &mut journal, &leftovers))?;
    show::undone(&leftovers.upstreams, &secrets, &editors, json);
    Ok(Exit::Ok)
}

/// Puts the editors' entries back, the last one first, and nothing else.
pub(crate) fn put_editors_back(place: &Place, desk: &UserEditors) -> Result<Vec<PathBuf>, Failure> {
    let gate = &mut |client| Gates::find(place)?.made_for(client);
    let (back, _) = undo::editors(desk, &mut ImportJournal::open(&place.paths)?, None, gate)?;
    Ok(back.into_iter().map(|pointed| pointed.location.path).collect())
}

fn wait<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let failed = |error| Failure::new(Code::Internal, format!("{error}."), "Try again.");
    run_async(work).map_err(failed)?
}
