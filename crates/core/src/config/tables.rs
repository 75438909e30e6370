//! The tables of `config.toml`, and their conversion into a [`Config`].

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::allow_deny::{self, EditorTable, ListTable, Retry, ToolTable, ToolsTable};
use super::buffer_limits::{BufferLimits, DEFAULT_BUFFER_LIMIT};
use super::defaults::{DEFAULT_CALL_TIMEOUT, DEFAULT_HOLD, DEFAULT_LISTEN};
use super::transport::oauth::OAuthTable;
use super::tray::{self, TrayTable};
use super::{
    Config, ConfigError, GatewayConfig, KeepaliveConfig, Sharing, TransportConfig, UpstreamConfig,
    UpstreamUrl, app, buffer_limits, memory_size,
};
use crate::catalog::filter::Filters;
use crate::catalog::limits::CatalogLimits;
use crate::catalog::naming::UpstreamName;
use crate::policy::app::auto_restart::AppPolicy;
use crate::policy::retry::RetryPolicy;
use crate::preset::PresetSet;
use crate::security::secret_ref::is_whole_path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigTables {
    /// Checked by `migrate` before the file is read.
    #[serde(default, rename = "version")]
    _version: Option<toml::Value>,
    #[serde(default)]
    gateway: GatewayTable,
    #[serde(default)]
    tray: TrayTable,
    #[serde(default)]
    upstreams: BTreeMap<Spanned<String>, Spanned<UpstreamTable>>,
    #[serde(default)]
    editors: BTreeMap<Spanned<String>, EditorTable>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GatewayTable {
    listen: Option<Spanned<String>>,
    require_token: Option<bool>,
    #[serde(default)]
    approve_programs: bool,
    hold: Option<Spanned<DurationText>>,
    sign_ins_file: Option<Spanned<String>>,
    buffer_limit: Option<Spanned<String>>,
    editor_buffer_limit: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UpstreamTable {
    title: Option<String>,
    enabled: Option<bool>,
    pub(super) preset: Option<Spanned<String>>,
    pub(super) restart: Option<Spanned<String>>,
    pub(super) recycle: Option<Spanned<String>>,
    pub(super) memory_alarm: Option<Spanned<String>>,
    pub(super) url: Option<Spanned<String>>,
    pub(super) command: Option<Spanned<String>>,
    pub(super) args: Option<Vec<String>>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, Spanned<String>>,
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) headers: BTreeMap<Spanned<String>, Spanned<String>>,
    pub(super) ca_file: Option<CaFiles>,
    pub(super) proxy: Option<Spanned<String>>,
    pub(super) auth: Option<Spanned<String>>,
    pub(super) oauth: Option<Spanned<OAuthTable>>,
    pub(super) start_timeout: Option<Spanned<DurationText>>,
    call_timeout: Option<Spanned<DurationText>>,
    keepalive_interval: Option<Spanned<DurationText>>,
    concurrent: Option<bool>,
    catalog_limit: Option<Spanned<String>>,
    buffer_limit: Option<Spanned<String>>,
    #[serde(default)]
    trust_annotations: bool,
    #[serde(default)]
    tools: ToolsTable,
    #[serde(default)]
    prompts: ListTable,
    #[serde(default)]
    resources: ListTable,
    #[serde(default)]
    sharing: Sharing,
}

/// One file or several.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum CaFiles {
    One(String),
    Many(Vec<String>),
}

/// A duration: seconds, or text such as "3m".
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum DurationText {
    Seconds(u64),
    Text(String),
}

