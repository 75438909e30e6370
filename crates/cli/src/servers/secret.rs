//! `evermoor secret`: manages the upstreams' secrets in the system's keychain.
//!
//! A value comes from a prompt or from stdin. It is never an argument, because every program on the
//! machine can read those.

use std::io::{IsTerminal as _, Read as _};

use evermoor_client::ControlClient;
use evermoor_core::config::{Config, UpstreamConfig};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::security::redaction::known;
use evermoor_core::security::redaction::known::Secret;
use evermoor_core::security::secret_ref;
use evermoor_core::security::secret_ref::SecretRef;
use evermoor_gateway::config::{file, secrets};
use evermoor_platform::keychain::{Keychain, KeychainError, Prompting};
use evermoor_platform::paths::Paths;

use crate::args::SecretAction;
use crate::exit::Exit;
use crate::runtime::run_async;
use crate::terminal::{self, Palette};

/// The longest value, in bytes.
const MAX_VALUE: u64 = 64 << 10;

pub(crate) fn run(paths: &Paths, action: SecretAction) -> Exit {
    let json = terminal::options().json;
    let keychain = Keychain::system_default(Prompting::Allowed);
    let done = match action {
        SecretAction::Set { name } => set(paths, &keychain, &name, json),
        SecretAction::Unlock => unlock(paths, &keychain, json),
        SecretAction::List => list(paths, &keychain, json),
        SecretAction::Remove { name } => remove(paths, &keychain, &name, json),
    };
    match done {
        Ok(()) => Exit::Ok,
        Err(failure) => Exit::failed(&failure),
    }
}

fn set(paths: &Paths, keychain: &Keychain, name: &str, json: bool) -> Result<(), Failure> {
    check(name)?;
    let value = read_value(name)?;
    ask(keychain.set(name, value.reveal()))?;
    let users = notify_gateway(paths, name);
    let hidden = value.reveal().trim().len() >= known::MIN_SECRET_LENGTH;
    if json {
        let data =
            serde_json::json!({ "name": name, "reconnected": users, "hiddenInLogs": hidden });
        terminal::print_json(data);
        return Ok(());
    }
    let good = Palette::for_output().good;
    terminal::print(&format_args!("{good}Stored `{name}` in the keychain.{good:#}"));
    if !hidden {
        terminal::print_note(&format_args!(
            "It is shorter than {} characters. If a server prints it, Evermoor cannot hide it in \
             the log. Use a longer one if you can.",
            known::MIN_SECRET_LENGTH
        ));
    }
    match users.as_slice() {
        [] => terminal::print_note(&format_args!(
            "To use it, write `${{keyring:{name}}}` in a server's `headers`, `url` or `env`."
        )),
        users => terminal::print_note(&format_args!("Reconnecting: {}.", users.join(", "))),
    }
    Ok(())
}

/// Lets the system ask for everything that the gateway may not ask for: the password of the keychain,
/// and on macOS the permission to read each secret.
fn unlock(paths: &Paths, keychain: &Keychain, json: bool) -> Result<(), Failure> {
    ask(keychain.unlock())?;
    let (mut readable, mut missing, mut reconnected) = (Vec::new(), Vec::new(), Vec::new());
    for name in needed(&config(paths)) {
        match ask(keychain.get(&name))? {
            Some(_) => {
                reconnected.extend(notify_gateway(paths, &name));
                readable.push(name);
            }
            None => missing.push(name),
        }
    }
    reconnected.sort();
    reconnected.dedup();
    if json {
        let data = serde_json::json!({ "readable": readable, "missing": missing, "reconnected": reconnected });
        terminal::print_json(data);
        return Ok(());
    }
    let good = Palette::for_output().good;
    let secrets = match readable.len() {
        0 => "no server needs a secret from it".to_owned(),
        1 => "Evermoor can read the secret that is needed".to_owned(),
        count => format!("Evermoor can read the {count} secrets that are needed"),
    };
    terminal::print(&format_args!("{good}The keychain is unlocked; {secrets}.{good:#}"));
    for name in &missing {
        terminal::print_note(&format_args!(
            "`{name}` is missing. Run `evermoor secret set {name}`."
        ));
    }
    if !reconnected.is_empty() {
        terminal::print_note(&format_args!("Reconnecting: {}.", reconnected.join(", ")));
    }
    Ok(())
}

