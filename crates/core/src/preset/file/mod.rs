//! Parses a preset file.
//!
//! As in `config.toml`, an error has its line and says what to write instead.
//!
//! `tables` has the tables as serde reads them, and `validate` checks single values and the tables of a
//! system. This file turns the tables into a preset. A new field goes into `tables`, into `Preset` or
//! `PlatformSpec`, into the conversion here (for a field of one system, `validate::on_system`), and into
//! `docs/presets.md`.

mod tables;
mod validate;

use std::time::Duration;

use toml::Spanned;

use self::tables::{
    AskTable, FindTable, MemoryTable, PresetTables, PresetToolTable, RequestTable, SystemTable,
    TellTable, VersionTable, WordsTable,
};
use self::validate::{Text, wrong};
use super::{
    AppRequest, Condition, ConditionKind, ConditionText, Discovery, EndpointTransport, Expectation,
    ExpectedBody, MemoryLimits, PlatformSpec, Preset, PresetEndpoint, PresetTool, Probe,
    ProbeMethod, ValueCheck, VersionCheck,
};
use crate::config::ConfigError;

/// The default time limit of a restart or a quit.
const WITHIN: Duration = Duration::from_secs(15);
/// The default time without calls after which an app counts as idle.
const IDLE: Duration = Duration::from_secs(120);

impl Preset {
    /// Parses a preset. `base` looks up the preset that it extends, if any.
    pub fn parse<'a>(
        name: &str,
        text: &str,
        base: impl Fn(&str) -> Option<&'a Preset>,
    ) -> Result<Self, ConfigError> {
        let file: PresetTables = toml::from_str(text).map_err(|error| {
            let what = format!("{}.", error.message().trim_end_matches('.'));
            let line = error.span().map(|span| crate::config::line(text, span.start));
            ConfigError {
                line,
                what,
                remedy: "Fix the line; see presets/pieces-os.toml for an example.".into(),
            }
        })?;
        let base = match &file.extends {
            Some(named) => Some(base(named.get_ref()).ok_or_else(|| {
                let what = format!("There is no preset `{}` to extend.", named.get_ref());
                wrong(text, named, what, "Write the name of a preset that comes with Evermoor.")
            })?),
            None => None,
        };
        PresetReader { text }.preset(name, file, base)
    }
}

/// Reads the tables of one file.
struct PresetReader<'t> {
    text: &'t str,
}