/// Reads a file of the current version. An empty file is valid and yields the demo server.
pub(super) fn read(text: &str) -> Result<Config, ConfigError> {
    let file: ConfigTables = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| line(text, span.start));
        let what = format!("{}.", error.message().trim_end_matches('.'));
        ConfigError { line, what, remedy: "Fix the line, or see `evermoor --help`.".into() }
    })?;
    let (mut upstreams, mut off) = (Vec::new(), Vec::new());
    for (name, table) in &file.upstreams {
        let upstream = upstream(text, name, table)?;
        let is_on = table.get_ref().enabled.unwrap_or(true);
        if is_on { upstreams.push(upstream) } else { off.push(upstream) }
    }
    if file.upstreams.is_empty() {
        upstreams.push(demo());
    }
    let (mut editors, mut warnings) = (BTreeMap::new(), Vec::new());
    let mut names: Vec<&UpstreamName> = upstreams.iter().chain(&off).map(|one| &one.name).collect();
    names.sort();
    for (name, table) in &file.editors {
        let editor = allow_deny::of_editor(text, name, table)?;
        warnings.extend(allow_deny::warnings(text, name.get_ref(), table, &names));
        editors.insert(name.get_ref().clone(), editor);
    }
    let (gateway, tray) = (gateway(text, &file.gateway)?, tray::read(text, &file.tray)?);
    let config = Config { gateway, tray, upstreams, off, editors, warnings };
    Ok(config.with_preset_titles(&PresetSet::bundled()))
}

fn gateway(text: &str, table: &GatewayTable) -> Result<GatewayConfig, ConfigError> {
    let listen = match &table.listen {
        Some(listen) => listen.get_ref().parse().map_err(|_| ConfigError {
            line: Some(line(text, listen.span().start)),
            what: format!("`{}` is not an address to listen on.", listen.get_ref()),
            remedy: format!("Write an address and a port, such as \"{DEFAULT_LISTEN}\"."),
        })?,
        None => DEFAULT_LISTEN.parse::<SocketAddr>().expect("the default is an address"),
    };
    if !listen.ip().is_loopback() {
        return Err(ConfigError {
            line: table.listen.as_ref().map(|listen| line(text, listen.span().start)),
            what: format!("`{listen}` can be reached from other computers."),
            remedy: format!("Use a loopback address, such as \"{DEFAULT_LISTEN}\"."),
        });
    }
    Ok(GatewayConfig {
        listen,
        require_token: table.require_token.unwrap_or(true),
        approve_programs: table.approve_programs,
        hold: duration(text, table.hold.as_ref(), DEFAULT_HOLD)?,
        sign_ins_file: sign_ins_file(text, table.sign_ins_file.as_ref())?,
        buffer_limits: BufferLimits::read(
            text,
            table.buffer_limit.as_ref(),
            table.editor_buffer_limit.as_ref(),
        )?,
    })
}

fn sign_ins_file(
    text: &str,
    file: Option<&Spanned<String>>,
) -> Result<Option<String>, ConfigError> {
    let Some(file) = file else { return Ok(None) };
    if !is_whole_path(file.get_ref()) {
        return Err(ConfigError {
            line: Some(line(text, file.span().start)),
            what: format!("`{}` is not an absolute path.", file.get_ref()),
            remedy: "Write an absolute path, or one that starts with `~`.".into(),
        });
    }
    Ok(Some(file.get_ref().clone()))
}

fn upstream(
    text: &str,
    name: &Spanned<String>,
    table: &Spanned<UpstreamTable>,
) -> Result<UpstreamConfig, ConfigError> {
    let name_line = Some(line(text, name.span().start));
    let name = UpstreamName::parse(name.get_ref()).map_err(|bad| ConfigError {
        line: name_line,
        what: format!("{bad}."),
        remedy: "Rename it; `title` can be any text.".into(),
    })?;
    let table = table.get_ref();
    let transport = app::or_server(text, &name, name_line, table)?;
    Ok(UpstreamConfig {
        title: table.title.clone().unwrap_or_else(|| name.as_str().to_owned()),
        has_own_title: table.title.is_some(),
        policy: app::policy(text, table)?,
        name,
        transport,
        call_timeout: duration(text, table.call_timeout.as_ref(), DEFAULT_CALL_TIMEOUT)?,
        keepalive: keepalive(text, table.keepalive_interval.as_ref())?,
        concurrent: table.concurrent,
        retry_policy: RetryPolicy {
            trust_annotations: table.trust_annotations,
            safe_tools: safe_tools(&table.tools.tools),
        },
        sharing: table.sharing,
        catalog_limits: catalog_limits(text, table.catalog_limit.as_ref())?,
        buffer_limit: buffer_limits::limit(
            text,
            table.buffer_limit.as_ref(),
            DEFAULT_BUFFER_LIMIT,
        )?,
        filters: allow_deny::of_upstream(text, &table.tools, &table.prompts, &table.resources)?,
    })
}

