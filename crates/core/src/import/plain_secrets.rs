//! Finds plain-text secrets in an entry and replaces them with references to the keychain.

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use super::free;
use crate::config::carries_secret;
use crate::config::edit::{NewSignIn, ServerSpec};
use crate::security::redaction::known::Secret;
use crate::security::secret_ref::Template;

/// Collects the secrets of one entry.
pub(super) struct SecretCollector {
    upstream: String,
    taken: BTreeSet<String>,
    secrets: Vec<(String, Secret)>,
}

/// A secret in a place where references are not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Its arguments contain a secret that every program on this computer can read. Pass it in `env` first."
)]
pub(super) struct InArguments;

/// Prefixes of tokens of well-known services.
const BEGINNINGS: [&str; 16] = [
    "sk-",
    "sk_",
    "pk_live",
    "rk_live",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
    "eyJ",
    "hf_",
    "npm_",
];
/// Parts of the names of variables and parameters that hold secrets.
const SIGNS: [&str; 12] = [
    "token",
    "secret",
    "passw",
    "passphrase",
    "apikey",
    "api_key",
    "api-key",
    "_key",
    "-key",
    "auth",
    "credential",
    "_pat",
];
/// Complete names of parameters that hold secrets.
const NAMES: [&str; 6] = ["key", "pat", "pwd", "sig", "code", "jwt"];

impl SecretCollector {
    pub(super) fn new(upstream: &str, kept: &BTreeSet<String>) -> Self {
        Self { upstream: upstream.to_owned(), taken: kept.clone(), secrets: Vec::new() }
    }

    pub(super) fn into_secrets(self) -> Vec<(String, Secret)> {
        self.secrets
    }

    /// The entry with references instead of secrets.
    pub(super) fn clean(&mut self, way: &ServerSpec) -> Result<ServerSpec, InArguments> {
        Ok(match way {
            ServerSpec::Preset(preset) => ServerSpec::Preset(preset.clone()),
            ServerSpec::Http { url, headers, sign_in } => {
                let url = self.address(url);
                let headers = self.pairs(headers, carries_secret_in_header);
                // Evermoor does not sign in to an address with a secret in it, or besides a token.
                let is_plain = Template::parse(&url).is_ok_and(|url| url.is_plain());
                let has_token =
                    headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
                let sign_in = sign_in.as_ref().filter(|_| is_plain && !has_token);
                let sign_in = sign_in.map(|sign_in| self.sign_in(sign_in));
                ServerSpec::Http { url, headers, sign_in }
            }
            ServerSpec::Program { command, args, env, cwd } => {
                if has_secret(args) {
                    return Err(InArguments);
                }
                let (command, args, cwd) = (command.clone(), args.clone(), cwd.clone());
                ServerSpec::Program { command, args, env: self.pairs(env, is_secret), cwd }
            }
        })
    }

    /// The sign-in with a reference instead of the client's secret.
    pub(super) fn sign_in(&mut self, sign_in: &NewSignIn) -> NewSignIn {
        let secret = sign_in.client_secret.as_deref();
        let client_secret = secret.map(|secret| match Template::parse(secret) {
            Ok(secret) if !secret.is_plain() => secret.as_written().to_owned(),
            Ok(_) | Err(_) => self.keep("client-secret", secret),
        });
        NewSignIn { client_secret, ..sign_in.clone() }
    }

    fn pairs(
        &mut self,
        pairs: &BTreeMap<String, String>,
        secret: impl Fn(&str, &str) -> bool,
    ) -> BTreeMap<String, String> {
        let one = |(name, value): (&String, &String)| {
            let is_plain = Template::parse(value).is_ok_and(|value| value.is_plain());
            let kept = match is_plain && secret(name, value) {
                true => self.keep(name, value),
                false => value.clone(),
            };
            (name.clone(), kept)
        };
        pairs.iter().map(one).collect()
    }

