//! `config.toml`, parsed once and validated as a whole.
//!
//! The types rule out invalid states: every upstream has a transport. An error has its line and says
//! what to write instead.
//!
//! - `tables`, `allow_deny`, `tray`: the tables of the file, as serde reads them; `defaults`: what they need not say
//! - `transport`, `app`: the ways to reach an upstream
//! - `edit`: edits that keep comments and layout; `migrate`: older file versions
//! - `diff`: what a reload must stop, change and start
//! - `redacted`: the file without secrets; `schema`: its JSON Schema; `memory_size`: amounts of memory
//! - `buffer_limits`: how much of what others send is kept in memory
//!
//! This module uses `api` (for edits), `catalog`, `policy`, `preset` and `security`.

mod allow_deny;
mod app;
pub mod buffer_limits;
mod defaults;
mod diff;
pub mod edit;
pub mod memory_size;
pub mod migrate;
pub mod redacted;
pub mod schema;
mod tables;
pub(crate) mod transport;
mod tray;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::api::UpstreamKind;
use crate::catalog::filter::Filters;
use crate::catalog::limits::CatalogLimits;
use crate::catalog::naming::UpstreamName;
use crate::catalog::visibility::{VisibilityRules, editor_heading};
use crate::policy::app::auto_restart::AppPolicy;
use crate::policy::retry::RetryPolicy;
use crate::preset::PresetSet;
use crate::security::secret_ref::{SecretRef, Template};
use buffer_limits::BufferLimits;
pub use defaults::{DEFAULT_HOLD, DEFAULT_LISTEN};
pub use diff::ConfigDiff;
use migrate::Migrations;
pub(crate) use tables::{DurationText, duration, line};
pub use transport::address::UpstreamUrl;
pub use transport::http::{HttpOptions, ProxySetting, carries_secret};
pub use transport::oauth::{ConfiguredClient, Grant, OAuthOptions};
pub use transport::program::StdioCommand;
pub use tray::{NotificationLevel, TraySettings};

/// A larger `config.toml` is not read.
pub const MAX_FILE_SIZE: u64 = 4 << 20;

/// A valid configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub gateway: GatewayConfig,
    pub tray: TraySettings,
    /// The enabled upstreams, sorted by name, which is also the display order.
    pub upstreams: Vec<UpstreamConfig>,
    /// The upstreams that are turned off.
    pub off: Vec<UpstreamConfig>,
    /// The rules of each editor; an editor without an entry sees everything.
    pub editors: BTreeMap<String, EditorConfig>,
    /// Warnings: probably mistakes, but the configuration is valid.
    pub warnings: Vec<ConfigError>,
}

/// The entry of an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorConfig {
    /// The line where the entry starts, counted from 1.
    pub line: usize,
    pub rules: VisibilityRules,
}

/// The `[gateway]` table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayConfig {
    pub listen: SocketAddr,
    pub require_token: bool,
    /// Whether a program that Evermoor's commands did not add waits for approval.
    pub approve_programs: bool,
    /// How long a call waits for an upstream that is down.
    pub hold: Duration,
    /// The file that keeps sign-ins instead of the keychain.
    pub sign_ins_file: Option<String>,
    /// How much of what others send is kept in memory.
    pub buffer_limits: BufferLimits,
}

/// The entry of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpstreamConfig {
    pub name: UpstreamName,
    pub title: String,
    /// Whether the title comes from the file.
    pub has_own_title: bool,
    pub transport: TransportConfig,
    /// The time limit of a call after it was sent.
    pub call_timeout: Duration,
    /// When it is pinged.
    pub keepalive: KeepaliveConfig,
    /// Whether it handles several requests at once, if the file says so.
    pub concurrent: Option<bool>,
    /// Which of its tools may be called again after a failure.
    pub retry_policy: RetryPolicy,
    pub sharing: Sharing,
    /// How much its lists may contain.
    pub catalog_limits: CatalogLimits,
    /// How many bytes of its messages are kept in memory.
    pub buffer_limit: usize,
    /// What editors see of it.
    pub filters: Filters,
    /// How it is watched and restarted, if it is an app.
    pub policy: AppPolicy,
}

/// Whether editors share one connection to an upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    #[default]
    Shared,
    /// Each session has its own connection, for servers that keep state per connection.
    PerClient,
}

