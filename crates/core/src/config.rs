//! `config.toml`: made for people, parsed once, validated as a whole.
//!
//! Inside, types carry the proof: there is no upstream without a way to reach it. A mistake is
//! reported with its line and with what to write instead.

mod program;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;
use url::Url;

use crate::call::Repetition;
use crate::name::UpstreamName;
pub use program::Program;

/// The address editors are given when the configuration names none.
pub const DEFAULT_LISTEN: &str = "127.0.0.1:7420";

/// A configuration that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    pub gateway: Gateway,
    /// In the order of their names, which is the order in which they are shown.
    pub upstreams: Vec<Upstream>,
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
    pub transport: Transport,
    /// The longest a call may take that was sent to a living upstream.
    pub call_timeout: Duration,
    /// How long it may be silent before it is asked for a sign of life; `None` for never.
    pub keepalive_interval: Option<Duration>,
    /// Which of its tools may be called twice.
    pub repetition: Repetition,
}

/// How an upstream is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// MCP over HTTP.
    Http { url: Url },
    /// MCP over the pipes of a program that the gateway starts.
    Stdio(Program),
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

const DEFAULT_HOLD: Duration = Duration::from_secs(25);
const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(600);
const DEFAULT_KEEPALIVE: Duration = Duration::from_secs(30);
/// A program's end is seen at once, so an idle one is left alone; one that works on a call is not.
const KEEPALIVE_WHILE_BUSY: Duration = Duration::MAX;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    gateway: GatewayTable,
    #[serde(default)]
    upstreams: BTreeMap<Spanned<String>, Spanned<UpstreamTable>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GatewayTable {
    listen: Option<Spanned<String>>,
    require_token: Option<bool>,
    hold: Option<Spanned<Span>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpstreamTable {
    title: Option<String>,
    url: Option<Spanned<String>>,
    command: Option<Spanned<String>>,
    args: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<String>,
    call_timeout: Option<Spanned<Span>>,
    keepalive_interval: Option<Spanned<Span>>,
    #[serde(default)]
    trust_annotations: bool,
    #[serde(default)]
    tools: BTreeMap<String, ToolTable>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolTable {
    retry: Retry,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Retry {
    Safe,
    Never,
}

/// A length of time as people write it: seconds, or "3m".
#[derive(Deserialize)]
#[serde(untagged)]
enum Span {
    Seconds(u64),
    Text(String),
}

impl Config {
    /// Reads a configuration file. An empty one is a configuration: the demo upstream.
    pub fn parse(text: &str) -> Result<Self, Mistake> {
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| line(text, span.start));
            let what = format!("{}.", error.message().trim_end_matches('.'));
            Mistake { line, what, remedy: "Correct the line, or see `evermoor --help`.".into() }
        })?;
        let upstreams: Result<Vec<_>, _> =
            file.upstreams.iter().map(|(name, table)| upstream(text, name, table)).collect();
        let mut upstreams = upstreams?;
        if upstreams.is_empty() {
            upstreams.push(demo());
        }
        Ok(Self { gateway: gateway(text, &file.gateway)?, upstreams })
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
            Self::Http { url } => {
                let mut shown = url.clone();
                let _ = shown.set_username("");
                let _ = shown.set_password(None);
                shown.set_query(None);
                shown.to_string()
            }
            Self::Stdio(program) => program.shown(),
            Self::Demo => "built in".into(),
        }
    }

    /// Whether it is a program that the gateway starts.
    pub fn is_process(&self) -> bool {
        match self {
            Self::Stdio(_) => true,
            Self::Http { .. } | Self::Demo => false,
        }
    }

    /// Whether it is on this machine, where it comes back fast and asking costs nothing.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Http { url } => match url.host() {
                Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
                Some(url::Host::Ipv4(address)) => address.is_loopback(),
                Some(url::Host::Ipv6(address)) => address.is_loopback(),
                None => false,
            },
            Self::Stdio(_) | Self::Demo => true,
        }
    }
}

