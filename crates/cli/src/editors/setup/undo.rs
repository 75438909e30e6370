//! Undoes the setup of editors, in every file that was changed.

use evermoor_core::failure::Failure;
use evermoor_gateway::editors::setup::told;
use evermoor_platform::paths::Paths;
use evermoor_setup::{Client, Desk, Refused, Scope, Spot, client};

use super::access::revoke;
use super::connect::{EditorOutcome, OutcomeKind, run_command};

/// Undoes everything in the journal, the last change first, since two changes can be in one file.
pub(crate) fn everything(desk: &Desk, paths: &Paths) -> Vec<EditorOutcome> {
    let records = desk.journal.records().into_iter().rev();
    let known = records.filter_map(|record| Some((client(&record.client)?, record.spot)));
    known.map(|(client, spot)| at(desk, paths, client, &spot)).collect()
}

/// Undoes one editor, in one scope or everywhere.
pub(super) fn editor(
    desk: &Desk,
    paths: &Paths,
    client: &'static Client,
    scope: Option<Scope>,
) -> Vec<EditorOutcome> {
    let known = desk.journal.records().into_iter().rev();
    let known = known.filter(|record| record.client == client.id).map(|record| record.spot);
    let known: Vec<Spot> = known.collect();
    let spots = match scope {
        None if !known.is_empty() => known,
        // An entry that was written by hand is not in the journal.
        scope => desk.spot(client, scope.unwrap_or(Scope::User)).into_iter().collect(),
    };
    match spots.as_slice() {
        [] => vec![EditorOutcome { client, path: None, what: OutcomeKind::NothingToUndo }],
        spots => spots.iter().map(|spot| at(desk, paths, client, spot)).collect(),
    }
}

fn at(desk: &Desk, paths: &Paths, client: &'static Client, spot: &Spot) -> EditorOutcome {
    let what = match undo(desk, paths, client, spot) {
        Ok(true) => OutcomeKind::Undone,
        Ok(false) => OutcomeKind::NothingToUndo,
        Err(why) => OutcomeKind::Failed { why, snippet: None, link: None },
    };
    EditorOutcome { client, path: Some(spot.path.display().to_string()), what }
}

/// Returns whether there was anything to undo.
fn undo(desk: &Desk, paths: &Paths, client: &Client, spot: &Spot) -> Result<bool, Failure> {
    let usual = desk.spot(client, Scope::User).is_some_and(|usual| usual == *spot);
    let changed = match desk.undo_command(client).filter(|_| usual) {
        Some(command) => {
            run_command(client, &command)?;
            desk.uncommanded(client).map_err(|refused| told(&refused))?;
            true
        }
        None => match desk.undo_at(client, spot) {
            Ok(done) => done.changed,
            Err(Refused::NotConnected { .. } | Refused::NoFile { .. }) => false,
            Err(refused) => return Err(told(&refused)),
        },
    };
    revoke(desk, paths, client);
    Ok(changed)
}