/// When an upstream is pinged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeepaliveConfig {
    /// The default of its transport.
    Usual,
    /// After this much idle time.
    Every(Duration),
    /// Pings are off.
    Never,
}

/// How an upstream is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportConfig {
    /// MCP over HTTP.
    Http { url: UpstreamUrl, reach: HttpOptions },
    /// MCP over stdio with a program that the gateway starts.
    Stdio(StdioCommand),
    /// MCP over HTTP with an app that is found, watched and restarted as its preset describes.
    App { preset: String },
    /// The built-in server that is used when nothing is configured.
    Demo,
}

/// An error in the file, with its line and a remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {remedy}")]
pub struct ConfigError {
    /// Counted from 1, if known.
    pub line: Option<usize>,
    pub what: String,
    pub remedy: String,
}

impl Config {
    /// Parses a file of any version. An empty file is valid and yields the demo server.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Migrations::KNOWN.parse(text).map(|(config, _)| config)
    }

    /// Uses the titles of these presets for upstreams that have no title in the file.
    pub fn with_preset_titles(mut self, presets: &PresetSet) -> Self {
        for upstream in
            self.upstreams.iter_mut().chain(&mut self.off).filter(|one| !one.has_own_title)
        {
            upstream.title = app::title(&upstream.name, &upstream.transport, presets);
        }
        self
    }

    /// Warnings about editors that have an entry but no token.
    pub fn editors_without_token(&self, has_token: impl Fn(&str) -> bool) -> Vec<ConfigError> {
        let unknown = self.editors.iter().filter(|(name, _)| !has_token(name));
        let warning = |(name, editor): (&String, &EditorConfig)| ConfigError {
            line: Some(editor.line),
            what: format!(
                "No editor named `{name}` has a token, so {} has no effect.",
                editor_heading(name)
            ),
            remedy: format!("See `evermoor tokens`, or run `evermoor tokens add {name}`."),
        };
        unknown.map(warning).collect()
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::parse("").expect("an empty configuration is valid")
    }
}

impl ConfigError {
    /// The error with its location in this file, in one sentence.
    pub fn with_location(&self, file: impl std::fmt::Display) -> String {
        let location = self.line.map(|line| format!(", line {line}")).unwrap_or_default();
        format!("{file}{location}: {}", self.what)
    }
}

impl TransportConfig {
    /// Its address or command for display, without user name, password or query.
    pub fn target(&self) -> String {
        match self {
            Self::Http { url, .. } => url.shown(),
            Self::Stdio(program) => program.shown(),
            Self::App { preset } => format!("preset {preset}"),
            Self::Demo => "built in".into(),
        }
    }

    pub fn kind(&self) -> UpstreamKind {
        match self {
            Self::Http { .. } => UpstreamKind::Address,
            Self::Stdio(_) => UpstreamKind::Program,
            Self::App { .. } => UpstreamKind::App,
            Self::Demo => UpstreamKind::Demo,
        }
    }

    /// Whether it is an app that Evermoor watches.
    pub fn is_app(&self) -> bool {
        matches!(self, Self::App { .. })
    }

    /// Whether a user can sign in to it.
    pub fn takes_sign_in(&self) -> bool {
        match self {
            Self::Http { reach, .. } => match &reach.oauth {
                Some(oauth) => oauth.grant.needs_a_person(),
                None => !reach.headers.contains_key("authorization"),
            },
            Self::Stdio(_) | Self::App { .. } | Self::Demo => false,
        }
    }

    /// Whether it is a program that the gateway starts.
    pub fn is_stdio(&self) -> bool {
        match self {
            Self::Stdio(_) => true,
            Self::Http { .. } | Self::App { .. } | Self::Demo => false,
        }
    }

    /// The references to the secrets that it needs.
    pub fn references(&self) -> Vec<&SecretRef> {
        match self {
            Self::Http { url, reach } => {
                let headers = reach.headers.values().flat_map(Template::references);
                let client = reach.oauth.as_ref().and_then(|oauth| oauth.client.as_ref());
                let secret = client.and_then(|client| client.secret.as_ref());
                let secret = secret.into_iter().flat_map(Template::references);
                url.template().references().chain(headers).chain(secret).collect()
            }
            Self::Stdio(program) => program.env.values().flat_map(Template::references).collect(),
            Self::App { .. } | Self::Demo => Vec::new(),
        }
    }

