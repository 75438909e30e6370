//! `evermoor add`, `remove`, `enable` and `disable`: change entries in `config.toml` and keep its
//! comments.
//!
//! Only the file is changed. A running gateway reloads it automatically; the command waits for the
//! result, so that the user sees at once whether it works.

use std::path::Path;
use std::time::Duration;

use tokio::time::timeout;

use evermoor_client::ControlClient;
use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::config::edit::{ConfigEdit, NewUpstream, ServerSpec};
use evermoor_core::config::{ConfigError, MAX_FILE_SIZE};
use evermoor_core::failure::{Code, Failure};
use evermoor_gateway::config::programs::Programs;
use evermoor_platform::fs::{foreign, private};
use evermoor_platform::paths::Paths;
use serde_json::json;

use crate::args::Add;
use crate::exit::Exit;
use crate::runtime::run_async;
use crate::servers::lookup;
use crate::terminal::{self, Progress};

/// What was done to an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UpstreamEdit {
    Added,
    Removed,
    TurnedOn,
    TurnedOff,
}

impl UpstreamEdit {
    /// What to print once the file is written.
    fn sentence(self, name: &str, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Added => format!("Added `{name}` to {path}."),
            Self::Removed => format!("Removed `{name}` from {path}."),
            Self::TurnedOn => format!("Turned on `{name}` in {path}."),
            Self::TurnedOff => format!("Turned off `{name}` in {path}."),
        }
    }

    /// Whether the gateway has applied the change and knows the result.
    fn is_applied(self, link: &UpstreamState) -> bool {
        match self {
            Self::Removed => false,
            Self::TurnedOff => *link == UpstreamState::Off,
            Self::Added | Self::TurnedOn => {
                !matches!(link, UpstreamState::Off | UpstreamState::Connecting)
            }
        }
    }
}

/// How long to wait for the gateway to apply the change.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn add(paths: &Paths, new: Add) -> Exit {
    let Add { name, url, headers, preset, env, title, program } = new;
    let way = match (url, preset, program.split_first()) {
        (Some(url), _, _) => {
            ServerSpec::Http { url, headers: headers.into_iter().collect(), sign_in: None }
        }
        (None, Some(preset), _) => ServerSpec::Preset(preset),
        (None, None, Some((command, args))) => ServerSpec::Program {
            command: command.clone(),
            args: args.to_vec(),
            env: env.into_iter().collect(),
            cwd: None,
        },
        (None, None, None) => return Exit::usage(&"Give --url, --preset, or -- and a program."),
    };
    let new = NewUpstream { name: name.clone(), title, way };
    change(paths, &name, UpstreamEdit::Added, |edit| edit.add_upstream(&new))
}

pub(crate) fn remove(paths: &Paths, name: &str) -> Exit {
    change(paths, name, UpstreamEdit::Removed, |edit| edit.remove_upstream(name))
}

pub(crate) fn enable(paths: &Paths, name: &str, enabled: bool) -> Exit {
    let done = if enabled { UpstreamEdit::TurnedOn } else { UpstreamEdit::TurnedOff };
    change(paths, name, done, |edit| edit.set_enabled(name, enabled))
}

fn change(
    paths: &Paths,
    name: &str,
    done: UpstreamEdit,
    edit: impl FnOnce(&mut ConfigEdit) -> Result<(), ConfigError>,
) -> Exit {
    if let Err(failure) = edited(paths, name, done, edit) {
        return Exit::failed(&failure);
    }
    let progress = Progress::show("Waiting for the gateway");
    let seen = ControlClient::find(paths).map(|control| {
        let seen =
            run_async(async { timeout(SETTLE_TIMEOUT, settled(&control, name, done)).await });
        seen.ok().and_then(Result::ok).flatten()
    });
    drop(progress);
    if terminal::options().json {
        let upstream = seen.as_ref().and_then(Option::as_ref);
        let data = json!({ "name": name, "config": paths.config, "upstream": upstream });
        terminal::print_json(data);
        return Exit::Ok;
    }
    terminal::print_message(&done.sentence(name, &paths.config));
    match seen {
        None => {
            terminal::print_note(&"Evermoor is not running. The change applies when it starts.");
        }
        Some(Some(upstream)) => print_result(&upstream),
        Some(None) => {}
    }
    Exit::Ok
}

/// Edits the file. On an error, the file stays unchanged.
fn edited(
    paths: &Paths,
    name: &str,
    done: UpstreamEdit,
    change: impl FnOnce(&mut ConfigEdit) -> Result<(), ConfigError>,
) -> Result<(), Failure> {
    let path = &paths.config;
    let locate = |ConfigError { line, what, remedy }: ConfigError| {
        let location = line.map(|line| format!("config.toml, line {line}: ")).unwrap_or_default();
        Failure::new(Code::Configuration, format!("{location}{what}"), remedy)
    };
    let unusable = |error: std::io::Error| {
        let what = format!("{}: {error}.", path.display());
        Failure::new(Code::Configuration, what, "Make sure that you can read and write it.")
    };
    let text = match foreign::read_text(path, MAX_FILE_SIZE) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unusable(error)),
    };
    let mut edit = ConfigEdit::of(&text).map_err(locate)?;
    if done != UpstreamEdit::Added && !edit.has_upstream(name) {
        let before = edit.before();
        let known = before.upstreams.iter().chain(&before.off).map(|one| one.name.as_str());
        return Err(lookup::unknown(name, known));
    }
    change(&mut edit).map_err(locate)?;
    let before = edit.before().clone();
    let (text, after) = edit.done().map_err(|mistake| {
        // The line number would refer to text that was not written.
        locate(ConfigError { line: None, ..mistake })
    })?;
    // Before the gateway reads the file, so that it does not report this program.
    Programs::new(paths.programs_file()).record(&before, &after).map_err(unusable)?;
    // Follow a symlink and rewrite its target.
    let location = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    private::write_private(&location, text.as_bytes()).map_err(unusable)
}

/// Waits until the gateway has applied the change. Returns the upstream, unless it was removed.
async fn settled(
    control: &ControlClient,
    name: &str,
    done: UpstreamEdit,
) -> Option<UpstreamStatus> {
    let mut states = control.follow().await.ok()?;
    loop {
        let status = states.next().await?;
        let found = status.upstreams.into_iter().find(|upstream| upstream.name == name);
        match found {
            None if done == UpstreamEdit::Removed => return None,
            Some(upstream) if done.is_applied(&upstream.link) => return Some(upstream),
            None | Some(_) => {}
        }
    }
}

fn print_result(upstream: &UpstreamStatus) {
    match &upstream.link {
        UpstreamState::Connected { .. } => {
            let tools = upstream.tool_count();
            terminal::print_message(&format_args!("{} is connected: {tools}.", upstream.title));
        }
        UpstreamState::Down { failure, .. } => terminal::print_note(failure),
        UpstreamState::Off | UpstreamState::Connecting | UpstreamState::Paused { .. } => {}
    }
}