    /// Collects a value and returns its reference. A scheme before the token ("Bearer") is kept.
    fn keep(&mut self, what: &str, value: &str) -> String {
        let (scheme, token) = match value.split_once(' ') {
            Some((scheme, token)) if scheme.chars().all(|c| c.is_ascii_alphabetic()) => {
                (format!("{scheme} "), token.trim())
            }
            Some(_) | None => (String::new(), value),
        };
        let filled = Template::parse(token).and_then(|it| it.fill(|_| Ok(String::new())));
        let secret = filled.unwrap_or_else(|_| Secret::new(token));
        if let Some((name, _)) = self.secrets.iter().find(|(_, kept)| *kept == secret) {
            return format!("{scheme}${{keyring:{name}}}");
        }
        let usual = match self.secrets.is_empty() {
            true => self.upstream.clone(),
            false => format!("{}-{}", self.upstream, super::slug(what)),
        };
        let name = free(&super::slug(&usual), &self.taken);
        self.taken.insert(name.clone());
        self.secrets.push((name.clone(), secret));
        format!("{scheme}${{keyring:{name}}}")
    }

    /// Replaces the password and the secrets in the path and query of an address.
    fn address(&mut self, text: &str) -> String {
        let plain = Template::parse(text).is_ok_and(|template| template.is_plain());
        let Some(url) = Url::parse(text).ok().filter(|_| plain) else { return text.to_owned() };
        let mut done = format!("{}://", url.scheme());
        if let Some(password) = url.password() {
            let kept = self.keep("password", &decoded(password));
            done += &format!("{}:{kept}@", url.username());
        } else if !url.username().is_empty() {
            done += &format!("{}@", url.username());
        }
        done += url.host_str().unwrap_or_default();
        if let Some(port) = url.port() {
            done += &format!(":{port}");
        }
        let segments = url.path().split('/').map(|segment| match looks_made(&decoded(segment)) {
            true => self.keep("path", &decoded(segment)),
            false => segment.to_owned(),
        });
        done += &segments.collect::<Vec<_>>().join("/");
        let pair = |pair: &str| match pair.split_once('=') {
            Some((name, value)) if is_secret(name, &decoded(value)) => {
                format!("{name}={}", self.keep(name, &decoded(value)))
            }
            Some(_) | None => pair.to_owned(),
        };
        if let Some(query) = url.query() {
            done += &format!("?{}", query.split('&').map(pair).collect::<Vec<_>>().join("&"));
        }
        done
    }
}

fn carries_secret_in_header(name: &str, value: &str) -> bool {
    carries_secret(&name.to_ascii_lowercase(), value) || looks_made(value)
}

/// Whether a variable or parameter looks like a secret, judging by its name and value.
fn is_secret(name: &str, value: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let named = NAMES.contains(&name.as_str()) || SIGNS.iter().any(|sign| name.contains(sign));
    let says_little = value.len() < 6
        || value.parse::<f64>().is_ok()
        || ["true", "false"].contains(&value)
        || value.starts_with(['/', '~', '.']);
    (named && !says_little) || looks_made(value) || has_password(value)
}

/// Whether a value looks like a generated secret.
fn looks_made(value: &str) -> bool {
    let known = BEGINNINGS.iter().any(|start| value.starts_with(start)) && value.len() >= 16;
    let letters = value.chars().filter(char::is_ascii_alphabetic).count();
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let alike = |c: char| c.is_ascii_alphanumeric() || "-_=+".contains(c);
    // Versions, dates and names with numbers are shorter or have fewer digits.
    known || (value.len() >= 24 && value.chars().all(alike) && digits >= 5 && letters >= 5)
}

/// Whether a value is an address with a password in it.
fn has_password(value: &str) -> bool {
    Url::parse(value).is_ok_and(|url| url.password().is_some())
}

fn has_secret(args: &[String]) -> bool {
    let mut follows = false;
    args.iter().any(|argument| {
        let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
        let found = (follows
            && !argument.starts_with('-')
            && argument.len() >= 6
            && !argument.starts_with(['/', '~', '.']))
            || (argument.starts_with('-') && is_secret(name, value))
            || looks_made(argument)
            || has_password(argument);
        let is_option = argument.starts_with('-') && !argument.contains('=');
        follows =
            is_option && SIGNS.iter().any(|sign| argument.to_ascii_lowercase().contains(sign));
        found
    })
}

/// Percent-decodes a part of an address.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let digits = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}
