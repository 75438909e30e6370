//! Writes the entry of a new upstream.

use std::collections::BTreeMap;

use toml_edit::{Array, InlineTable, Item, Value};

use super::{SettingValue, path};
use crate::config::ConfigError;

/// An upstream to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUpstream {
    pub name: String,
    pub title: Option<String>,
    pub way: ServerSpec,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerSpec {
    Preset(String),
    Http {
        url: String,
        headers: BTreeMap<String, String>,
        sign_in: Option<NewSignIn>,
    },
    Program {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, String>,
        cwd: Option<String>,
    },
}

/// How Evermoor signs in to a new server. Without a client it registers itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSignIn {
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    pub scopes: Vec<String>,
}

/// Adds an entry at the end. `Edit::done` validates it.
pub(super) fn add(root: &mut Item, new: &NewUpstream) -> Result<(), ConfigError> {
    let upstreams = root.get("upstreams").and_then(Item::as_table_like);
    if upstreams.is_some_and(|upstreams| upstreams.contains_key(&new.name)) {
        return Err(ConfigError {
            line: None,
            what: format!("A server named `{}` already exists.", new.name),
            remedy: format!("Choose another name, or run `evermoor remove {}` first.", new.name),
        });
    }
    let table = path::reach(root, &["upstreams", &new.name])?;
    let mut put = |key: &str, value: Value| drop(table.insert(key, Item::Value(value)));
    if let Some(title) = &new.title {
        put("title", title.into());
    }
    match &new.way {
        ServerSpec::Preset(preset) => put("preset", preset.into()),
        ServerSpec::Http { url, headers, sign_in } => {
            put("url", url.into());
            if !headers.is_empty() {
                put("headers", braces(headers));
            }
            if let Some(sign_in) = sign_in {
                put("auth", "oauth".into());
                if *sign_in != NewSignIn::default() {
                    put("oauth", oauth(sign_in));
                }
            }
        }
        ServerSpec::Program { command, args, env, cwd } => {
            put("command", command.into());
            if !args.is_empty() {
                put("args", Value::Array(args.iter().collect::<Array>()));
            }
            if !env.is_empty() {
                put("env", braces(env));
            }
            if let Some(cwd) = cwd {
                put("cwd", cwd.into());
            }
        }
    }
    Ok(())
}

fn oauth(sign_in: &NewSignIn) -> Value {
    let mut table = InlineTable::new();
    if let Some(id) = &sign_in.client_id {
        table.insert("client_id", id.into());
    }
    if let Some(secret) = &sign_in.client_secret {
        table.insert("client_secret", secret.into());
    }
    if !sign_in.scopes.is_empty() {
        table.insert("scopes", Value::Array(sign_in.scopes.iter().collect::<Array>()));
    }
    Value::InlineTable(table)
}

fn braces(pairs: &BTreeMap<String, String>) -> Value {
    let pairs =
        pairs.iter().map(|(name, value)| (name.clone(), SettingValue::from(value.as_str())));
    Value::InlineTable(
        pairs.map(|(name, value)| (name, Value::from(value))).collect::<InlineTable>(),
    )
}
