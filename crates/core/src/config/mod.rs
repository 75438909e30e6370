//! `config.toml`: made for people, parsed once, validated as a whole.
//!
//! Inside, types carry the proof: there is no upstream without a way to reach it. A mistake is
//! reported with its line and with what to write instead.

mod address;
mod app;
mod diff;
pub mod edit;
mod file;
mod http;
mod lists;
pub mod migrate;
mod program;
pub mod redacted;
pub mod schema;
pub mod size;
mod tray;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::catalog::filter::Filters;
use crate::catalog::naming::UpstreamName;
use crate::catalog::visibility::{Rules, entry};
use crate::policy::app::policy::Policy;
use crate::policy::retry::Repetition;
use crate::preset::Shelf;
use crate::security::secret_ref::{Reference, Template};
pub use address::Address;
pub use diff::Change;
pub(crate) use file::{Span, line, span};
pub use http::{Proxy, Reach, carries_secret};
use migrate::Ladder;
pub use program::Program;
pub use tray::{Notifications, TraySettings};

/// The address editors are given when the configuration names none.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:7420";

/// A configuration that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub gateway: Gateway,
    pub tray: TraySettings,
    /// In the order of their names, which is the order in which they are shown.
    pub upstreams: Vec<Upstream>,
    /// Those that a person turned off.
    pub off: Vec<Upstream>,
    /// What each editor is shown; one that is not here is shown everything.
    pub editors: BTreeMap<String, Editor>,
    /// What is worth a second look, though nothing is wrong with it.
    pub doubts: Vec<Mistake>,
}

/// What is said of an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Editor {
    /// Where its entry begins, counted from 1.
    pub line: usize,
    pub rules: Rules,
}

/// The gateway's own settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    pub listen: SocketAddr,
    pub require_token: bool,
    /// How long a call waits for an upstream that is down.
    pub hold: Duration,
}

/// One upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    pub name: UpstreamName,
    pub title: String,
    /// Whether a person gave it that title.
    pub titled: bool,
    pub transport: Transport,
    /// The longest a call may take that was sent to a living upstream.
    pub call_timeout: Duration,
    /// When it is asked for a sign of life.
    pub keepalive: Keepalive,
    /// Which of its tools may be called twice.
    pub repetition: Repetition,
    pub sharing: Sharing,
    /// What of it editors are shown.
    pub filters: Filters,
    /// How it is looked after, if it is an application.
    pub policy: Policy,
}

/// Whether editors share one connection to an upstream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    #[default]
    Shared,
    /// Each editor's session has one of its own: for servers that keep something per connection.
    PerClient,
}

/// When an upstream is asked for a sign of life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keepalive {
    /// As its transport suggests.
    Usual,
    /// After this much silence: a person says that it must answer this often.
    Every(Duration),
    /// It wants to be left alone.
    Never,
}

/// How an upstream is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// MCP over HTTP.
    Http { url: Address, reach: Reach },
    /// MCP over the pipes of a program that the gateway starts.
    Stdio(Program),
    /// MCP over HTTP, in an application that is found, watched and brought back as a preset says.
    App { preset: String },
    /// The server inside the gateway that answers when nothing is configured.
    Demo,
}

/// A mistake in the file, with its place and the way out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {remedy}")]
pub struct Mistake {
    /// Counted from 1, where the place is known.
    pub line: Option<usize>,
    pub what: String,
    pub remedy: String,
}

impl Config {
    /// Reads a configuration file of any version. An empty one is a configuration: the demo.
    pub fn parse(text: &str) -> Result<Self, Mistake> {
        Ladder::KNOWN.parse(text).map(|(config, _)| config)
    }

    /// With the titles of these presets, where a person gave none.
    pub fn entitled(mut self, shelf: &Shelf) -> Self {
        for upstream in self.upstreams.iter_mut().chain(&mut self.off).filter(|one| !one.titled) {
            upstream.title = app::title(&upstream.name, &upstream.transport, shelf);
        }
        self
    }

    /// Editors that something is said of, and that have no token.
    pub fn strangers(&self, has_token: impl Fn(&str) -> bool) -> Vec<Mistake> {
        let strangers = self.editors.iter().filter(|(name, _)| !has_token(name));
        let doubt = |(name, editor): (&String, &Editor)| Mistake {
            line: Some(editor.line),
            what: format!(
                "No editor with a token is called `{name}`, so {} is for nobody.",
                entry(name)
            ),
            remedy: format!("See `evermoor tokens`, or run `evermoor tokens add {name}`."),
        };
        strangers.map(doubt).collect()
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::parse("").expect("an empty configuration is valid")
    }
}

impl Transport {
    /// Where the upstream is, for a person to read: without user name, password or query.
    pub fn target(&self) -> String {
        match self {
            Self::Http { url, .. } => url.shown(),
            Self::Stdio(program) => program.shown(),
            Self::App { preset } => format!("preset {preset}"),
            Self::Demo => "built in".into(),
        }
    }

    /// Whether it is an application that is looked after.
    pub fn is_app(&self) -> bool {
        matches!(self, Self::App { .. })
    }

    /// Whether it is a program that the gateway starts.
    pub fn is_process(&self) -> bool {
        match self {
            Self::Stdio(_) => true,
            Self::Http { .. } | Self::App { .. } | Self::Demo => false,
        }
    }

