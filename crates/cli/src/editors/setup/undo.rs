//! Undoing what was set up, wherever that was.

use evermoor_core::failure::Failure;
use evermoor_gateway::editors::setup::told;
use evermoor_platform::paths::Paths;
use evermoor_setup::{ConfigLocation, EditorSpec, SetupError, SetupScope, UserEditors, client};

use super::access::revoke;
use super::one::{Outcome, What, tell};

/// Undoes everything that the journal tells of. What was done last is undone first, since two places
/// can be in one file.
pub(crate) fn everything(user_editors: &UserEditors, paths: &Paths) -> Vec<Outcome> {
    let records = user_editors.journal.records().into_iter().rev();
    let known = records.filter_map(|record| Some((client(&record.client)?, record.location)));
    known.map(|(client, location)| at(user_editors, paths, client, &location)).collect()
}

/// Undoes one editor: in one scope, or without one everywhere.
pub(super) fn one(
    user_editors: &UserEditors,
    paths: &Paths,
    client: &'static EditorSpec,
    scope: Option<SetupScope>,
) -> Vec<Outcome> {
    let known = user_editors.journal.records().into_iter().rev();
    let known = known.filter(|record| record.client == client.id).map(|record| record.location);
    let known: Vec<ConfigLocation> = known.collect();
    let locations = match scope {
        None if !known.is_empty() => known,
        // An entry that a person wrote by hand is in no journal.
        scope => {
            user_editors.location(client, scope.unwrap_or(SetupScope::User)).into_iter().collect()
        }
    };
    match locations.as_slice() {
        [] => vec![Outcome { client, path: None, what: What::NothingToUndo }],
        locations => {
            locations.iter().map(|location| at(user_editors, paths, client, location)).collect()
        }
    }
}

fn at(
    user_editors: &UserEditors,
    paths: &Paths,
    client: &'static EditorSpec,
    location: &ConfigLocation,
) -> Outcome {
    let what = match undo(user_editors, paths, client, location) {
        Ok(true) => What::Undone,
        Ok(false) => What::NothingToUndo,
        Err(why) => What::Failed { why, snippet: None, link: None },
    };
    Outcome { client, path: Some(location.path.display().to_string()), what }
}

/// Says whether there was anything to undo.
fn undo(
    user_editors: &UserEditors,
    paths: &Paths,
    client: &EditorSpec,
    location: &ConfigLocation,
) -> Result<bool, Failure> {
    let usual =
        user_editors.location(client, SetupScope::User).is_some_and(|usual| usual == *location);
    let changed = match user_editors.undo_command(client).filter(|_| usual) {
        Some(command) => {
            tell(client, &command)?;
            user_editors.forget_command(client).map_err(|refused| told(&refused))?;
            true
        }
        None => match user_editors.undo_at(client, location) {
            Ok(done) => done.changed,
            Err(SetupError::NotConnected { .. } | SetupError::NoFile { .. }) => false,
            Err(refused) => return Err(told(&refused)),
        },
    };
    revoke(user_editors, paths, client);
    Ok(changed)
}