fn keepalive(
    text: &str,
    interval: Option<&Spanned<DurationText>>,
) -> Result<KeepaliveConfig, ConfigError> {
    let Some(interval) = interval else { return Ok(KeepaliveConfig::Usual) };
    let every = duration(text, Some(interval), Duration::ZERO)?;
    Ok(if every.is_zero() { KeepaliveConfig::Never } else { KeepaliveConfig::Every(every) })
}

/// Who raises the limit of the bytes has more items too.
fn catalog_limits(
    text: &str,
    bytes: Option<&Spanned<String>>,
) -> Result<CatalogLimits, ConfigError> {
    let usual = CatalogLimits::default();
    let Some(found) = bytes else { return Ok(usual) };
    let bytes = memory_size::parse_bytes(found.get_ref()).ok_or_else(|| ConfigError {
        line: Some(line(text, found.span().start)),
        what: format!("`{}` is not a size.", found.get_ref()),
        remedy: "Write \"64 MB\", for example.".into(),
    })?;
    let times = usize::try_from(bytes / usual.bytes).unwrap_or(usize::MAX).max(1);
    Ok(CatalogLimits { bytes, items: usual.items.saturating_mul(times) })
}

fn safe_tools(tools: &BTreeMap<String, ToolTable>) -> Vec<String> {
    let safe = tools.iter().filter(|(_, tool)| tool.retry == Retry::Safe);
    safe.map(|(name, _)| name.clone()).collect()
}

fn demo() -> UpstreamConfig {
    UpstreamConfig {
        name: UpstreamName::parse("demo").expect("`demo` is a name"),
        title: "Demo".into(),
        has_own_title: true,
        transport: TransportConfig::Demo,
        call_timeout: DEFAULT_CALL_TIMEOUT,
        keepalive: KeepaliveConfig::Usual,
        concurrent: None,
        retry_policy: RetryPolicy::default(),
        sharing: Sharing::Shared,
        catalog_limits: CatalogLimits::default(),
        buffer_limit: DEFAULT_BUFFER_LIMIT,
        filters: Filters::default(),
        policy: AppPolicy::default(),
    }
}

pub(super) fn http_url(text: &str, url: &Spanned<String>) -> Result<UpstreamUrl, ConfigError> {
    UpstreamUrl::parse(url.get_ref()).map_err(|bad| ConfigError {
        line: Some(line(text, url.span().start)),
        what: bad.to_string(),
        remedy: bad.remedy().to_owned(),
    })
}

/// A longer duration is a mistake, and could not be added to a time.
const LONGEST_DURATION: Duration = Duration::from_secs(365 * 86_400);

pub(crate) fn duration(
    text: &str,
    span: Option<&Spanned<DurationText>>,
    default: Duration,
) -> Result<Duration, ConfigError> {
    let Some(found) = span else {
        return Ok(default);
    };
    let wrong = |what: String, remedy: &str| ConfigError {
        line: Some(line(text, found.span().start)),
        what,
        remedy: remedy.into(),
    };
    let length = match found.get_ref() {
        DurationText::Seconds(seconds) => Duration::from_secs(*seconds),
        DurationText::Text(words) => humantime::parse_duration(words).map_err(|_| {
            let remedy = "Write a number of seconds, or a duration such as \"3m\" or \"10s\".";
            wrong(format!("`{words}` is not a duration."), remedy)
        })?,
    };
    if length > LONGEST_DURATION {
        let days = LONGEST_DURATION.as_secs() / 86_400;
        let what = format!("This duration is longer than {days} days.");
        return Err(wrong(what, "Write a shorter one, such as \"3m\" or \"10s\"."));
    }
    Ok(length)
}

pub(crate) fn line(text: &str, offset: usize) -> usize {
    1 + text[..offset.min(text.len())].matches('\n').count()
}