    /// The secrets that it needs, wherever they are.
    pub fn references(&self) -> Vec<&Reference> {
        match self {
            Self::Http { url, reach } => {
                let headers = reach.headers.values().flat_map(Template::references);
                url.template().references().chain(headers).collect()
            }
            Self::Stdio(program) => program.env.values().flat_map(Template::references).collect(),
            Self::App { .. } | Self::Demo => Vec::new(),
        }
    }

    /// Tells one target from another: what was learnt of one says nothing of the next. A hash,
    /// since an address may hold a secret.
    pub fn fingerprint(&self) -> String {
        let words = match self {
            // Which headers are sent may decide who answers.
            Self::Http { url, reach } if reach.headers.is_empty() => format!("http\n{url}"),
            Self::Http { url, reach } => format!("http\n{url}\n{:?}", reach.headers),
            Self::Stdio(program) => format!("program\n{}", program.identity()),
            Self::App { preset } => format!("app\n{preset}"),
            Self::Demo => "demo".into(),
        };
        BASE64.encode(Sha256::digest(words))
    }

    /// Whether it is on this machine, where it comes back fast and asking costs nothing.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Http { url, .. } => match url.place().host() {
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

    fn mistake(text: &str) -> Mistake {
        Config::parse(text).unwrap_err()
    }

    #[test]
    fn nothing_configured_means_the_demo_on_the_usual_port() {
        let config = Config::default();
        assert_eq!(config.gateway.listen.to_string(), "127.0.0.1:7420");
        assert!(config.gateway.require_token);
        assert_eq!(config.upstreams[0].transport, Transport::Demo);
    }

    #[test]
    fn the_example_in_the_documents_is_a_configuration_without_doubts() {
        let page = include_str!("../../../../docs/configuration.md").replace("\r\n", "\n");
        let example = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
        let config = Config::parse(example).unwrap();
        assert_eq!((config.upstreams.len(), config.off.len(), config.editors.len()), (5, 1, 1));
        assert_eq!(config.doubts, []);
    }

    #[test]
    fn an_upstream_needs_a_way_to_reach_it() {
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
        assert!(mistake("[gateway]\nlisten = \"0.0.0.0:7420\"\n").what.contains("other machines"));
    }

    #[test]
    fn a_time_is_seconds_or_words() {
        let timeout = |value: &str| {
            let text = format!("[upstreams.a]\nurl = \"http://x\"\ncall_timeout = {value}\n");
            Config::parse(&text).unwrap().upstreams[0].call_timeout
        };
        assert_eq!(timeout("180"), Duration::from_secs(180));
        assert_eq!(timeout("\"3m\""), Duration::from_secs(180));
    }

    #[test]
    fn a_keepalive_of_zero_is_none() {
        let keepalive = |setting: &str| {
            let text = format!("[upstreams.a]\nurl = \"http://x\"\n{setting}\n");
            Config::parse(&text).unwrap().upstreams[0].keepalive
        };
        assert_eq!(keepalive(""), Keepalive::Usual);
        assert_eq!(
            keepalive("keepalive_interval = \"3m\""),
            Keepalive::Every(Duration::from_secs(180))
        );
        assert_eq!(keepalive("keepalive_interval = 0"), Keepalive::Never);
    }

    #[test]
    fn a_person_says_which_tools_may_be_called_twice() {
        let text = "[upstreams.a]\nurl = \"http://x\"\ntools.write.retry = \"safe\"\ntools.erase.retry = \"never\"\n";
        let repetition = &Config::parse(text).unwrap().upstreams[0].repetition;
        assert_eq!(
            repetition,
            &Repetition { trust_annotations: false, safe_tools: vec!["write".into()] }
        );
    }

    #[test]
    fn editors_share_a_connection_unless_a_person_says_otherwise() {
        let sharing = |setting: &str| {
            let text = format!("[upstreams.a]\nurl = \"http://x\"\n{setting}\n");
            Config::parse(&text).map(|config| config.upstreams[0].sharing)
        };
        assert_eq!(sharing(""), Ok(Sharing::Shared));
        assert_eq!(sharing("sharing = \"per-client\""), Ok(Sharing::PerClient));
        assert_eq!(sharing("sharing = \"none\"").unwrap_err().line, Some(3));
    }

    #[test]
    fn a_fingerprint_tells_targets_apart_and_holds_no_secret() {
        let print = |url: &str| {
            Transport::Http { url: Address::parse(url).unwrap(), reach: Reach::default() }
                .fingerprint()
        };
        let (one, other) = ("https://x/mcp?key=secret", "https://x/mcp?key=other");
        assert_eq!(print(one), print(one));
        assert_ne!(print(one), print(other));
        assert!(!print(one).contains("secret"));
    }

    #[test]
    fn what_an_upstream_needs_is_known_before_it_is_connected_to() {
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
    fn a_shown_address_holds_no_secret() {
        let url = Address::parse("https://me:secret@example.com/mcp?key=secret").unwrap();
        assert_eq!(
            Transport::Http { url, reach: Reach::default() }.target(),
            "https://example.com/mcp"
        );
    }
}
