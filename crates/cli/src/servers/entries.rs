//! `evermoor add`, `remove`, `enable` and `disable`: entries of `config.toml`, whose comments stay.
//!
//! The file is all that is changed. A gateway that runs follows it by itself, and what it makes of
//! the change is waited for a moment, so that a person sees at once whether it works.

use std::path::Path;
use std::time::Duration;

use tokio::time::timeout;

use evermoor_client::Control;
use evermoor_core::api::{UpstreamState, UpstreamStatus};
use evermoor_core::config::ConfigError;
use evermoor_core::config::edit::{ConfigEdit, NewUpstream, ServerSpec};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;
use serde_json::json;

use crate::args::Add;
use crate::exit::Exit;
use crate::inspect::status::run_async;
use crate::servers::lookup;
use crate::terminal::{self, Progress};

/// What was done to an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Added,
    Removed,
    TurnedOn,
    TurnedOff,
}

impl Change {
    fn word(self) -> &'static str {
        match self {
            Self::Added => "Added",
            Self::Removed => "Removed",
            Self::TurnedOn => "Turned on",
            Self::TurnedOff => "Turned off",
        }
    }

    /// Whether the gateway has taken it over, and knows how it went.
    fn is_seen_in(self, link: &UpstreamState) -> bool {
        match self {
            Self::Removed => false,
            Self::TurnedOff => *link == UpstreamState::Off,
            Self::Added | Self::TurnedOn => {
                !matches!(link, UpstreamState::Off | UpstreamState::Connecting)
            }
        }
    }
}

/// How long a new upstream is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn add(paths: &Paths, new: Add) -> Exit {
    let Add { name, url, headers, preset, env, title, program } = new;
    let way = match (url, preset, program.split_first()) {
        (Some(url), _, _) => ServerSpec::Http { url, headers: headers.into_iter().collect() },
        (None, Some(preset), _) => ServerSpec::Preset(preset),
        (None, None, Some((command, args))) => ServerSpec::Program {
            command: command.clone(),
            args: args.to_vec(),
            env: env.into_iter().collect(),
            cwd: None,
        },
        (None, None, None) => return Exit::usage(&"Say --url, --preset, or -- and a program."),
    };
    let new = NewUpstream { name: name.clone(), title, way };
    change(paths, &name, Change::Added, |edit| edit.add_upstream(&new))
}

pub(crate) fn remove(paths: &Paths, name: &str) -> Exit {
    change(paths, name, Change::Removed, |edit| edit.remove_upstream(name))
}

pub(crate) fn enable(paths: &Paths, name: &str, enabled: bool) -> Exit {
    let done = if enabled { Change::TurnedOn } else { Change::TurnedOff };
    change(paths, name, done, |edit| edit.set_enabled(name, enabled))
}

fn change(
    paths: &Paths,
    name: &str,
    done: Change,
    edit: impl FnOnce(&mut ConfigEdit) -> Result<(), ConfigError>,
) -> Exit {
    if let Err(failure) = edited(&paths.config, name, edit) {
        return Exit::failed(&failure);
    }
    let progress = Progress::show("The gateway takes it over");
    let seen = Control::find(paths).map(|control| {
        let seen = run_async(async { timeout(PATIENCE, settled(&control, name, done)).await });
        seen.ok().and_then(Result::ok).flatten()
    });
    drop(progress);
    if terminal::manner().json {
        let upstream = seen.as_ref().and_then(Option::as_ref);
        let data = json!({ "name": name, "config": paths.config, "upstream": upstream });
        terminal::print_json(data);
        return Exit::Ok;
    }
    terminal::say(&format_args!("{} `{name}` in {}.", done.word(), paths.config.display()));
    match seen {
        None => terminal::remark(&"It holds from the next start; Evermoor is not running."),
        Some(Some(upstream)) => tell(&upstream),
        Some(None) => {}
    }
    Exit::Ok
}

/// Edits the file, or leaves it as it is.
fn edited(
    path: &Path,
    name: &str,
    change: impl FnOnce(&mut ConfigEdit) -> Result<(), ConfigError>,
) -> Result<(), Failure> {
    let told = |ConfigError { line, what, remedy }: ConfigError| {
        let place = line.map(|line| format!("config.toml, line {line}: ")).unwrap_or_default();
        Failure::new(Code::Configuration, format!("{place}{what}"), remedy)
    };
    let unusable = |error: std::io::Error| {
        let what = format!("{}: {error}.", path.display());
        Failure::new(Code::Configuration, what, "Make it a file of your own.")
    };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unusable(error)),
    };
    let mut edit = ConfigEdit::of(&text).map_err(told)?;
    let before = edit.before().clone();
    let known: Vec<&str> =
        before.upstreams.iter().chain(&before.off).map(|one| one.name.as_str()).collect();
    change(&mut edit).map_err(|mistake| match mistake.what.starts_with("There is no server") {
        true => lookup::unknown(name, known.iter().copied()),
        false => told(mistake),
    })?;
    let (text, _) = edit.done().map_err(|mistake| {
        // The line would be one of a file that is not written.
        told(ConfigError { line: None, ..mistake })
    })?;
    // A link stays a link: what it leads to is rewritten.
    let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    private::write_private(&place, text.as_bytes()).map_err(unusable)
}

/// What the gateway makes of it, once it has made something of it.
async fn settled(control: &Control, name: &str, done: Change) -> Option<UpstreamStatus> {
    let mut states = control.follow().await.ok()?;
    loop {
        let status = states.next().await?;
        let found = status.upstreams.into_iter().find(|upstream| upstream.name == name);
        match found {
            None if done == Change::Removed => return None,
            Some(upstream) if done.is_seen_in(&upstream.link) => return Some(upstream),
            None | Some(_) => {}
        }
    }
}

fn tell(upstream: &UpstreamStatus) {
    match &upstream.link {
        UpstreamState::Connected { .. } => {
            let tools = upstream.tool_count();
            terminal::say(&format_args!("{} is connected: {tools}.", upstream.title));
        }
        UpstreamState::Down { failure, .. } => terminal::remark(failure),
        UpstreamState::Off | UpstreamState::Connecting | UpstreamState::Paused { .. } => {}
    }
}
