//! `evermoor config`: finds, edits and checks `config.toml`. [`edit`] opens it in the user's editor.

mod edit;

use std::path::Path;

use evermoor_core::config::schema::SCHEMA;
use evermoor_core::config::{Config, ConfigError, MAX_FILE_SIZE};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::foreign;
use evermoor_platform::paths::Paths;
use serde_json::json;

use crate::args::ConfigAction;
use crate::exit::Exit;
use crate::terminal;

pub(crate) fn run(paths: &Paths, action: ConfigAction) -> Exit {
    match action {
        ConfigAction::Path => {
            let path = paths.config.display().to_string();
            match terminal::options().json {
                true => {
                    terminal::print_json(json!({ "path": path, "exists": paths.config.exists() }))
                }
                false => terminal::print(&path),
            }
            Exit::Ok
        }
        ConfigAction::Edit => edit::run(&paths.config),
        ConfigAction::Validate { file } => validate(&file.unwrap_or_else(|| paths.config.clone())),
        ConfigAction::Schema => {
            terminal::print(&SCHEMA.trim_end());
            Exit::Ok
        }
    }
}

/// Prints a summary of the file, or what is wrong with it. Writes nothing.
fn validate(path: &Path) -> Exit {
    let text = match foreign::read_text(path, MAX_FILE_SIZE) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let what = format!("{} does not exist.", path.display());
            let remedy = "To create it, run `evermoor add`. Until then, Evermoor serves a demo.";
            return Exit::failed(&Failure::new(Code::NotFound, what, remedy));
        }
        Err(error) => return Exit::failure(&format_args!("{}: {error}.", path.display())),
    };
    match Config::parse(&text) {
        Ok(config) => {
            print_summary(path, &config);
            Exit::Ok
        }
        Err(mistake) => {
            let failure = located(path, &mistake);
            if terminal::options().json {
                terminal::print_json(json!({ "valid": false, "mistake": of(&mistake) }));
                terminal::print_error(&failure);
            } else {
                let _ = Exit::failed(&failure);
            }
            Exit::BadConfiguration
        }
    }
}

/// A mistake with its file and line.
fn located(path: &Path, mistake: &ConfigError) -> Failure {
    let location = mistake.line.map(|line| format!(", line {line}")).unwrap_or_default();
    let what = format!("{}{location}: {}", path.display(), mistake.what);
    Failure::new(Code::Configuration, what, mistake.remedy.clone())
}

fn of(mistake: &ConfigError) -> serde_json::Value {
    json!({ "line": mistake.line, "what": mistake.what, "remedy": mistake.remedy })
}

fn print_summary(path: &Path, config: &Config) {
    let names = |all: &[evermoor_core::config::UpstreamConfig]| -> Vec<String> {
        all.iter().map(|upstream| upstream.name.to_string()).collect()
    };
    let warnings: Vec<serde_json::Value> = config.warnings.iter().map(of).collect();
    if terminal::options().json {
        let (on, off) = (names(&config.upstreams), names(&config.off));
        let data = json!({ "valid": true, "upstreams": on, "off": off, "warnings": warnings });
        return terminal::print_json(data);
    }
    terminal::print_message(&format_args!("{} is valid.", path.display()));
    for (what, names) in [("Servers", &config.upstreams), ("Turned off", &config.off)] {
        if !names.is_empty() {
            terminal::print_message(&format_args!("{what:<10}  {}", self::listed(names)));
        }
    }
    for doubt in &config.warnings {
        terminal::print_note(&located(path, doubt));
    }
}

fn listed(upstreams: &[evermoor_core::config::UpstreamConfig]) -> String {
    let names: Vec<&str> = upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
    names.join(", ")
}
