//! Undoing what importing did: first the editors, then the configuration, then the secrets.

use std::path::PathBuf;

use evermoor_core::config::edit::Edit;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::replace;
use evermoor_platform::secrets::{Keychain, Manner};
use evermoor_setup::Desk;

use super::record::{Journal, Pointed, Record};
use super::{config, mistake, point};
use crate::exit::Exit;
use crate::serve::Place;
use crate::status::run_async;
use crate::terminal;

pub(super) fn run(place: &Place, desk: &Desk, json: bool) -> Result<Exit, Failure> {
    let mut journal = Journal::open(&place.paths)?;
    if journal.is_empty() {
        let what = "Nothing was imported, or it is undone already.";
        return Err(Failure::new(Code::NotFound, what, "See `evermoor import --dry-run`."));
    }
    let back = put_back(place, desk, &mut journal)?.into_iter();
    let mut editors: Vec<String> = back.map(|pointed| pointed.client).collect();
    editors.sort();
    editors.dedup();
    let upstreams = journal.record.upstreams.clone();
    configuration(place, &journal.record)?;
    journal.note(|record| {
        record.upstreams.clear();
        record.config = None;
    })?;
    let keychain = Keychain::of_the_system(Manner::Asking);
    let mut secrets = Vec::new();
    while let Some(name) = journal.record.secrets.last().cloned() {
        let deleted = run_async(keychain.delete(&name))
            .map_err(|error| Failure::new(Code::Internal, format!("{error}."), "Try again."))?;
        let deleted =
            deleted.map_err(|error| evermoor_gateway::secrets::unusable(&error, Some(&name)))?;
        journal.note(|record| drop(record.secrets.pop()))?;
        secrets.extend(deleted.then_some(name));
    }
    if json {
        terminal::print_json(
            serde_json::json!({ "upstreams": upstreams, "secrets": secrets, "editors": editors }),
        );
        return Ok(Exit::Ok);
    }
    let count = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    terminal::print(&format_args!(
        "Undone: {}, {}, {}.",
        count(upstreams.len(), "upstream"),
        count(secrets.len(), "secret"),
        count(editors.len(), "editor")
    ));
    Ok(Exit::Ok)
}

/// Puts the editors' entries back, the last one first, and nothing else.
pub(crate) fn editors(place: &Place, desk: &Desk) -> Result<Vec<PathBuf>, Failure> {
    let back = put_back(place, desk, &mut Journal::open(&place.paths)?)?;
    Ok(back.into_iter().map(|pointed| pointed.spot.path).collect())
}

fn put_back(place: &Place, desk: &Desk, journal: &mut Journal) -> Result<Vec<Pointed>, Failure> {
    let mut back = Vec::new();
    while let Some(pointed) = journal.record.editors.last().cloned() {
        point::back(place, desk, &pointed)?;
        journal.note(|record| drop(record.editors.pop()))?;
        point::forget(&pointed.copy);
        back.push(pointed);
    }
    Ok(back)
}

/// The configuration byte for byte as it was, or without what was added if a person changed it since.
fn configuration(place: &Place, record: &Record) -> Result<(), Failure> {
    let path = &place.paths.config;
    let failed = |error: replace::NotReplaced| {
        Failure::new(Code::Configuration, format!("{error}."), "Correct that, and try again.")
    };
    let now = replace::content(path).map_err(failed)?;
    let Some(now) = now else { return Ok(()) };
    let wanted = match &record.config {
        Some(written) if written.after.as_bytes() == now => {
            written.before.as_ref().map(|text| text.clone().into_bytes())
        }
        Some(_) | None => {
            let (_, edit) = config(&place.paths)?;
            Some(without(edit, &record.upstreams)?.into_bytes())
        }
    };
    if wanted.as_ref() != Some(&now) {
        replace::replace(path, Some(&now), wanted.as_deref()).map_err(failed)?;
    }
    Ok(())
}

fn without(mut edit: Edit, upstreams: &[String]) -> Result<String, Failure> {
    for upstream in upstreams {
        // A person may have taken it out already.
        let _ = edit.remove_upstream(upstream);
    }
    edit.done().map(|(text, _)| text).map_err(|found| mistake(&found))
}
