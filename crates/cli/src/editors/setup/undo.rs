//! Undoes the setup of editors, in every file that was changed.

use evermoor_core::failure::Failure;
use evermoor_gateway::editors::setup::setup_failure;
use evermoor_platform::paths::Paths;
use evermoor_setup::{ConfigLocation, EditorSpec, SetupError, SetupScope, UserEditors, client};

use super::access::revoke;
use super::connect::{EditorOutcome, OutcomeKind, run_command};

/// Undoes everything in the journal, the last change first, since two changes can be in one file.
pub(crate) fn everything(user_editors: &UserEditors, paths: &Paths) -> Vec<EditorOutcome> {
    let records = user_editors.journal.records().into_iter().rev();
    let known = records.filter_map(|record| Some((client(&record.client)?, record.location)));
    known.map(|(client, location)| at(user_editors, paths, client, &location)).collect()
}

/// Undoes one editor, in one scope or everywhere.
pub(super) fn editor(
    user_editors: &UserEditors,
    paths: &Paths,
    client: &'static EditorSpec,
    scope: Option<SetupScope>,
) -> Vec<EditorOutcome> {
    let known = user_editors.journal.records().into_iter().rev();
    let known = known.filter(|record| record.client == client.id).map(|record| record.location);
    let known: Vec<ConfigLocation> = known.collect();
    let locations = match scope {
        None if !known.is_empty() => known,
        // An entry that was written by hand is not in the journal.
        scope => {
            user_editors.location(client, scope.unwrap_or(SetupScope::User)).into_iter().collect()
        }
    };
    match locations.as_slice() {
        [] => vec![EditorOutcome::of(client, None, OutcomeKind::NothingToUndo)],
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
) -> EditorOutcome {
    let what = match undo(user_editors, paths, client, location) {
        Ok(true) => OutcomeKind::Undone,
        Ok(false) => OutcomeKind::NothingToUndo,
        Err(why) => OutcomeKind::Failed { why, snippet: None, link: None },
    };
    EditorOutcome::of(client, Some(location.path.display().to_string()), what)
}

/// Returns whether there was anything to undo.
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
            run_command(client, &command)?;
            user_editors.forget_command(client).map_err(|refused| setup_failure(&refused))?;
            true
        }
        None => match user_editors.undo_at(client, location) {
            Ok(done) => done.changed,
            Err(SetupError::NotConnected { .. } | SetupError::NoFile { .. }) => false,
            Err(refused) => return Err(setup_failure(&refused)),
        },
    };
    revoke(user_editors, paths, client);
    Ok(changed)
}
