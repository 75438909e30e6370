//! What `evermoor setup` says.

use evermoor_core::api::SetupState;
use evermoor_setup::{EditorSpec, SetupScope, UserEditors};
use serde_json::{Value, json};

use super::access::Gates;
use super::args::SetupArgs;
use super::one::{Outcome, What};
use crate::terminal::{self, Palette};

/// The editors that are here, and how they stand.
pub(super) fn list(
    user_editors: &UserEditors,
    gates: &Gates,
    installed: &[&'static EditorSpec],
    as_json: bool,
) {
    let state =
        |client: &EditorSpec| user_editors.drift(client, SetupScope::User, &gates.of(client));
    if as_json {
        let editors: Vec<Value> = installed
            .iter()
            .map(|client| {
                let path = user_editors.path(client, SetupScope::User).map(|path| path.display().to_string());
                json!({ "id": client.id, "title": client.title, "path": path, "state": state(client) })
            })
            .collect();
        return terminal::print(&json!({ "schema": 1, "editors": editors }));
    }
    if installed.is_empty() {
        return terminal::print(
            &"No editor was found on this machine. `evermoor setup EDITOR` connects one all the same.",
        );
    }
    let colours = Palette::for_output();
    let rows: Vec<Vec<String>> = installed
        .iter()
        .map(|client| vec![client.title.clone(), word(state(client)).to_owned(), client.id.clone()])
        .collect();
    for (line, client) in terminal::columns(&rows, terminal::width()).iter().zip(installed) {
        let (mark, style) = match state(client) {
            SetupState::Connected => ("●", colours.good),
            SetupState::Changed => ("◐", colours.busy),
            SetupState::Unreadable => ("○", colours.bad),
            SetupState::NotConnected | SetupState::NotInstalled => ("○", colours.quiet),
        };
        terminal::print(&format_args!("  {style}{mark}{style:#} {line}"));
    }
}

fn word(state: SetupState) -> &'static str {
    match state {
        SetupState::Connected => "connected",
        SetupState::NotConnected => "not connected",
        SetupState::Changed => "changed by someone else",
        SetupState::Unreadable => "its file cannot be read",
        SetupState::NotInstalled => "not installed",
    }
}

/// What became of each editor.
pub(super) fn show(done: &[Outcome], args: &SetupArgs, as_json: bool) {
    if as_json {
        let editors: Vec<Value> = done.iter().map(data).collect();
        return terminal::print(&json!({ "schema": 1, "editors": editors }));
    }
    if done.is_empty() {
        let nothing = if args.undo {
            "No editor is connected."
        } else {
            "No editor was found on this machine."
        };
        return terminal::remark(&nothing);
    }
    done.iter().for_each(tell);
}

fn tell(done: &Outcome) {
    let colours = Palette::for_output();
    let (good, strong) = (colours.good, colours.strong);
    let (title, path) = (&done.client.title, done.path.as_deref().unwrap_or_default());
    let hint = &done.client.notices;
    let tick = format!("{good}✓{good:#}");
    let under = |text: &str| terminal::indented(text, 2, terminal::width());
    match &done.what {
        What::Connected { by_command, .. } => {
            let by = if *by_command { "through its own program" } else { path };
            let sentence = format!("{title} is connected.");
            terminal::print(&terminal::about(&tick, &sentence, by));
            terminal::print(&under(hint));
        }
        What::Already => {
            let sentence = format!("{title} is connected already.");
            terminal::print(&terminal::about(&tick, &sentence, path));
        }
        What::Would(diff) => {
            let diff = terminal::painted(diff);
            terminal::print(&format_args!("{strong}{title}{strong:#}\n{diff}\n"));
        }
        What::Paste { snippet, link } => {
            let how = done.client.paste.clone().unwrap_or_else(|| format!("For {path}:"));
            terminal::remark(&format_args!("{title}: {how}"));
            terminal::print(&snippet.trim_end());
            if let Some(link) = link {
                terminal::remark(&format_args!("Or open this link: {link}"));
            }
            terminal::remark(hint);
        }
        What::ByHand => {
            let id = &done.client.id;
            let sentence = format!(
                "{title} keeps its servers to itself: `evermoor setup {id} --print` shows what to paste."
            );
            terminal::print(&terminal::about(&"–", &sentence, ""));
        }
        What::Undone => {
            let sentence = format!("{title} is as it was before.");
            terminal::print(&terminal::about(&tick, &sentence, path));
        }
        What::NothingToUndo => terminal::print(&format_args!("– {title} was not connected.")),
        What::Failed { why, snippet, link } => {
            terminal::complain(&format_args!("{title}: {why}"));
            if let Some(snippet) = snippet {
                terminal::remark(&format_args!(
                    "{}\n`evermoor setup {} --print` shows it with its token.",
                    snippet.trim_end(),
                    done.client.id
                ));
            }
            if let Some(link) = link {
                terminal::remark(&format_args!("Or open this link: {link}"));
            }
        }
    }
}

fn data(done: &Outcome) -> Value {
    let mut data = json!({ "id": done.client.id, "title": done.client.title, "path": done.path, "hint": done.client.notices });
    let more = match &done.what {
        What::Connected { backup, by_command } => {
            json!({ "outcome": "connected", "backup": backup, "byCommand": by_command })
        }
        What::Already => json!({ "outcome": "already" }),
        What::Would(diff) => json!({ "outcome": "would", "diff": diff }),
        What::Paste { snippet, link } => {
            json!({ "outcome": "paste", "snippet": snippet, "link": link })
        }
        What::ByHand => json!({ "outcome": "byHand" }),
        What::Undone => json!({ "outcome": "undone" }),
        What::NothingToUndo => json!({ "outcome": "nothingToUndo" }),
        What::Failed { why, snippet, link } => {
            json!({ "outcome": "failed", "error": why, "snippet": snippet, "link": link })
        }
    };
    if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
        data.extend(more);
    }
    data
}