fn list(paths: &Paths, keychain: &Keychain, json: bool) -> Result<(), Failure> {
    let mut kept = ask(keychain.list())?;
    // Sign-ins are kept under other names.
    kept.retain(|name| secret_ref::check_name(name).is_ok());
    let config = config(paths);
    let missing = missing(&config, &kept);
    let row = |name: &String, is_set: bool| (name.clone(), is_set, users(&config, name));
    let rows: Vec<(String, bool, Vec<String>)> = kept
        .iter()
        .map(|name| row(name, true))
        .chain(missing.iter().map(|name| row(name, false)))
        .collect();
    if json {
        let secret = |(name, set, users): &(String, bool, Vec<String>)| serde_json::json!({ "name": name, "set": set, "upstreams": users });
        let secrets: Vec<_> = rows.iter().map(secret).collect();
        terminal::print_json(serde_json::json!({ "secrets": secrets }));
        return Ok(());
    }
    if rows.is_empty() {
        terminal::print_note(
            &"There are no secrets. To store one, run `evermoor secret set NAME`.",
        );
    }
    let cells = |(name, set, users): &(String, bool, Vec<String>)| {
        let state = if *set { "set" } else { "not set" };
        let used = match users.as_slice() {
            [] => "not used".to_owned(),
            users => format!("used by {}", users.join(", ")),
        };
        vec![name.clone(), state.to_owned(), used]
    };
    for line in terminal::columns(&rows.iter().map(cells).collect::<Vec<_>>(), terminal::width()) {
        terminal::print(&line);
    }
    Ok(())
}

fn remove(paths: &Paths, keychain: &Keychain, name: &str, json: bool) -> Result<(), Failure> {
    check(name)?;
    if !ask(keychain.delete(name))? {
        let what = format!("There is no secret `{name}`.");
        return Err(Failure::new(Code::NotFound, what, "Run `evermoor secret list` to list them."));
    }
    let users = users(&config(paths), name);
    if json {
        terminal::print_json(serde_json::json!({ "name": name, "upstreams": users }));
        return Ok(());
    }
    let good = Palette::for_output().good;
    terminal::print(&format_args!("{good}Removed `{name}` from the keychain.{good:#}"));
    if !users.is_empty() {
        let users = users.join(", ");
        terminal::print_note(&format_args!("These servers still refer to it: {users}."));
    }
    Ok(())
}

fn check(name: &str) -> Result<(), Failure> {
    secret_ref::check_name(name)
        .map_err(|bad| Failure::new(Code::Refused, bad.to_string(), bad.remedy()))
}

/// Reads the value from a hidden prompt or from stdin.
fn read_value(name: &str) -> Result<Secret, Failure> {
    let unread = |error: std::io::Error| {
        let what = format!("The value cannot be read: {error}.");
        Failure::new(Code::Refused, what, "Type it at the prompt, or pipe it to stdin.")
    };
    let value = if std::io::stdin().is_terminal() {
        rpassword::prompt_password(format!("Value of `{name}` (hidden): ")).map_err(unread)?
    } else {
        let mut value = String::new();
        std::io::stdin().take(MAX_VALUE).read_to_string(&mut value).map_err(unread)?;
        value
    };
    match value.trim_end_matches(['\r', '\n']) {
        "" => {
            let what = "The value is empty.";
            let remedy = "Type it at the prompt, or pipe it to stdin.";
            Err(Failure::new(Code::Refused, what, remedy))
        }
        value => Ok(Secret::new(value)),
    }
}

fn ask<T>(question: impl Future<Output = Result<T, KeychainError>>) -> Result<T, Failure> {
    match run_async(question) {
        Ok(answer) => answer.map_err(|error| secrets::keychain_failure(&error, None)),
        Err(error) => Err(Failure::new(Code::Internal, format!("{error}."), "Try again.")),
    }
}

/// Reports the change to a running gateway. Returns the upstreams that reconnect.
fn notify_gateway(paths: &Paths, name: &str) -> Vec<String> {
    let Some(control) = ControlClient::find(paths) else { return Vec::new() };
    match run_async(control.secret_changed(name)) {
        Ok(Ok(users)) => users,
        Ok(Err(_)) | Err(_) => Vec::new(),
    }
}

/// The configuration; the default if it cannot be read.
fn config(paths: &Paths) -> Config {
    file::read(&paths.config).ok().flatten().unwrap_or_default()
}

fn all(config: &Config) -> impl Iterator<Item = &UpstreamConfig> {
    config.upstreams.iter().chain(&config.off)
}

/// The upstreams that refer to a secret.
fn users(config: &Config, name: &str) -> Vec<String> {
    let wanted = SecretRef::Keyring(name.to_owned());
    let refers = |upstream: &&UpstreamConfig| upstream.transport.references().contains(&&wanted);
    all(config).filter(refers).map(|upstream| upstream.name.to_string()).collect()
}

/// The sorted secrets that upstreams refer to.
fn needed(config: &Config) -> Vec<String> {
    let mut needed: Vec<String> = all(config)
        .flat_map(|upstream| upstream.transport.references())
        .filter_map(|reference| match reference {
            SecretRef::Keyring(name) => Some(name.clone()),
            SecretRef::Env(_) | SecretRef::File(_) => None,
        })
        .collect();
    needed.sort();
    needed.dedup();
    needed
}

/// The secrets that upstreams refer to but the keychain does not have.
fn missing(config: &Config, kept: &[String]) -> Vec<String> {
    needed(config).into_iter().filter(|name| !kept.contains(name)).collect()
}
