//! `evermoor uninstall`: undoes everything that Evermoor changed on this machine, and says what it did.

mod editors;
mod steps;

use evermoor_core::failure::Failure;
use serde_json::json;

use crate::exit::Exit;
use crate::gateway::serve::Place;
use crate::terminal::{self, Palette};

/// What became of one step.
pub(crate) enum Done {
    Undone(String),
    /// There was nothing to undo.
    Nothing,
    Failed(Failure),
}

pub(crate) fn run(place: &Place, keep_data: bool) -> Exit {
    let data = if keep_data {
        "Your configuration, history, tokens and secrets stay."
    } else {
        "Your configuration, history, tokens and secrets are removed, too (--keep-data keeps them)."
    };
    let question = format!(
        "This stops Evermoor, takes it out of your editors and out of what starts at login. {data} Go on?"
    );
    if !terminal::confirm(&question) {
        return Exit::usage(&"Nothing was changed. Say --yes to go on without a question.");
    }
    let done = steps::all(place, keep_data);
    let failed = done.iter().any(|(_, done)| matches!(done, Done::Failed(_)));
    if terminal::manner().json {
        let told = done.iter().map(|(step, done)| match done {
            Done::Undone(what) => json!({ "step": step, "done": true, "what": what }),
            Done::Nothing => json!({ "step": step, "done": false }),
            Done::Failed(failure) => json!({ "step": step, "done": false, "error": failure }),
        });
        terminal::print_json(json!({ "steps": told.collect::<Vec<_>>() }));
    } else {
        let Palette { good, bad, quiet, .. } = Palette::for_output();
        for (_, done) in &done {
            match done {
                Done::Undone(what) => {
                    let tick = format!("{good}✓{good:#}");
                    terminal::say(&terminal::about(&tick, what, ""));
                }
                Done::Nothing => {}
                Done::Failed(why) => {
                    let cross = format!("{bad}✗{bad:#}");
                    terminal::print(&terminal::about(&cross, &why.to_string(), ""));
                }
            }
        }
        let program = std::env::current_exe().unwrap_or_else(|_| "evermoor".into());
        terminal::say(&format_args!(
            "{quiet}What is left is the program itself: {}{quiet:#}",
            program.display()
        ));
    }
    if failed { Exit::Failure } else { Exit::Ok }
}
