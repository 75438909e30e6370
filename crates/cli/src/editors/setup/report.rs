//! Prints the results of `evermoor setup`.

use evermoor_core::api::SetupState;
use evermoor_setup::table::self_check::SelfCheckResult;
use evermoor_setup::{EditorSpec, SetupScope, UserEditors};
use serde_json::{Value, json};

use super::access::EditorAccess;
use super::args::SetupArgs;
use super::connect::{EditorAnswer, EditorOutcome, OutcomeKind};
use crate::terminal::{self, Palette};

/// Lists the installed editors and their state.
pub(super) fn list(
    user_editors: &UserEditors,
    access: &EditorAccess,
    installed: &[&'static EditorSpec],
    as_json: bool,
) {
    let state =
        |client: &EditorSpec| user_editors.drift(client, SetupScope::User, &access.of(client));
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
            &"No editor was found on this computer. To connect one anyway, run `evermoor setup EDITOR`.",
        );
    }
    let colours = Palette::for_output();
    let rows: Vec<Vec<String>> = installed
        .iter()
        .map(|client| {
            vec![client.title.clone(), state_text(state(client)).to_owned(), client.id.clone()]
        })
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

fn state_text(state: SetupState) -> &'static str {
    match state {
        SetupState::Connected => "connected",
        SetupState::NotConnected => "not connected",
        SetupState::Changed => "changed outside Evermoor",
        SetupState::Unreadable => "file cannot be read",
        SetupState::NotInstalled => "not installed",
    }
}

/// What to do if an editor uses HTTP and nothing starts the gateway.
const NOT_AT_LOGIN: &str = "Nothing starts Evermoor at login, and an editor that uses HTTP cannot start it. \
    Run `evermoor service install`, turn on launch at login in the tray, or connect the editor with `--transport stdio`.";

/// Prints the outcome for each editor. With `needs_login`, one uses HTTP and nothing starts the gateway.
pub(super) fn show(done: &[EditorOutcome], args: &SetupArgs, needs_login: bool, as_json: bool) {
    if as_json {
        let editors: Vec<Value> = done.iter().map(data).collect();
        let data = json!({ "schema": 1, "editors": editors, "needsLaunchAtLogin": needs_login });
        return terminal::print(&data);
    }
    if done.is_empty() {
        let nothing = if args.undo {
            "No editor is connected."
        } else {
            "No editor was found on this computer."
        };
        return terminal::print_note(&nothing);
    }
    done.iter().for_each(print_outcome);
    if needs_login {
        terminal::print_note(&NOT_AT_LOGIN);
    }
}

fn print_outcome(done: &EditorOutcome) {
    let colours = Palette::for_output();
    let (good, strong) = (colours.good, colours.strong);
    let (title, path) = (&done.client.title, done.path.as_deref().unwrap_or_default());
    let hint = &done.client.notices;
    let bad = colours.bad;
    let tick = match done.is_unusable() {
        true => format!("{bad}✗{bad:#}"),
        false => format!("{good}✓{good:#}"),
    };
    let under = |text: &str| terminal::indented(text, 2, terminal::width());
    match &done.what {
        OutcomeKind::Connected { by_command, .. } => {
            let by = if *by_command { "with its own command" } else { path };
            let sentence = format!("{title} is connected.");
            terminal::print(&terminal::about(&tick, &sentence, by));
            if let Some(says) = says(done) {
                terminal::print(&under(&says));
            }
            terminal::print(&under(hint));
        }
        OutcomeKind::Already => {
            let sentence = format!("{title} is already connected.");
            terminal::print(&terminal::about(&tick, &sentence, path));
            if let Some(says) = says(done) {
                terminal::print(&under(&says));
            }
        }
        OutcomeKind::Would(diff) => {
            let diff = terminal::painted(diff);
            terminal::print(&format_args!("{strong}{title}{strong:#}\n{diff}\n"));
        }
        OutcomeKind::Paste { snippet, link } => {
            let how = done.client.paste.clone().unwrap_or_else(|| format!("For {path}:"));
            terminal::print_note(&format_args!("{title}: {how}"));
            terminal::print(&snippet.trim_end());
            if let Some(link) = link {
                terminal::print_note(&format_args!("Or open this link: {link}"));
            }
            terminal::print_note(hint);
        }
        OutcomeKind::ByHand => {
            let id = &done.client.id;
            let sentence = format!(
                "{title} has no configuration file. To see what to paste, run `evermoor setup {id} --print`."
            );
            terminal::print(&terminal::about(&"–", &sentence, ""));
        }
        OutcomeKind::Undone => {
            let sentence = format!("{title} is restored.");
            terminal::print(&terminal::about(&tick, &sentence, path));
        }
        OutcomeKind::NothingToUndo => {
            terminal::print(&format_args!("– {title} was not connected."))
        }
        OutcomeKind::Failed { why, snippet, link } => {
            terminal::print_error(&format_args!("{title}: {why}"));
            if let Some(snippet) = snippet {
                terminal::print_note(&format_args!(
                    "{}\nTo see this with its token, run `evermoor setup {} --print`.",
                    snippet.trim_end(),
                    done.client.id
                ));
            }
            if let Some(link) = link {
                terminal::print_note(&format_args!("Or open this link: {link}"));
            }
        }
    }
}

/// What the editor says about its entry.
fn says(done: &EditorOutcome) -> Option<String> {
    let EditorAnswer { command, result } = done.says.as_ref()?;
    let title = &done.client.title;
    Some(match result {
        SelfCheckResult::Connects => format!("{title} says that it can connect."),
        SelfCheckResult::Reads => format!("{title} says that it has the entry."),
        SelfCheckResult::Fails => {
            format!("{title} says that it cannot use the entry. To see why, run `{command}`.")
        }
        SelfCheckResult::Unclear => {
            format!("{title} did not say whether it can use the entry. To ask it, run `{command}`.")
        }
    })
}

fn data(done: &EditorOutcome) -> Value {
    let mut data = json!({ "id": done.client.id, "title": done.client.title, "path": done.path, "hint": done.client.notices });
    let more = match &done.what {
        OutcomeKind::Connected { backup, by_command } => {
            json!({ "outcome": "connected", "backup": backup, "byCommand": by_command })
        }
        OutcomeKind::Already => json!({ "outcome": "already" }),
        OutcomeKind::Would(diff) => json!({ "outcome": "would", "diff": diff }),
        OutcomeKind::Paste { snippet, link } => {
            json!({ "outcome": "paste", "snippet": snippet, "link": link })
        }
        OutcomeKind::ByHand => json!({ "outcome": "byHand" }),
        OutcomeKind::Undone => json!({ "outcome": "undone" }),
        OutcomeKind::NothingToUndo => json!({ "outcome": "nothingToUndo" }),
        OutcomeKind::Failed { why, snippet, link } => {
            json!({ "outcome": "failed", "error": why, "snippet": snippet, "link": link })
        }
    };
    if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
        data.extend(more);
    }
    if let Some(EditorAnswer { command, result }) = &done.says {
        let result = match result {
            SelfCheckResult::Connects => "connects",
            SelfCheckResult::Reads => "reads",
            SelfCheckResult::Fails => "fails",
            SelfCheckResult::Unclear => "unclear",
        };
        data["check"] = json!({ "command": command, "result": result });
    }
    data
}