fn gateway(text: &str, table: &GatewayTable) -> Result<Gateway, Mistake> {
    let listen = match &table.listen {
        Some(listen) => listen.get_ref().parse().map_err(|_| Mistake {
            line: Some(line(text, listen.span().start)),
            what: format!("`{}` is not an address to listen on.", listen.get_ref()),
            remedy: format!("Write an address and a port, such as \"{DEFAULT_LISTEN}\"."),
        })?,
        None => DEFAULT_LISTEN.parse::<SocketAddr>().expect("the default is an address"),
    };
    if !listen.ip().is_loopback() {
        return Err(Mistake {
            line: table.listen.as_ref().map(|listen| line(text, listen.span().start)),
            what: format!("`{listen}` can be reached from other machines."),
            remedy: format!("Listen on this machine only, such as \"{DEFAULT_LISTEN}\"."),
        });
    }
    Ok(Gateway {
        listen,
        require_token: table.require_token.unwrap_or(true),
        hold: span(text, table.hold.as_ref(), DEFAULT_HOLD)?,
    })
}

fn upstream(
    text: &str,
    name: &Spanned<String>,
    table: &Spanned<UpstreamTable>,
) -> Result<Upstream, Mistake> {
    let name_line = Some(line(text, name.span().start));
    let name = UpstreamName::parse(name.get_ref()).map_err(|bad| Mistake {
        line: name_line,
        what: format!("{bad}."),
        remedy: "Rename it; `title` may hold any words.".into(),
    })?;
    let table = table.get_ref();
    let transport = program::or_url(text, &name, name_line, table)?;
    let keepalive = if transport.is_process() { KEEPALIVE_WHILE_BUSY } else { DEFAULT_KEEPALIVE };
    Ok(Upstream {
        title: table.title.clone().unwrap_or_else(|| name.as_str().to_owned()),
        name,
        transport,
        call_timeout: span(text, table.call_timeout.as_ref(), DEFAULT_CALL_TIMEOUT)?,
        keepalive_interval: Some(span(text, table.keepalive_interval.as_ref(), keepalive)?)
            .filter(|interval| !interval.is_zero()),
        repetition: Repetition {
            trust_annotations: table.trust_annotations,
            safe_tools: safe_tools(&table.tools),
        },
    })
}

fn safe_tools(tools: &BTreeMap<String, ToolTable>) -> Vec<String> {
    let safe = tools.iter().filter(|(_, tool)| tool.retry == Retry::Safe);
    safe.map(|(name, _)| name.clone()).collect()
}

fn demo() -> Upstream {
    Upstream {
        name: UpstreamName::parse("demo").expect("`demo` is a name"),
        title: "Demo".into(),
        transport: Transport::Demo,
        call_timeout: DEFAULT_CALL_TIMEOUT,
        keepalive_interval: Some(DEFAULT_KEEPALIVE),
        repetition: Repetition::default(),
    }
}

fn http_url(text: &str, url: &Spanned<String>) -> Result<Url, Mistake> {
    let wrong = |why: String| Mistake {
        line: Some(line(text, url.span().start)),
        what: format!("`{}` is not an address of an MCP server: {why}.", url.get_ref()),
        remedy: "Write an http or https address, such as \"http://127.0.0.1:3001/mcp\".".into(),
    };
    let parsed = Url::parse(url.get_ref()).map_err(|error| wrong(error.to_string()))?;
    match parsed.scheme() {
        "http" | "https" if parsed.has_host() => Ok(parsed),
        scheme => Err(wrong(format!("`{scheme}` is not http or https"))),
    }
}

fn span(text: &str, span: Option<&Spanned<Span>>, default: Duration) -> Result<Duration, Mistake> {
    let Some(found) = span else {
        return Ok(default);
    };
    match found.get_ref() {
        Span::Seconds(seconds) => Ok(Duration::from_secs(*seconds)),
        Span::Text(words) => humantime::parse_duration(words).map_err(|_| Mistake {
            line: Some(line(text, found.span().start)),
            what: format!("`{words}` is not a length of time."),
            remedy: "Write seconds, or a text such as \"3m\" or \"10s\".".into(),
        }),
    }
}

fn line(text: &str, offset: usize) -> usize {
    1 + text[..offset.min(text.len())].matches('\n').count()
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
    fn a_person_says_which_tools_may_be_called_twice() {
        let text = "[upstreams.a]\nurl = \"http://x\"\ntools.write.retry = \"safe\"\ntools.erase.retry = \"never\"\n";
        let repetition = &Config::parse(text).unwrap().upstreams[0].repetition;
        assert_eq!(
            repetition,
            &Repetition { trust_annotations: false, safe_tools: vec!["write".into()] }
        );
    }

    #[test]
    fn a_shown_address_holds_no_secret() {
        let url = Url::parse("https://me:secret@example.com/mcp?key=secret").unwrap();
        assert_eq!(Transport::Http { url }.target(), "https://example.com/mcp");
    }
}
