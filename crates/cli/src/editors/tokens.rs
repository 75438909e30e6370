//! `evermoor tokens`: lists, creates, rotates and revokes the tokens of editors.
//!
//! A running gateway makes the change and rejects the old token at once. If none is running, this
//! command changes the file itself, while holding the lock that a starting gateway waits for.

use evermoor_client::ControlClient;
use evermoor_core::api::{EditorStatus, NewToken};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::security::tokens::{LOCAL_EDITOR, TokenError, Tokens};
use evermoor_gateway::editors::last_seen;
use evermoor_gateway::system::keys;
use evermoor_gateway::system::keys::ChangeError;
use evermoor_platform::clock;
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::paths::Paths;
use evermoor_setup::{SetupChange, SetupError, UserEditors};

use crate::args::TokenAction;
use crate::editors::setup::EditorAccess;
use crate::exit::Exit;
use crate::gateway::start_stop;
use crate::instance::Instance;
use crate::runtime::run_async;
use crate::terminal::{self, Palette};

pub(crate) fn run(instance: &Instance, action: Option<TokenAction>) -> Exit {
    let (paths, json) = (&instance.paths, terminal::options().json);
    let done = match action.unwrap_or(TokenAction::List) {
        TokenAction::List => list(paths).map(|editors| show_list(&editors, json)),
        TokenAction::Add { name } => add(paths, &name).map(|made| show_new(&made, json)),
        TokenAction::Rotate { name: Some(name), .. } => {
            rotate(paths, &name).map(|made| show_rotated(&made, &rewrite(instance, &name), json))
        }
        TokenAction::Rotate { name: None, .. } => return rotate_control(instance),
        TokenAction::Revoke { name } => revoke(paths, &name).map(|()| show_revoked(&name, json)),
    };
    match done {
        Ok(()) => Exit::Ok,
        Err(failure) => Exit::failed(&failure),
    }
}

fn list(paths: &Paths) -> Result<Vec<EditorStatus>, Failure> {
    if let Some(control) = ControlClient::find(paths) {
        return ask(control.editors());
    }
    let unusable = |error| Failure::from(&ChangeError::Keys(error));
    let tokens = keys::known_tokens(paths).map_err(unusable)?;
    let seen = last_seen::read(paths);
    let editor = |(name, made): (&str, Option<u64>)| EditorStatus {
        name: name.to_owned(),
        made,
        seen: seen.get(name).copied(),
        own: name == LOCAL_EDITOR,
        shown: None,
        hint: None,
    };
    Ok(tokens.map(|tokens| tokens.editors().map(editor).collect()).unwrap_or_default())
}

pub(crate) fn add(paths: &Paths, name: &str) -> Result<NewToken, Failure> {
    match ControlClient::find(paths) {
        Some(control) => ask(control.add_editor(name)),
        None => new_token(name, change(paths, |tokens, random, now| tokens.add(name, random, now))),
    }
}

fn rotate(paths: &Paths, name: &str) -> Result<NewToken, Failure> {
    match ControlClient::find(paths) {
        Some(control) => ask(control.rotate_editor(name)),
        None => {
            new_token(name, change(paths, |tokens, random, now| tokens.rotate(name, random, now)))
        }
    }
}

/// Replaces the control token, and the running gateway with one that uses it.
fn rotate_control(instance: &Instance) -> Exit {
    match keys::rotate_control_token(&instance.paths) {
        Ok(_) if ControlClient::find(&instance.paths).is_some() => start_stop::restart(instance),
        Ok(_) => {
            terminal::print_message(&"The control token was replaced.");
            Exit::Ok
        }
        Err(error) => Exit::failed(&Failure::from(&ChangeError::Keys(error))),
    }
}

pub(crate) fn revoke(paths: &Paths, name: &str) -> Result<(), Failure> {
    match ControlClient::find(paths) {
        Some(control) => ask(control.revoke_editor(name)),
        None => change(paths, |tokens, _, _| tokens.revoke(name)),
    }
}

fn new_token(name: &str, made: Result<String, Failure>) -> Result<NewToken, Failure> {
    Ok(NewToken { name: name.to_owned(), token: made? })
}

/// Asks the running gateway.
fn ask<T>(
    question: impl Future<Output = Result<T, evermoor_client::ControlError>>,
) -> Result<T, Failure> {
    match run_async(question) {
        Ok(answer) => answer.map_err(Failure::from),
        Err(error) => Err(Failure::new(Code::Internal, format!("{error}."), "Try again.")),
    }
}

