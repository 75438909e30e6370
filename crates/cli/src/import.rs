//! `evermoor import`: the MCP servers that editors have already become upstreams, and back.
//!
//! What becomes of which entry is decided in `core::adopt`. A secret goes to the keychain before the
//! configuration refers to it; where that is not possible, its server stays where it is. What was
//! done is written down step by step, so that it can be undone whenever it ends.

mod found;
mod point;
mod record;
mod show;
mod undo;

use std::collections::BTreeSet;

use evermoor_core::adopt::{self, Adopted, Plan, Skipped};
use evermoor_core::config::Mistake;
use evermoor_core::config::edit::{Edit, NewUpstream};
use evermoor_core::failure::{Code, Failure};
use evermoor_gateway::secrets;
use evermoor_platform::paths::Paths;
use evermoor_platform::replace;
use evermoor_platform::secrets::{Keychain, Manner};
use evermoor_setup::Desk;

use crate::args::ImportArgs;
use crate::exit::Exit;
use crate::serve::Place;
use crate::status::run_async;
use crate::terminal;
use record::Journal;

pub(crate) use undo::editors as put_editors_back;

pub(crate) fn run(place: &Place, args: &ImportArgs) -> Exit {
    let json = terminal::manner().json;
    let Some(desk) = Desk::here(&place.paths) else {
        return Exit::failure(&"There is no home folder, so no editor can be found. Set HOME.");
    };
    let done = match args.undo {
        true => undo::run(place, &desk, json),
        false => import(place, &desk, args, json),
    };
    done.unwrap_or_else(|failure| Exit::failed(&failure))
}

fn import(place: &Place, desk: &Desk, args: &ImportArgs, json: bool) -> Result<Exit, Failure> {
    let found = found::servers(desk, args.from.as_deref())?;
    let keychain = Keychain::of_the_system(Manner::Asking);
    let (before, edit) = config(&place.paths)?;
    // Names that are taken matter only if there is something to name.
    let kept = run_async(keychain.list()).ok().and_then(Result::ok).unwrap_or_default();
    let kept: BTreeSet<String> = kept.into_iter().collect();
    let mut plan = adopt::plan(&found.servers, edit.before(), &kept);
    plan.skipped.extend(found.skipped);
    if args.dry_run {
        let (_, after) = added(edit, &plan.adopted)?;
        show::dry_run(&plan, before.as_deref().unwrap_or_default(), &after, json);
        return Ok(Exit::Ok);
    }
    let mut journal = Journal::open(&place.paths)?;
    keep_secrets(&keychain, &mut plan, &mut journal)?;
    let (names, after) = added(edit, &plan.adopted)?;
    if !names.is_empty() {
        journal.note(|record| record.wrote(before.as_deref(), &after, names))?;
        let (old, new) = (before.as_ref().map(String::as_bytes), Some(after.as_bytes()));
        replace::replace(&place.paths.config, old, new).map_err(|error| {
            Failure::new(Code::Configuration, format!("{error}."), "Correct that, and try again.")
        })?;
    }
    let pointed = match args.point {
        true => point::all(place, desk, &plan, &mut journal)?,
        false => Vec::new(),
    };
    show::done(&plan, &pointed, json);
    Ok(Exit::Ok)
}

/// The configuration file as it is, and the edit that begins with it.
fn config(paths: &Paths) -> Result<(Option<String>, Edit), Failure> {
    let content = replace::content(&paths.config).map_err(|error| {
        Failure::new(Code::Configuration, format!("{error}."), "Correct that, and try again.")
    })?;
    let text = content.map(|content| String::from_utf8_lossy(&content).into_owned());
    let edit = Edit::of(text.as_deref().unwrap_or_default()).map_err(|found| mistake(&found))?;
    Ok((text, edit))
}

/// What is new in the configuration, and its text then.
fn added(mut edit: Edit, adopted: &[Adopted]) -> Result<(Vec<String>, String), Failure> {
    let mut names = Vec::new();
    for one in adopted {
        let Some(way) = one.way.clone() else { continue };
        let new = NewUpstream { name: one.name.clone(), title: None, way };
        edit.add_upstream(&new).map_err(|found| mistake(&found))?;
        names.push(one.name.clone());
    }
    let (text, _) = edit.done().map_err(|found| mistake(&found))?;
    Ok((names, text))
}

fn mistake(found: &Mistake) -> Failure {
    let line = found.line.map(|line| format!(" (line {line} of config.toml)")).unwrap_or_default();
    Failure::new(Code::Configuration, format!("{}{line}", found.what), found.remedy.clone())
}

/// Puts every secret into the keychain. A server whose secret cannot be kept is not adopted.
fn keep_secrets(
    keychain: &Keychain,
    plan: &mut Plan,
    journal: &mut Journal,
) -> Result<(), Failure> {
    let mut adopted = Vec::new();
    for one in std::mem::take(&mut plan.adopted) {
        let mut refused = None;
        for (name, value) in &one.secrets {
            journal.note(|record| record.secrets.push(name.clone()))?;
            let set = run_async(keychain.set(name, value.reveal()));
            let set = set
                .map_err(|error| Failure::new(Code::Internal, format!("{error}."), "Try again."))?;
            if let Err(error) = set {
                refused = Some(secrets::unusable(&error, Some(name)));
                break;
            }
        }
        match refused {
            None => adopted.push(one),
            Some(failure) => {
                forget_secrets(keychain, &one, journal)?;
                plan.skipped.extend(
                    one.from
                        .iter()
                        .cloned()
                        .map(|origin| Skipped { origin, why: failure.to_string() }),
                );
            }
        }
    }
    plan.adopted = adopted;
    Ok(())
}

/// Nothing of a server that is not adopted is kept.
fn forget_secrets(
    keychain: &Keychain,
    adopted: &Adopted,
    journal: &mut Journal,
) -> Result<(), Failure> {
    for (name, _) in &adopted.secrets {
        // Most likely it is the one that could not be kept.
        let _ = run_async(keychain.delete(name));
    }
    let theirs = |name: &String| adopted.secrets.iter().any(|(known, _)| known == name);
    journal.note(|record| record.secrets.retain(|name| !theirs(name)))
}
