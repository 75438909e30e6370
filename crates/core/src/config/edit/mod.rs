//! Edits of `config.toml` that leave everything else as the person wrote it: comments, order and
//! layout stay.
//!
//! An edit begins with a file that is right and ends with one that is right as a whole, or it is
//! refused and there is nothing to write. Whoever edits reads the file, edits, and writes what
//! [`Edit::done`] gives; the gateway follows the file by itself.

mod change;
mod comments;
mod entry;
mod list;
mod path;
#[cfg(test)]
mod tests;

use toml_edit::DocumentMut;

use super::{Config, Mistake};
pub use entry::{NewUpstream, Way};
pub use list::hiding_pattern;

/// A file that is being edited.
#[derive(Clone, Debug)]
pub struct Edit {
    document: DocumentMut,
    before: Config,
    /// Whether its lines end as on Windows.
    carriage_returns: bool,
    was_empty: bool,
}

/// What a setting may be set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    Text(String),
    Flag(bool),
    Number(i64),
    Texts(Vec<String>),
}

impl Edit {
    /// Begins with the text of a file, which may be empty.
    pub fn of(text: &str) -> Result<Self, Mistake> {
        let before = Config::parse(text)?;
        let document = text.parse().map_err(|error: toml_edit::TomlError| {
            let what = format!("{}.", error.message().trim_end_matches('.'));
            Mistake { line: None, what, remedy: "Correct config.toml first.".into() }
        })?;
        let (carriage_returns, was_empty) = (text.contains("\r\n"), text.trim().is_empty());
        Ok(Self { document, before, carriage_returns, was_empty })
    }

    /// What the file said before.
    pub fn before(&self) -> &Config {
        &self.before
    }

    /// Sets what stands at this place, such as `["gateway", "hold"]`.
    pub fn set(&mut self, place: &[&str], setting: impl Into<Setting>) -> Result<(), Mistake> {
        let (key, tables) = place.split_last().ok_or_else(nowhere)?;
        let table = path::reach(self.document.as_item_mut(), tables)?;
        path::put(table, key, setting.into())
    }

    /// Takes out what stands at this place, so that it is as usual. The comments above it stay.
    pub fn unset(&mut self, place: &[&str]) {
        comments::take_out(&mut self.document, place);
    }

    /// Turns an upstream on or off.
    pub fn set_enabled(&mut self, upstream: &str, enabled: bool) -> Result<(), Mistake> {
        self.entry(upstream)?;
        match enabled {
            // On is what is usual.
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
    ) -> Result<(), Mistake> {
        self.entry(upstream)?;
        let all = self.before.upstreams.iter().chain(&self.before.off);
        let filter = all.clone().find(|one| one.name.as_str() == upstream);
        let filter = filter.map(|one| one.filters.tools.clone()).unwrap_or_default();
        list::set_shown(self, upstream, tool, shown, &filter)
    }

    /// Has the gateway listen on another port of the same address.
    pub fn set_port(&mut self, port: u16) -> Result<(), Mistake> {
        let mut listen = self.before.gateway.listen;
        listen.set_port(port);
        self.set(&["gateway", "listen"], listen.to_string())
    }

    /// Adds an upstream.
    pub fn add_upstream(&mut self, new: &NewUpstream) -> Result<(), Mistake> {
        entry::add(self.document.as_item_mut(), new)
    }

    /// Takes an upstream out, with all that is said of it in its own entry.
    pub fn remove_upstream(&mut self, upstream: &str) -> Result<(), Mistake> {
        self.entry(upstream)?;
        comments::take_out(&mut self.document, &["upstreams", upstream]);
        Ok(())
    }

    /// The text to write and what it says, if it is right as a whole.
    pub fn done(self) -> Result<(String, Config), Mistake> {
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

    /// There must be an entry for this upstream.
    fn entry(&self, upstream: &str) -> Result<(), Mistake> {
        let upstreams = self.document.get("upstreams").and_then(|item| item.as_table_like());
        match upstreams.is_some_and(|upstreams| upstreams.contains_key(upstream)) {
            true => Ok(()),
            false => Err(Mistake {
                line: None,
                what: format!("There is no server `{upstream}` in config.toml."),
                remedy: "Run `evermoor status` to list them.".into(),
            }),
        }
    }
}

fn nowhere() -> Mistake {
    let what = "A setting needs a place.".into();
    Mistake { line: None, what, remedy: "Name a table and a key.".into() }
}

impl From<&str> for Setting {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Setting {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<bool> for Setting {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<i64> for Setting {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<Vec<String>> for Setting {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}