/// Changes the file while holding the lock, so that no gateway can start.
fn change<T>(
    paths: &Paths,
    change: impl FnOnce(&mut Tokens, [u8; 32], u64) -> Result<T, TokenError>,
) -> Result<T, Failure> {
    let Ok(Some(_lock)) = InstanceLock::take(&paths.lock_file()) else {
        let what = "A gateway is starting or stopping.";
        return Err(Failure::new(Code::Timeout, what, "Try again in a moment."));
    };
    let changed = keys::change_tokens(paths, change);
    changed.map(|(_, made)| made).map_err(|error| Failure::from(&error))
}

fn show_list(editors: &[EditorStatus], json: bool) {
    if json {
        return terminal::print_json(serde_json::json!({ "editors": editors }));
    }
    let now = clock::unix_millis();
    let row = |editor: &EditorStatus| {
        let made =
            editor.made.map_or("created by hand".into(), |at| format!("created {}", ago(at, now)));
        let seen =
            editor.seen.map_or("never used".into(), |at| format!("last used {}", ago(at, now)));
        let own = if editor.own { "used by `evermoor connect`" } else { "" };
        let sees = editor.sees().unwrap_or_default();
        vec![editor.name.clone(), made, seen, sees, own.to_owned()]
    };
    let rows: Vec<Vec<String>> = editors.iter().map(row).collect();
    let quiet = Palette::for_output().quiet;
    for (line, editor) in terminal::columns(&rows, terminal::width()).iter().zip(editors) {
        terminal::print(line);
        if let Some(hint) = &editor.hint {
            terminal::print(&format_args!("  {quiet}{hint}{quiet:#}"));
        }
    }
}

/// Writes an editor's new token to every file that has the old one. Returns those files.
fn rewrite(instance: &Instance, name: &str) -> Vec<Result<SetupChange, SetupError>> {
    let (Some(client), Some(user_editors)) =
        (evermoor_setup::client(name), UserEditors::here(&instance.paths))
    else {
        return Vec::new();
    };
    let Ok(access) = EditorAccess::find(instance) else { return Vec::new() };
    match user_editors.rewrite_token(client, &access.of(client)) {
        Ok(done) => done.into_iter().map(Ok).collect(),
        Err(refused) => vec![Err(refused)],
    }
}

fn show_rotated(made: &NewToken, written: &[Result<SetupChange, SetupError>], json: bool) {
    let paths: Vec<String> =
        written.iter().flatten().map(|done| done.path.display().to_string()).collect();
    for refused in written.iter().filter_map(|written| written.as_ref().err()) {
        terminal::print_note(&format_args!("{refused}."));
    }
    if paths.is_empty() {
        return show_new(made, json);
    }
    if json {
        let (name, token) = (&made.name, &made.token);
        let data = serde_json::json!({ "name": name, "token": token, "written": paths });
        return terminal::print_json(data);
    }
    let good = Palette::for_output().good;
    for path in paths {
        terminal::print(&format_args!("{good}The new token is in {path}.{good:#}"));
    }
    if let Some(client) = evermoor_setup::client(&made.name) {
        terminal::print_note(&client.notices);
    }
}

fn show_new(made: &NewToken, json: bool) {
    if json {
        let (name, token) = (&made.name, &made.token);
        return terminal::print_json(serde_json::json!({ "name": name, "token": token }));
    }
    terminal::print(&made.token);
    if made.name == LOCAL_EDITOR {
        return terminal::print_note(&"Evermoor's own programs use this token from now on.");
    }
    terminal::print_note(&format_args!(
        "This is the token for `{}`. It is shown only once. Add it to the editor's configuration \
         as the header `Authorization: Bearer <token>`.",
        made.name
    ));
}

fn show_revoked(name: &str, json: bool) {
    if json {
        return terminal::print_json(serde_json::json!({ "name": name }));
    }
    let good = Palette::for_output().good;
    terminal::print_message(&format_args!("{good}The token of `{name}` no longer works.{good:#}"));
}

/// The time since `at`, in its largest unit.
fn ago(at: u64, now: u64) -> String {
    let minutes = now.saturating_sub(at) / 60_000;
    match minutes {
        0..2 => "just now".into(),
        2..120 => format!("{minutes} minutes ago"),
        120..2880 => format!("{} hours ago", minutes / 60),
        _ => format!("{} days ago", minutes / 1440),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_in_its_largest_unit() {
        let shown: Vec<String> =
            [0, 5, 119, 120, 2880].iter().map(|minutes| ago(0, minutes * 60_000)).collect();
        let wanted = ["just now", "5 minutes ago", "119 minutes ago", "2 hours ago", "2 days ago"];
        assert_eq!(shown, wanted);
        assert_eq!(ago(60_000, 0), "just now", "a clock that was set back");
    }
}