impl PresetReader<'_> {
    fn preset(
        &self,
        name: &str,
        file: PresetTables,
        base: Option<&Preset>,
    ) -> Result<Preset, ConfigError> {
        let title = file.title.or_else(|| base.map(|base| base.title.clone()));
        let find = part(file.find.as_ref(), |table| self.find(table), base.map(|it| &it.find))?;
        let endpoints = |tables: &Vec<_>| tables.iter().map(|table| self.endpoint(table)).collect();
        let mcp = part(file.mcp.as_ref(), endpoints, base.map(|it| &it.mcp))?;
        let (Some(title), Some(find)) = (title, find) else {
            let remedy = "Write title = \"…\", and a table [find] with `ports`.";
            return Err(missing("`title` and `[find]`", remedy));
        };
        let Some(mcp) = mcp.filter(|mcp: &Vec<PresetEndpoint>| !mcp.is_empty()) else {
            let remedy = "Write a table [[mcp]] with `transport` and `path`.";
            return Err(missing("an endpoint", remedy));
        };
        let tells = |tables: &Vec<_>| tables.iter().map(|table| self.tell(table)).collect();
        let ask = |table: &AskTable| self.ask(table);
        let request = |table: &RequestTable| self.request(table);
        let words = |table: &WordsTable| {
            Ok(ConditionText { what: table.what.clone(), remedy: table.remedy.clone() })
        };
        let on = |table: &SystemTable| self.on_system(table);
        let of = |kept: fn(&Preset) -> Option<&PlatformSpec>| base.and_then(kept);
        let preset = Preset {
            name: name.to_owned(),
            title,
            about: file.about.or_else(|| base.and_then(|it| it.about.clone())),
            unsaved_work: file.unsaved_work.unwrap_or(base.is_some_and(|it| it.unsaved_work)),
            concurrent: file.concurrent.or(base.and_then(|it| it.concurrent)),
            find,
            mcp,
            health: part(file.health.as_ref(), ask, base.and_then(|it| it.health.as_ref()))?,
            version: part(
                file.version.as_ref(),
                |table| self.version(table),
                base.and_then(|it| it.version.as_ref()),
            )?,
            restart: part(file.restart.as_ref(), request, base.and_then(|it| it.restart.as_ref()))?,
            quit: part(file.quit.as_ref(), request, base.and_then(|it| it.quit.as_ref()))?,
            relief: part(file.relief.as_ref(), request, base.and_then(|it| it.relief.as_ref()))?,
            memory: part(
                file.memory.as_ref(),
                |table| self.memory(table),
                base.and_then(|it| it.memory.as_ref()),
            )?,
            tools: part(file.tools.as_ref(), |tools| known_tools(tools), base.map(|it| &it.tools))?
                .unwrap_or_default(),
            tells: part(file.tells.as_ref(), tells, base.map(|it| &it.tells))?.unwrap_or_default(),
            off: part(file.off.as_ref(), words, base.and_then(|it| it.off.as_ref()))?,
            macos: part(file.macos.as_ref(), on, of(|it| it.macos.as_ref()))?,
            linux: part(file.linux.as_ref(), on, of(|it| it.linux.as_ref()))?,
            windows: part(file.windows.as_ref(), on, of(|it| it.windows.as_ref()))?,
        };
        let systems = [&preset.macos, &preset.linux, &preset.windows];
        let named = systems.iter().any(|on| on.as_ref().is_some_and(|on| !on.processes.is_empty()));
        if preset.find.owner && !named {
            let remedy = "Write processes = [\"…\"] in [macos], [linux] or [windows].";
            return Err(missing("process names, because it has owner = true", remedy));
        }
        Ok(preset)
    }

    fn find(&self, table: &Spanned<FindTable>) -> Result<Discovery, ConfigError> {
        let inner = table.get_ref();
        let identity: Vec<Probe> =
            inner.identity.iter().map(|ask| self.ask(ask)).collect::<Result<_, _>>()?;
        let owner = inner.owner.unwrap_or(false);
        if identity.is_empty() && !owner {
            let what = "`[find]` does not say how to recognise the app.".into();
            let remedy = "Write a table [[find.identity]] with `ask`, or owner = true.";
            return Err(wrong(self.text, table, what, remedy));
        }
        Ok(Discovery { ports: self.ports(&inner.ports)?, owner, identity })
    }

    fn endpoint(&self, table: &tables::EndpointTable) -> Result<PresetEndpoint, ConfigError> {
        let wire = match table.transport {
            tables::WireName::Http => EndpointTransport::Http,
            tables::WireName::Sse => EndpointTransport::Sse,
        };
        Ok(PresetEndpoint { wire, path: self.path(&table.path)? })
    }

    fn ask(&self, table: &AskTable) -> Result<Probe, ConfigError> {
        let body = match (&table.body, &table.starts, &table.at) {
            (None, None, None) => ExpectedBody::Anything,
            (None, Some(start), None) => ExpectedBody::Starts(start.clone()),
            (Some(tables::BodyName::Version), None, None) => {
                ExpectedBody::Version { also: table.also.clone() }
            }
            (None, None, Some(at)) => self.json(at, table.is, table.equals.as_deref())?,
            _ => {
                let what = "The answer is described twice.".into();
                let remedy = "Keep one of `body`, `starts` and `at`.";
                return Err(wrong(self.text, &table.ask, what, remedy));
            }
        };
        self.question(&table.ask, table.status, body)
    }

    fn json(
        &self,
        at: &Text,
        is: Option<tables::IsName>,
        equals: Option<&str>,
    ) -> Result<ExpectedBody, ConfigError> {
        let is = match (is, equals) {
            (Some(tables::IsName::Present), None) => ValueCheck::Present,
            (Some(tables::IsName::Absent), None) => ValueCheck::Absent,
            (None, Some(wanted)) => ValueCheck::Equal(wanted.to_owned()),
            _ => {
                let what = "The expected value is missing.".into();
                let remedy = "Write is = \"present\", is = \"absent\" or equals = \"…\".";
                return Err(wrong(self.text, at, what, remedy));
            }
        };
        Ok(ExpectedBody::Json { at: self.pointer(at)?, is })
    }

    fn question(
        &self,
        ask: &Text,
        status: Option<u16>,
        body: ExpectedBody,
    ) -> Result<Probe, ConfigError> {
        let (method, path) = ask.get_ref().split_once(' ').unwrap_or_default();
        let method = match method {
            "GET" => ProbeMethod::Get,
            "HEAD" => ProbeMethod::Head,
            "POST" => ProbeMethod::Post,
            _ => {
                let what = format!("`{}` is not a request.", ask.get_ref());
                return Err(wrong(
                    self.text,
                    ask,
                    what,
                    "Write a method and a path, such as \"GET /health\".",
                ));
            }
        };
        let path = self.checked_path(ask, path)?;
        Ok(Probe { method, path, expect: Expectation { status, body } })
    }

    fn request(&self, table: &RequestTable) -> Result<AppRequest, ConfigError> {
        let ask = self.question(&table.ask, table.status, ExpectedBody::Anything)?;
        Ok(AppRequest { ask, within: self.duration(table.within.as_ref(), WITHIN)? })
    }

    fn version(&self, table: &VersionTable) -> Result<VersionCheck, ConfigError> {
        let (from, before) = (self.number(&table.from)?, self.number(&table.before)?);
        if from >= before {
            let what = format!("No version is at least {from} and below {before}.");
            return Err(wrong(self.text, &table.before, what, "Write a higher one."));
        }
        Ok(VersionCheck {
            ask: self.question(&table.ask, None, ExpectedBody::Anything)?,
            at: table.at.as_ref().map(|at| self.pointer(at)).transpose()?,
            from,
            before,
            also: table.also.clone(),
        })
    }

    fn memory(&self, table: &MemoryTable) -> Result<MemoryLimits, ConfigError> {
        let (normal, alarm) = (self.bytes(&table.normal)?, self.bytes(&table.alarm)?);
        if normal > alarm {
            let what = "`normal` is higher than `alarm`.".into();
            return Err(wrong(self.text, &table.alarm, what, "Write a higher `alarm`."));
        }
        Ok(MemoryLimits { normal, alarm, idle: self.duration(table.idle.as_ref(), IDLE)? })
    }

    fn tell(&self, table: &TellTable) -> Result<Condition, ConfigError> {
        let kind = match (table.state, &table.name) {
            (tables::TellName::SignedOut, _) => ConditionKind::SignedOut,
            (tables::TellName::FeatureOff, Some(name)) => {
                ConditionKind::FeatureOff { name: name.clone() }
            }
            (tables::TellName::FeatureOff, None) => {
                let what = "The name of the feature that is off is missing.".into();
                return Err(wrong(self.text, &table.ask, what, "Write name = \"…\"."));
            }
        };
        let body = self.json(&table.at, table.is, table.equals.as_deref())?;
        Ok(Condition {
            kind,
            ask: self.question(&table.ask, None, body)?,
            words: ConditionText { what: table.what.clone(), remedy: table.remedy.clone() },
            tools: table.tools.clone(),
        })
    }
}

fn known_tools(tables: &[PresetToolTable]) -> Result<Vec<PresetTool>, ConfigError> {
    let tool = |table: &PresetToolTable| PresetTool {
        name: table.name.clone(),
        description: table.description.clone(),
    };
    Ok(tables.iter().map(tool).collect())
}

/// The part in the file, or else that of the preset it extends.
fn part<T, U: Clone>(
    written: Option<&T>,
    read: impl FnOnce(&T) -> Result<U, ConfigError>,
    kept: Option<&U>,
) -> Result<Option<U>, ConfigError> {
    match written {
        Some(table) => read(table).map(Some),
        None => Ok(kept.cloned()),
    }
}

fn missing(what: &str, remedy: &str) -> ConfigError {
    let what = format!("The preset needs {what}.");
    ConfigError { line: None, what, remedy: remedy.to_owned() }
}
