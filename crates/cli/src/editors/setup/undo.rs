//! Undoing what was set up, wherever that was.

use evermoor_core::failure::Failure;
use evermoor_gateway::editors::setup::told;
use evermoor_platform::paths::Paths;
use evermoor_setup::{Client, Desk, Refused, Scope, Spot, client};

use super::access::revoke;
use super::one::{Outcome, What, tell};

/// Undoes everything that the journal tells of. What was done last is undone first, since two places
/// can be in one file.
pub(crate) fn everything(desk: &Desk, paths: &Paths) -> Vec<Outcome> {
    let records = desk.journal.records().into_iter().rev();
    let known = records.filter_map(|record| Some((client(&record.client)?, record.spot)));
    known.map(|(client, spot)| at(desk, paths, client, &spot)).collect()
}

/// Undoes one editor: in one scope, or without one everywhere.
pub(super) fn one(
    desk: &Desk,
    paths: &Paths,
    client: &'static Client,
    scope: Option<Scope>,
) -> Vec<Outcome> {
    let known = desk.journal.records().into_iter().rev();
    let known = known.filter(|record| record.client == client.id).map(|record| record.spot);
    let known: Vec<Spot> = known.collect();
    let spots = match scope {
        None if !known.is_empty() => known,
        // An entry that a person wrote by hand is in no journal.
        scope => desk.spot(client, scope.unwrap_or(Scope::User)).into_iter().collect(),
    };
    match spots.as_slice() {
        [] => vec![Outcome { client, path: None, what: What::NothingToUndo }],
        spots => spots.iter().map(|spot| at(desk, paths, client, spot)).collect(),
    }
}

fn at(desk: &Desk, paths: &Paths, client: &'static Client, spot: &Spot) -> Outcome {
    let what = match undo(desk, paths, client, spot) {
        Ok(true) => What::Undone,
        Ok(false) => What::NothingToUndo,
        Err(why) => What::Failed { why, snippet: None, link: None },
    };
    Outcome { client, path: Some(spot.path.display().to_string()), what }
}

/// Says whether there was anything to undo.
fn undo(desk: &Desk, paths: &Paths, client: &Client, spot: &Spot) -> Result<bool, Failure> {
    let usual = desk.spot(client, Scope::User).is_some_and(|usual| usual == *spot);
    let changed = match desk.undo_command(client).filter(|_| usual) {
        Some(command) => {
            tell(client, &command)?;
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
