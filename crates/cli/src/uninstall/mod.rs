//! `evermoor uninstall`: undoes everything that Evermoor changed on this machine. [`steps`] lists
//! the steps in order; [`editors`] restores the editors.

mod editors;
mod steps;

use evermoor_core::failure::Failure;
use serde_json::json;

use crate::exit::Exit;
use crate::instance::Instance;
use crate::terminal::{self, Palette};

/// The outcome of one step.
pub(crate) enum StepOutcome {
    Undone(String),
    /// There was nothing to undo.
    Nothing,
    Failed(Failure),
}

pub(crate) fn run(instance: &Instance, keep_data: bool) -> Exit {
    let data = if keep_data {
        "Your configuration, history, tokens and secrets are kept."
    } else {
        "Your configuration, history, tokens and secrets are deleted too (--keep-data keeps them)."
    };
    let question = format!(
        "This stops Evermoor, removes it from your editors, and removes it from login. {data} Continue?"
    );
    if !terminal::confirm(&question) {
        return Exit::usage(&"Nothing was changed. To skip the question, use --yes.");
    }
    let done = steps::all(instance, keep_data);
    let failed = done.iter().any(|(_, done)| matches!(done, StepOutcome::Failed(_)));
    if terminal::options().json {
        let steps = done.iter().map(|(step, done)| match done {
            StepOutcome::Undone(what) => json!({ "step": step, "done": true, "what": what }),
            StepOutcome::Nothing => json!({ "step": step, "done": false }),
            StepOutcome::Failed(failure) => {
                json!({ "step": step, "done": false, "error": failure })
            }
        });
        terminal::print_json(json!({ "steps": steps.collect::<Vec<_>>() }));
    } else {
        let Palette { good, bad, quiet, .. } = Palette::for_output();
        for (_, done) in &done {
            match done {
                StepOutcome::Undone(what) => {
                    let tick = format!("{good}✓{good:#}");
                    terminal::print_message(&terminal::about(&tick, what, ""));
                }
                StepOutcome::Nothing => {}
                StepOutcome::Failed(why) => {
                    let cross = format!("{bad}✗{bad:#}");
                    terminal::print(&terminal::about(&cross, &why.to_string(), ""));
                }
            }
        }
        let program = std::env::current_exe().unwrap_or_else(|_| "evermoor".into());
        terminal::print_message(&format_args!(
            "{quiet}Only the program itself is left: {}{quiet:#}",
            program.display()
        ));
    }
    if failed { Exit::Failure } else { Exit::Ok }
}
