//! HTTP options of an upstream besides its address: headers, certificates, a proxy.
//!
//! Secrets do not belong in the file: a header whose name or value looks like a secret is refused
//! unless it is a reference. Headers that MCP or the transport sets are refused as well, because
//! overriding them breaks the connection.

use std::collections::BTreeMap;

use toml::Spanned;
use url::Url;

use super::address::UpstreamUrl;
use super::oauth::OAuthOptions;
use crate::config::ConfigError;
use crate::config::tables::{CaFiles, UpstreamTable, line};
use crate::security::secret_ref::Template;

/// The HTTP options of an upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpOptions {
    /// Sent with every request; names are in lower case.
    pub headers: BTreeMap<String, Template>,
    /// PEM files with CAs that are trusted in addition to the system's. A leading `~` is the home
    /// folder.
    pub ca_files: Vec<String>,
    pub proxy: ProxySetting,
    /// How Evermoor signs in, if it does.
    /// Boxed because few servers have it, and it is large.
    pub oauth: Option<Box<OAuthOptions>>,
}

/// The proxy to use. Servers on this machine are always reached directly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ProxySetting {
    /// The proxy settings of the system and its environment variables.
    #[default]
    System,
    Never,
    At(Url),
}

/// Headers that the transport sets itself.
const RESERVED: [&str; 19] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "keep-alive",
    "last-event-id",
    "origin",
    "proxy-authenticate",
    "proxy-connection",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
];

impl HttpOptions {
    pub(crate) fn read(
        text: &str,
        url: &UpstreamUrl,
        table: &UpstreamTable,
    ) -> Result<Self, ConfigError> {
        let mut headers = BTreeMap::new();
        for (name, value) in &table.headers {
            let (name, value) = header(text, name, value)?;
            headers.insert(name, value);
        }
        let ca_files = match &table.ca_file {
            Some(CaFiles::One(file)) => vec![file.clone()],
            Some(CaFiles::Many(files)) => files.clone(),
            None => Vec::new(),
        };
        let proxy = match &table.proxy {
            Some(named) => ProxySetting::read(text, named)?,
            None => ProxySetting::System,
        };
        let oauth = OAuthOptions::read(text, url, table)?.map(Box::new);
        Ok(Self { headers, ca_files, proxy, oauth })
    }
}

impl ProxySetting {
    fn read(text: &str, named: &Spanned<String>) -> Result<Self, ConfigError> {
        let wrong = |what: String, remedy: &str| ConfigError {
            line: Some(line(text, named.span().start)),
            what,
            remedy: remedy.to_owned(),
        };
        let url = match named.get_ref().as_str() {
            "system" => return Ok(Self::System),
            "none" => return Ok(Self::Never),
            other => Url::parse(other)
                .ok()
                .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host()),
        };
        let Some(url) = url else {
            let what = "`proxy` is not an http or https address.".to_owned();
            let remedy =
                "Write \"system\", \"none\" or an address such as \"http://127.0.0.1:3128\".";
            return Err(wrong(what, remedy));
        };
        if !url.username().is_empty() || url.password().is_some() {
            let what =
                "`proxy` contains a user name or password, which do not belong in this file.";
            return Err(wrong(what.into(), "Write the address alone."));
        }
        Ok(Self::At(url))
    }
}

/// Validates one header.
fn header(
    text: &str,
    name: &Spanned<String>,
    value: &Spanned<String>,
) -> Result<(String, Template), ConfigError> {
    let wrong = |what: String, remedy: &str| ConfigError {
        line: Some(line(text, name.span().start)),
        what,
        remedy: remedy.to_owned(),
    };
    let (shown, name) = (name.get_ref(), name.get_ref().to_ascii_lowercase());
    let value = template(text, value)?;
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(in_name) {
        let what = format!("\"{shown}\" in `headers` is not a valid header name.");
        return Err(wrong(what, "Write headers = { X-Name = \"value\" }."));
    }
    if RESERVED.contains(&name.as_str()) || name.starts_with("mcp-") {
        let what = format!("Evermoor sets the header \"{shown}\" itself.");
        return Err(wrong(what, "Remove it from `headers`."));
    }
    if value.is_plain() && carries_secret(&name, value.as_written()) {
        let what = format!(
            "The header \"{shown}\" contains a secret, which does not belong in this file."
        );
        return Err(wrong(
            what,
            "Store it in the keychain with `evermoor secret set NAME`, then write `${keyring:NAME}` instead.",
        ));
    }
    let sendable = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let written = value.as_written();
    if !value.literals().all(sendable) || written.trim() != written {
        let what = format!("The value of the header \"{shown}\" cannot be sent.");
        return Err(wrong(what, "Write printable ASCII on one line."));
    }
    Ok((name, value))
}

/// A setting that may contain references to secrets.
pub(crate) fn template(text: &str, value: &Spanned<String>) -> Result<Template, ConfigError> {
    Template::parse(value.get_ref()).map_err(|bad| ConfigError {
        line: Some(line(text, value.span().start)),
        what: bad.to_string(),
        remedy: bad.remedy().to_owned(),
    })
}

/// Whether a header looks like a secret, judging by its name (in lower case) and its value.
pub fn carries_secret(name: &str, value: &str) -> bool {
    is_secret(name) || carries_credentials(value)
}

/// Whether a header's name suggests that its value is a secret.
fn is_secret(name: &str) -> bool {
    let sign = |part: &str| {
        ["authori", "authent", "credential", "passw", "secret"]
            .iter()
            .any(|sign| part.starts_with(sign))
            || ["auth", "key", "token", "cookie", "cookie2", "signature", "jwt", "session", "sid"]
                .iter()
                .any(|sign| part.ends_with(sign))
    };
    name.split(['-', '_', '.']).any(sign)
}

