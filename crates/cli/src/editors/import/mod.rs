//! `evermoor import`: adds the MCP servers that editors already use to Evermoor, and undoes it. The
//! work is done by `evermoor_gateway::editors::import`; this command prints the result
//! ([`show`]).

mod show;

use std::path::PathBuf;

use evermoor_core::failure::{Code, Failure};
use evermoor_gateway::editors::import::{Import, ImportJournal, chosen, every, redirect, undo};
use evermoor_gateway::editors::setup::check_location;
use evermoor_platform::keychain::{Keychain, KeychainError, Prompting};
use evermoor_setup::{UserEditors, client};

use crate::args::ImportArgs;
use crate::editors::setup::{EditorAccess, revoke};
use crate::exit::Exit;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::terminal;

pub(crate) fn run(instance: &Instance, args: &ImportArgs) -> Exit {
    let json = terminal::options().json;
    let Some(user_editors) = UserEditors::here(&instance.paths) else {
        return Exit::failure(&"There is no home folder, so no editor can be found. Set HOME.");
    };
    let done = match args.undo {
        true => put_back(instance, &user_editors, json),
        false => import(instance, &user_editors, args, json),
    };
    done.unwrap_or_else(|failure| Exit::failed(&failure))
}

fn import(
    instance: &Instance,
    user_editors: &UserEditors,
    args: &ImportArgs,
    json: bool,
) -> Result<Exit, Failure> {
    let editors = match &args.from {
        Some(name) => vec![chosen(name)?],
        None => every(),
    };
    let keychain = Keychain::system_default(Prompting::Allowed);
    // If the keychain cannot be read, this only matters when the import has secrets to store.
    let kept = run_async(keychain.list()).unwrap_or(Ok(Vec::new()));
    let names = kept.clone().unwrap_or_default();
    let mut import = Import::of(&instance.paths, user_editors, &editors, true, names)?;
    if args.dry_run {
        if let Err(error @ KeychainError::Unavailable(_)) = &kept {
            import.skip_secrets(error);
        }
        let pointed = match args.point {
            true => {
                let access = EditorAccess::find(instance)?;
                redirect::preview(user_editors, &import.plan, false, |client| access.of(client))
            }
            false => Vec::new(),
        };
        let (before, after) = import.config()?;
        show::dry_run(&import.plan, before, &after, &pointed, json);
        return Ok(Exit::Ok);
    }
    if args.point {
        check_location()?;
    }
    let mut journal = ImportJournal::open(&instance.paths)?;
    wait(import.keep_secrets(&keychain, &mut journal))?;
    import.write(&instance.paths, &mut journal)?;
    let pointed = match args.point {
        true => {
            let access = EditorAccess::find(instance)?;
            let gate = &mut |client| access.with_token_for(client);
            let pointed = redirect::all(
                &instance.paths,
                user_editors,
                &import.plan,
                false,
                gate,
                &mut journal,
            )?;
            journal.note(|record| record.gave_tokens(|id| access.had_token(id)))?;
            pointed
        }
        false => Vec::new(),
    };
    show::done(&import.plan, &pointed, json);
    Ok(Exit::Ok)
}

fn put_back(instance: &Instance, user_editors: &UserEditors, json: bool) -> Result<Exit, Failure> {
    let mut journal = ImportJournal::open(&instance.paths)?;
    if journal.is_empty() {
        let what = "There is no import to undo.";
        return Err(Failure::new(
            Code::NotFound,
            what,
            "Run `evermoor import --dry-run` to see what can be imported.",
        ));
    }
    let gate = &mut |client| EditorAccess::find(instance)?.with_token_for(client);
    let (back, leftovers) = undo::editors(user_editors, &mut journal, None, gate)?;
    let mut editors: Vec<String> = back.into_iter().map(|pointed| pointed.client).collect();
    editors.sort();
    editors.dedup();
    for client in leftovers.tokens.iter().filter_map(|id| client(id)) {
        revoke(user_editors, &instance.paths, client);
    }
    undo::configuration(&instance.paths, &mut journal, &leftovers)?;
    let keychain = Keychain::system_default(Prompting::Allowed);
    let secrets = wait(undo::secrets(&keychain, &mut journal, &leftovers))?;
    show::undone(&leftovers.upstreams, &secrets, &editors, json);
    Ok(Exit::Ok)
}

/// Restores the editors' entries, the last one first, and nothing else.
pub(crate) fn put_editors_back(
    instance: &Instance,
    user_editors: &UserEditors,
) -> Result<Vec<PathBuf>, Failure> {
    let gate = &mut |client| EditorAccess::find(instance)?.with_token_for(client);
    let (back, _) =
        undo::editors(user_editors, &mut ImportJournal::open(&instance.paths)?, None, gate)?;
    Ok(back.into_iter().map(|pointed| pointed.location.path).collect())
}

fn wait<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let failed = |error| Failure::new(Code::Internal, format!("{error}."), "Try again.");
    run_async(work).map_err(failed)?
}
