//! Removes Evermoor from every editor that it was added to.

use evermoor_core::failure::Failure;
use evermoor_setup::UserEditors;

use super::StepOutcome;
use crate::editors::import;
use crate::editors::setup;
use crate::editors::setup::{EditorOutcome, OutcomeKind};
use crate::instance::Instance;

/// Undoes the import in the editors, then every change in the setup journal.
pub(super) fn undo(instance: &Instance) -> Vec<StepOutcome> {
    let Some(user_editors) = UserEditors::here(&instance.paths) else {
        return vec![StepOutcome::Nothing];
    };
    let mut done = match import::put_editors_back(instance, &user_editors) {
        Ok(files) => files
            .iter()
            .map(|file| {
                let file = file.display();
                StepOutcome::Undone(format!("Restored the servers in {file}."))
            })
            .collect(),
        Err(failure) => vec![StepOutcome::Failed(failure)],
    };
    done.extend(
        setup::undo_everything(&user_editors, &instance.paths).into_iter().map(step_outcome),
    );
    done
}

fn step_outcome(outcome: EditorOutcome) -> StepOutcome {
    let path = outcome.path.unwrap_or_default();
    match outcome.what {
        OutcomeKind::Undone => {
            StepOutcome::Undone(format!("Restored {} ({path}).", outcome.client.title))
        }
        OutcomeKind::Failed { why, .. } => {
            let remedy = format!("Or remove the entry `evermoor` from {path} yourself.");
            let remedy = format!("{} {remedy}", why.remedy);
            StepOutcome::Failed(Failure { remedy, ..why })
        }
        OutcomeKind::NothingToUndo
        | OutcomeKind::Connected { .. }
        | OutcomeKind::Already
        | OutcomeKind::Would(_)
        | OutcomeKind::Paste { .. }
        | OutcomeKind::ByHand => StepOutcome::Nothing,
    }
}
