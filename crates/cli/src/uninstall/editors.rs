//! Taking Evermoor out of the editors that it was put into, wherever their files are.

use evermoor_core::failure::Failure;
use evermoor_setup::UserEditors;

use super::Done;
use crate::editors::import;
use crate::editors::setup;
use crate::editors::setup::{Outcome, What};
use crate::gateway::serve::Place;

/// Puts back what an import pointed at us, then undoes every record of a file that we wrote to.
pub(super) fn undo(place: &Place) -> Vec<Done> {
    let Some(user_editors) = UserEditors::here(&place.paths) else { return vec![Done::Nothing] };
    let mut done = match import::put_editors_back(place, &user_editors) {
        Ok(files) => files
            .iter()
            .map(|file| {
                let file = file.display();
                Done::Undone(format!("The servers in {file} are what they were before the import."))
            })
            .collect(),
        Err(failure) => vec![Done::Failed(failure)],
    };
    done.extend(setup::undo_everything(&user_editors, &place.paths).into_iter().map(told));
    done
}

fn told(outcome: Outcome) -> Done {
    let path = outcome.path.unwrap_or_default();
    match outcome.what {
        What::Undone => {
            Done::Undone(format!("{} is as it was before ({path}).", outcome.client.title))
        }
        What::Failed { why, .. } => {
            let remedy = format!("Or take the entry `evermoor` out of {path} yourself.");
            let remedy = format!("{} {remedy}", why.remedy);
            Done::Failed(Failure { remedy, ..why })
        }
        What::NothingToUndo
        | What::Connected { .. }
        | What::Already
        | What::Would(_)
        | What::Paste { .. }
        | What::ByHand => Done::Nothing,
    }
}
