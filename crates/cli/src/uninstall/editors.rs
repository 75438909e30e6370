//! Taking Evermoor out of the editors that it was put into.

use evermoor_core::failure::{Code, Failure};
use evermoor_setup::{Desk, Scope, client};

use super::Done;
use crate::serve::Place;

/// Undoes every record of a file that we wrote to.
pub(super) fn undo(place: &Place) -> Vec<Done> {
    let Some(desk) = Desk::here(&place.paths) else { return vec![Done::Nothing] };
    let records = desk.journal.records();
    let undone = records.iter().filter_map(|record| {
        let client = client(&record.client)?;
        let here = |scope: &Scope| desk.path(client, *scope).as_ref() == Some(&record.path);
        let Some(scope) = [Scope::User, Scope::Project].into_iter().find(here) else {
            let what = format!("{} still leads to Evermoor.", record.path.display());
            let remedy = format!("Run `evermoor setup --undo {}` in that project.", client.id);
            return Some(Done::Failed(Failure::new(Code::NotFound, what, remedy)));
        };
        Some(match desk.undo(client, scope) {
            Ok(done) => Done::Undone(format!(
                "{} is as it was before ({}).",
                client.title,
                done.path.display()
            )),
            Err(refused) => {
                let remedy = "Take the entry `evermoor` out of it yourself.";
                Done::Failed(Failure::new(Code::Refused, format!("{refused}."), remedy))
            }
        })
    });
    undone.collect()
}