    /// Identifies the target, so that a cached catalog is not used for another one. It is a hash,
    /// because an address may contain a secret.
    pub fn fingerprint(&self) -> String {
        let words = match self {
            // The headers may select a different server.
            Self::Http { url, reach } if reach.headers.is_empty() => format!("http\n{url}"),
            Self::Http { url, reach } => format!("http\n{url}\n{:?}", reach.headers),
            Self::Stdio(program) => format!("program\n{}", program.identity()),
            Self::App { preset } => format!("app\n{preset}"),
            Self::Demo => "demo".into(),
        };
        BASE64.encode(Sha256::digest(words))
    }

    /// Whether it is on this machine, where reconnecting is fast and polling is cheap.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Http { url, .. } => match url.placeholder().host() {
                Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
                Some(url::Host::Ipv4(address)) => address.is_loopback(),
                Some(url::Host::Ipv6(address)) => address.is_loopback(),
                None => false,
            },
            Self::Stdio(_) | Self::App { .. } | Self::Demo => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistake(text: &str) -> ConfigError {
        Config::parse(text).unwrap_err()
    }

    #[test]
    fn an_empty_configuration_is_the_demo_on_the_default_port() {
        let config = Config::default();
        assert_eq!(config.gateway.listen.to_string(), "127.0.0.1:7420");
        assert!(config.gateway.require_token);
        assert_eq!(config.upstreams[0].transport, TransportConfig::Demo);
    }

    #[test]
    fn the_example_in_the_documents_is_a_configuration_without_doubts() {
        let page = include_str!("../../../../docs/configuration.md").replace("\r\n", "\n");
        let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let config = Config::parse(example).unwrap();
        assert_eq!((config.upstreams.len(), config.off.len(), config.editors.len()), (5, 1, 1));
        assert_eq!(config.warnings, []);
    }

    #[test]
    fn an_upstream_needs_a_transport() {
        let found = mistake("[upstreams.a]\ntitle = \"A\"\n");
        assert_eq!(found.line, Some(1));
        assert!(found.what.contains("`a`") && found.remedy.contains("url"), "{found}");
    }

    #[test]
    fn a_mistake_is_reported_with_its_line() {
        assert_eq!(mistake("[gateway]\n\nlisten = \"here\"\n").line, Some(3));
        assert_eq!(mistake("[upstreams.a]\nurl = \"ftp://x\"\n").line, Some(2));
        assert_eq!(
            mistake("[upstreams.a]\nurl = \"http://x\"\ncall_timeout = \"soon\"\n").line,
            Some(3)
        );
        assert_eq!(mistake("[gateway]\nlisten = 1\n").line, Some(2));
        assert_eq!(mistake("[gatway]\n").line, Some(1));
        assert_eq!(mistake("[upstreams.\"A B\"]\nurl = \"http://x\"\n").line, Some(1));
    }

    #[test]
    fn the_gateway_listens_on_this_machine_only() {
        assert!(mistake("[gateway]\nlisten = \"0.0.0.0:7420\"\n").what.contains("other computers"));
    }

    #[test]
    fn the_file_for_sign_ins_is_named_in_full() {
        let file = |path: &str| Config::parse(&format!("[gateway]\nsign_ins_file = \"{path}\"\n"));
        let kept = file("/run/secrets/sign-ins.json").unwrap().gateway.sign_ins_file;
        assert_eq!(kept.as_deref(), Some("/run/secrets/sign-ins.json"));
        assert_eq!(file("sign-ins.json").unwrap_err().line, Some(2));
    }

    #[test]
    fn a_duration_is_seconds_or_text() {
        let timeout = |value: &str| {
            let text = format!("[upstreams.a]\nurl = \"http://x\"\ncall_timeout = {value}\n");
            Config::parse(&text).unwrap().upstreams[0].call_timeout
        };
        assert_eq!(timeout("180"), Duration::from_secs(180));
        assert_eq!(timeout("\"3m\""), Duration::from_secs(180));
    }

    #[test]
    fn a_duration_that_cannot_be_added_to_a_time_is_refused() {
        for value in ["18446744073709551615", "\"584554530872y\"", "\"9999d\""] {
            for setting in ["call_timeout", "keepalive_interval"] {
                let found =
                    mistake(&format!("[upstreams.a]\nurl = \"http://x\"\n{setting} = {value}\n"));
                assert_eq!(found.line, Some(3), "{found}");
            }
            assert_eq!(mistake(&format!("[gateway]\nhold = {value}\n")).line, Some(2));
        }
    }

    #[test]
    fn a_keepalive_of_zero_turns_it_off() {
        let keepalive = |setting: &str| {
            let text = format!("[upstreams.a]\nurl = \"http://x\"\n{setting}\n");
            Config::parse(&text).unwrap().upstreams[0].keepalive
        };
        assert_eq!(keepalive(""), KeepaliveConfig::Usual);
        assert_eq!(
            keepalive("keepalive_interval = \"3m\""),
            KeepaliveConfig::Every(Duration::from_secs(180))
        );
        assert_eq!(keepalive("keepalive_interval = 0"), KeepaliveConfig::Never);
    }

    #[test]
    fn the_limit_of_a_servers_lists_can_be_raised() {
        let limit = |setting: &str| {
            let text = format!("[upstreams.a]\nurl = \"http://x\"\n{setting}\n");
            Config::parse(&text).map(|config| config.upstreams[0].catalog_limits.bytes)
        };
        assert_eq!(limit(""), Ok(16_000_000));
        assert_eq!(limit("catalog_limit = \"64 MB\""), Ok(64_000_000));
        assert_eq!(limit("catalog_limit = \"much\"").unwrap_err().line, Some(3));
    }

    #[test]
    fn the_file_says_which_tools_may_be_called_again() {
        let text = "[upstreams.a]\nurl = \"http://x\"\ntools.write.retry = \"safe\"\ntools.erase.retry = \"never\"\n";
        let retry_policy = &Config::parse(text).unwrap().upstreams[0].retry_policy;
        assert_eq!(
            retry_policy,
            &RetryPolicy { trust_annotations: false, safe_tools: vec!["write".into()] }
        );
    }

    #[test]
    fn editors_share_a_connection_by_default() {
        let sharing = |setting: &str| {
            let text = format!("[upstreams.a]\nurl = \"http://x\"\n{setting}\n");
            Config::parse(&text).map(|config| config.upstreams[0].sharing)
        };
        assert_eq!(sharing(""), Ok(Sharing::Shared));
        assert_eq!(sharing("sharing = \"per-client\""), Ok(Sharing::PerClient));
        assert_eq!(sharing("sharing = \"none\"").unwrap_err().line, Some(3));
    }

    #[test]
    fn a_fingerprint_distinguishes_targets_and_reveals_no_secret() {
        let print = |url: &str| {
            TransportConfig::Http {
                url: UpstreamUrl::parse(url).unwrap(),
                reach: HttpOptions::default(),
            }
            .fingerprint()
        };
        let (one, other) = ("https://x/mcp?key=secret", "https://x/mcp?key=other");
        assert_eq!(print(one), print(one));
        assert_ne!(print(one), print(other));
        assert!(!print(one).contains("secret"));
    }

    #[test]
    fn an_upstreams_secrets_are_known_before_it_connects() {
        let text = "[upstreams.a]\nurl = \"https://x/mcp?key=${env:KEY}\"\n\
                    headers = { Authorization = \"Bearer ${keyring:a}\" }\n\
                    [upstreams.b]\ncommand = \"b\"\nenv = { A = \"1\", B = \"${file:/run/b}\" }\n";
        let config = Config::parse(text).unwrap();
        let needs: Vec<String> = config
            .upstreams
            .iter()
            .flat_map(|upstream| upstream.transport.references())
            .map(ToString::to_string)
            .collect();
        assert_eq!(needs, ["${env:KEY}", "${keyring:a}", "${file:/run/b}"]);
    }

    #[test]
    fn a_displayed_address_contains_no_secret() {
        let url = UpstreamUrl::parse("https://me:secret@example.com/mcp?key=secret").unwrap();
        assert_eq!(
            TransportConfig::Http { url, reach: HttpOptions::default() }.target(),
            "https://example.com/mcp"
        );
    }
}
