//! Validates single values of a preset file.
//!
//! Names from here become arguments of command lines, so the allowed characters are restricted.

use std::ops::RangeInclusive;
use std::time::Duration;

use toml::Spanned;

use super::super::{AppVersion, PlatformSpec};
use super::PresetReader;
use super::tables::{Ports, SystemTable};
use crate::config::memory_size;
use crate::config::{self, ConfigError, DurationText};

pub(super) type Text = Spanned<String>;

/// The largest port range, to keep scans short.
const MOST_PORTS: u16 = 100;

/// An error at this location.
pub(super) fn wrong<T>(text: &str, at: &Spanned<T>, what: String, remedy: &str) -> ConfigError {
    let line = Some(config::line(text, at.span().start));
    ConfigError { line, what, remedy: remedy.to_owned() }
}

impl PresetReader<'_> {
    pub(super) fn ports(&self, ports: &Spanned<Ports>) -> Result<RangeInclusive<u16>, ConfigError> {
        let range = match ports.get_ref() {
            Ports::One(port) => Some(*port..=*port),
            Ports::Text(words) => {
                let (from, to) = words.split_once('-').unwrap_or((words, words));
                let number = |word: &str| word.trim().parse::<u16>().ok();
                number(from).zip(number(to)).map(|(from, to)| from..=to)
            }
        };
        let good = |range: &RangeInclusive<u16>| {
            *range.start() > 0
                && range.start() <= range.end()
                && range.end() - range.start() < MOST_PORTS
        };
        range.filter(good).ok_or_else(|| {
            let what = "`ports` is not a port or a range of at most 100 ports.".to_owned();
            wrong(self.text, ports, what, "Write 3845, or \"39300-39333\".")
        })
    }

    pub(super) fn path(&self, path: &Text) -> Result<String, ConfigError> {
        self.checked_path(path, path.get_ref())
    }

    pub(super) fn checked_path(&self, at: &Text, path: &str) -> Result<String, ConfigError> {
        // Some URL parsers read a second slash as the start of a host.
        let good = path.starts_with('/')
            && !path.starts_with("//")
            && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        if good {
            return Ok(path.to_owned());
        }
        let what = format!("`{path}` is not a path on the app's own port.");
        Err(wrong(self.text, at, what, "Write a path from the root, such as \"/mcp\"."))
    }

    pub(super) fn pointer(&self, at: &Text) -> Result<String, ConfigError> {
        let pointer = at.get_ref();
        if pointer.is_empty() || pointer.starts_with('/') {
            return Ok(pointer.clone());
        }
        let what = format!("`{pointer}` is not a JSON pointer.");
        Err(wrong(self.text, at, what, "Write it like \"/user/name\"."))
    }

    pub(super) fn number(&self, version: &Text) -> Result<AppVersion, ConfigError> {
        AppVersion::parse(version.get_ref()).ok_or_else(|| {
            let what = format!("`{}` is not a version.", version.get_ref());
            wrong(self.text, version, what, "Write numbers with dots, such as \"12.0.0\".")
        })
    }

    pub(super) fn bytes(&self, amount: &Text) -> Result<u64, ConfigError> {
        memory_size::parse_bytes(amount.get_ref()).ok_or_else(|| {
            let what = format!("`{}` is not an amount of memory.", amount.get_ref());
            wrong(self.text, amount, what, "Write \"800 MB\" or \"2.5 GB\".")
        })
    }

    pub(super) fn duration(
        &self,
        span: Option<&Spanned<DurationText>>,
        default: Duration,
    ) -> Result<Duration, ConfigError> {
        config::duration(self.text, span, default)
    }

    pub(super) fn on_system(&self, table: &SystemTable) -> Result<PlatformSpec, ConfigError> {
        let name = |field: &Option<Text>| field.as_ref().map(|field| self.word(field)).transpose();
        let names = |fields: &[Text]| -> Result<Vec<String>, ConfigError> {
            fields.iter().map(|field| self.process(field)).collect()
        };
        let programs = table.programs.iter().map(|program| self.program(program));
        Ok(PlatformSpec {
            bundle: name(&table.bundle)?,
            app: table.app.as_ref().map(|app| self.process(app)).transpose()?,
            snap: name(&table.snap)?,
            flatpak: name(&table.flatpak)?,
            desktop: name(&table.desktop)?,
            store: name(&table.store)?,
            programs: programs.collect::<Result<_, _>>()?,
            args: table.args.clone(),
            url: table.url.as_ref().map(|url| self.launch_url(url)).transpose()?,
            signs: table.signs.clone(),
            processes: names(&table.processes)?,
            crashes: names(&table.crashes)?,
            logs: table.logs.clone(),
        })
    }

    /// The id of a package or bundle: `com.pieces.os`, `pieces-os`, `Vendor.App_8xyz!App`.
    fn word(&self, name: &Text) -> Result<String, ConfigError> {
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || b".-_!".contains(&byte);
        let good = name.get_ref().bytes().all(inside)
            && name.get_ref().starts_with(|first: char| first.is_ascii_alphanumeric());
        if good {
            return Ok(name.get_ref().clone());
        }
        let what = format!("`{}` is not an id.", name.get_ref());
        Err(wrong(
            self.text,
            name,
            what,
            "Write it as the system does, such as \"com.example.app\".",
        ))
    }

    /// The name of a file or a process, without a path.
    fn process(&self, name: &Text) -> Result<String, ConfigError> {
        let shown = name.get_ref();
        if !shown.trim().is_empty() && !shown.contains(['/', '\\', '\0', '"', '\'', '*', '\n']) {
            return Ok(name.get_ref().clone());
        }
        let what = format!("`{shown}` is not a process name.");
        Err(wrong(self.text, name, what, "Write the name alone, without a path."))
    }

    fn program(&self, name: &Text) -> Result<String, ConfigError> {
        let shown = name.get_ref();
        if !shown.trim().is_empty() && !shown.contains(['\0', '\n']) && !shown.starts_with('-') {
            return Ok(name.get_ref().clone());
        }
        let what = format!("`{shown}` is not a program.");
        Err(wrong(self.text, name, what, "Write its name or its path."))
    }

    /// Only the app's own scheme: other addresses would open a browser or a file.
    fn launch_url(&self, url: &Text) -> Result<String, ConfigError> {
        let parsed = url::Url::parse(url.get_ref()).ok();
        let ours = |url: &url::Url| {
            !["http", "https", "file", "javascript", "data", "ftp", "mailto", "ms-settings"]
                .contains(&url.scheme())
        };
        let plain = |url: &str| {
            url.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-:/?=_".contains(&byte))
        };
        if parsed.as_ref().is_some_and(ours) && plain(url.get_ref()) {
            return Ok(url.get_ref().clone());
        }
        let what = format!("`{}` is not an address that starts an app.", url.get_ref());
        Err(wrong(
            self.text,
            url,
            what,
            "Write one with the app's own scheme, such as \"pieces://launch\".",
        ))
    }
}