fn carries_credentials(value: &str) -> bool {
    let scheme = value.split(' ').next().unwrap_or_default().to_ascii_lowercase();
    ["bearer", "basic", "digest"].contains(&scheme.as_str()) && value.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, TransportConfig};

    fn parse(entry: &str) -> Result<HttpOptions, ConfigError> {
        let config =
            Config::parse(&format!("[upstreams.a]\nurl = \"https://a.example/mcp\"\n{entry}\n"))?;
        match config.upstreams[0].transport.clone() {
            TransportConfig::Http { reach, .. } => Ok(reach),
            other @ (TransportConfig::Stdio(_)
            | TransportConfig::App { .. }
            | TransportConfig::Demo) => {
                panic!("an address: {other:?}")
            }
        }
    }

    #[test]
    fn the_defaults_are_no_headers_the_systems_certificates_and_its_proxy() {
        assert_eq!(parse("").unwrap(), HttpOptions::default());
        assert_eq!(parse("proxy = \"system\"").unwrap(), HttpOptions::default());
    }

    #[test]
    fn headers_certificates_and_a_proxy_are_read() {
        let reach = parse(
            "headers = { X-Team = \"blue\", \"User-Agent\" = \"mine/1\" }\n\
             ca_file = [\"~/ca.pem\", \"/etc/ca.pem\"]\nproxy = \"http://proxy.example:3128\"",
        );
        let reach = reach.unwrap();
        assert_eq!(reach.headers["x-team"].as_written(), "blue");
        assert_eq!(reach.headers["user-agent"].as_written(), "mine/1");
        assert_eq!(reach.ca_files, ["~/ca.pem", "/etc/ca.pem"]);
        assert!(matches!(reach.proxy, ProxySetting::At(url) if url.port() == Some(3128)));
        assert_eq!(parse("ca_file = \"ca.pem\"").unwrap().ca_files, ["ca.pem"]);
        assert_eq!(parse("proxy = \"none\"").unwrap().proxy, ProxySetting::Never);
    }

    #[test]
    fn a_header_with_a_secret_is_refused_without_repeating_its_value() {
        for name in [
            "Authorization",
            "Proxy-Authorization",
            "Cookie",
            "Set-Cookie",
            "X-Api-Key",
            "apikey",
            "X-Auth",
            "X-Auth-Token",
            "X-OAuth",
            "Private-Token",
            "X-Client-Secret",
            "X-Password",
            "X-Amz-Signature",
            "X-Session",
        ] {
            let mistake =
                parse(&format!("proxy = \"none\"\nheaders.{name} = \"hidden\"")).unwrap_err();
            assert_eq!(mistake.line, Some(4), "{mistake}");
            assert!(
                mistake.what.contains(name) && mistake.remedy.contains("keychain"),
                "{mistake}"
            );
            assert!(!mistake.to_string().contains("hidden"), "{mistake}");
        }
        assert!(parse("headers.X-Pass-On = \"Bearer hidden\"").is_err(), "its value is a secret");
        for name in ["X-Keyboard", "X-Author", "X-Tokenizer", "X-Team", "X-Monkeys"] {
            assert!(parse(&format!("headers.{name} = \"a\"")).is_ok(), "{name} is no secret");
        }
    }

    #[test]
    fn a_header_may_refer_to_a_secret() {
        let reach = parse("headers.Authorization = \"Bearer ${keyring:canny}\"").unwrap();
        let needs: Vec<String> =
            reach.headers["authorization"].references().map(ToString::to_string).collect();
        assert_eq!(needs, ["${keyring:canny}"]);
        let mistake = parse("proxy = \"none\"\nheaders.X-A = \"${keyrng:a}\"").unwrap_err();
        assert_eq!(mistake.line, Some(4));
        assert!(mistake.remedy.contains("${keyring:NAME}"), "{mistake}");
    }

    #[test]
    fn a_reserved_header_is_refused() {
        for name in [
            "Host",
            "Connection",
            "transfer-encoding",
            "Content-Type",
            "Accept",
            "Mcp-Session-Id",
            "MCP-Protocol-Version",
            "Last-Event-ID",
            "TE",
            "Upgrade",
        ] {
            let mistake = parse(&format!("headers.{name} = \"a\"")).unwrap_err();
            assert!(mistake.what.contains("Evermoor sets"), "{mistake}");
        }
    }

    #[test]
    fn invalid_headers_and_proxies_are_refused_with_a_remedy() {
        for (entry, says) in [
            ("headers = { \"a b\" = \"x\" }", "header name"),
            ("headers = { x-a = \"one\\ntwo\" }", "cannot be sent"),
            ("headers = { x-a = \"é\" }", "cannot be sent"),
            ("proxy = \"ftp://x\"", "not an http or https address"),
            ("proxy = \"yes\"", "not an http or https address"),
            ("proxy = \"http://me:hidden@x:1\"", "do not belong"),
        ] {
            let mistake = parse(entry).unwrap_err();
            assert_eq!(mistake.line, Some(3), "{mistake}");
            assert!(mistake.what.contains(says) && !mistake.remedy.is_empty(), "{mistake}");
            assert!(!mistake.to_string().contains("hidden"), "{mistake}");
        }
    }

    #[test]
    fn a_program_has_no_headers_and_no_proxy() {
        let found =
            Config::parse("[upstreams.a]\ncommand = \"x\"\nproxy = \"none\"\n").unwrap_err();
        assert!(found.what.contains("a `url`") || found.remedy.contains("`url`"), "{found}");
    }
}
