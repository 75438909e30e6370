//! Edits of `config.toml` that keep comments, order and layout.
//!
//! An edit starts from a valid file and ends with a valid file, or it is refused. The caller reads
//! the file, edits it, and writes the result of [`ConfigEdit::done`]; the gateway reloads the file when it
//! changes.
//!
//! `change` applies a settings change of the dashboard, `list` edits single entries of filter lists,
//! `entry` writes a new upstream, `path` finds or creates tables, and `comments` removes items but
//! keeps comments.

mod change;
mod comments;
mod entry;
mod list;
mod path;
#[cfg(test)]
mod tests;

use toml_edit::DocumentMut;

use super::{Config, ConfigError};
pub use entry::{NewSignIn, NewUpstream, ServerSpec};
pub use list::hiding_pattern;

/// An edit in progress.
#[derive(Clone, Debug)]
pub struct ConfigEdit {
    document: DocumentMut,
    before: Config,
    /// Whether lines end with CRLF.
    carriage_returns: bool,
    was_empty: bool,
}

/// The value of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    Text(String),
    Flag(bool),
    Number(i64),
    Texts(Vec<String>),
}

impl ConfigEdit {
    /// Starts an edit of a file, which may be empty.
    pub fn of(text: &str) -> Result<Self, ConfigError> {
        let before = Config::parse(text)?;
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            let what = format!("{}.", error.message().trim_end_matches('.'));
            ConfigError { line: None, what, remedy: "Fix config.toml first.".into() }
        })?;
        let (carriage_returns, was_empty) = (text.contains("\r\n"), text.trim().is_empty());
        Ok(Self { document, before, carriage_returns, was_empty })
    }

    /// The configuration before the edit.
    pub fn before(&self) -> &Config {
        &self.before
    }

    /// Sets the value at this path, such as `["gateway", "hold"]`.
    pub fn set(
        &mut self,
        keys: &[&str],
        setting: impl Into<SettingValue>,
    ) -> Result<(), ConfigError> {
        let (key, tables) = keys.split_last().ok_or_else(nowhere)?;
        let table = path::reach(self.document.as_item_mut(), tables)?;
        path::put(table, key, setting.into())
    }

    /// Removes the value at this path, so that the default applies. Comments above it are kept.
    pub fn unset(&mut self, keys: &[&str]) {
        comments::take_out(&mut self.document, keys);
    }

    /// Turns an upstream on or off.
    pub fn set_enabled(&mut self, upstream: &str, enabled: bool) -> Result<(), ConfigError> {
        self.entry(upstream)?;
        match enabled {
            // Enabled is the default.
            true => self.unset(&["upstreams", upstream, "enabled"]),
            false => self.set(&["upstreams", upstream, "enabled"], false)?,
        }
        Ok(())
    }

    /// Shows a tool to editors, or hides it from all of them.
    pub fn set_tool_shown(
        &mut self,
        upstream: &str,
        tool: &str,
        shown: bool,
    ) -> Result<(), ConfigError> {
        self.entry(upstream)?;
        let all = self.before.upstreams.iter().chain(&self.before.off);
        let filter = all.clone().find(|one| one.name.as_str() == upstream);
        let filter = filter.map(|one| one.filters.tools.clone()).unwrap_or_default();
        list::set_shown(self, upstream, tool, shown, &filter)
    }

    /// Sets the port of the listen address.
    pub fn set_port(&mut self, port: u16) -> Result<(), ConfigError> {
        let mut listen = self.before.gateway.listen;
        listen.set_port(port);
        self.set(&["gateway", "listen"], listen.to_string())
    }

    /// Adds an upstream.
    pub fn add_upstream(&mut self, new: &NewUpstream) -> Result<(), ConfigError> {
        entry::add(self.document.as_item_mut(), new)
    }

    /// Removes an upstream's entry.
    pub fn remove_upstream(&mut self, upstream: &str) -> Result<(), ConfigError> {
        self.entry(upstream)?;
        comments::take_out(&mut self.document, &["upstreams", upstream]);
        Ok(())
    }

    /// The text to write and its configuration, if it is valid.
    pub fn done(self) -> Result<(String, Config), ConfigError> {
        let mut text = self.document.to_string();
        if self.was_empty {
            text = text.trim_start().to_owned();
        }
        if self.carriage_returns {
            text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
        let config = Config::parse(&text)?;
        Ok((text, config))
    }

    /// Whether the upstream has an entry.
    pub fn has_upstream(&self, upstream: &str) -> bool {
        let upstreams = self.document.get("upstreams").and_then(|item| item.as_table_like());
        upstreams.is_some_and(|upstreams| upstreams.contains_key(upstream))
    }

    /// Checks that the upstream has an entry.
    fn entry(&self, upstream: &str) -> Result<(), ConfigError> {
        match self.has_upstream(upstream) {
            true => Ok(()),
            false => Err(ConfigError {
                line: None,
                what: format!("There is no server `{upstream}` in config.toml."),
                remedy: "`evermoor status` lists the servers.".into(),
            }),
        }
    }
}

fn nowhere() -> ConfigError {
    let what = "A setting needs a path.".into();
    ConfigError { line: None, what, remedy: "Name a table and a key.".into() }
}

impl From<&str> for SettingValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for SettingValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for SettingValue {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<i64> for SettingValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<Vec<String>> for SettingValue {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}
