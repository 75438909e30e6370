//! Imports the MCP servers that editors already have as upstreams.
//!
//! The same server in several editors becomes one upstream. A server that is already an upstream is
//! not added again, so importing twice changes nothing. Secrets move to the keychain and are replaced
//! by references. A server that cannot be imported unchanged is skipped, with a reason.
//!
//! - `origin`: where an entry was found
//! - `bridge`, `project`, `variables`: rewrite an entry so that it works outside its editor
//! - `plain_secrets`: moves secrets out of an entry
//!
//! This module uses `catalog`, `config` and `security`. No other module of this crate uses it.

mod bridge;
mod origin;
mod plain_secrets;
mod project;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::{BTreeMap, BTreeSet};

use url::Url;

use crate::catalog::naming::UpstreamName;
use crate::config::edit::ServerSpec;
use crate::config::{Config, TransportConfig};
use crate::security::redaction::known::Secret;
use crate::security::secret_ref::Template;
pub use origin::{EntryOrigin, EntryScope};
use plain_secrets::SecretCollector;
pub use variables::UnsupportedVariable;

/// A server in an editor's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditorServer {
    pub origin: EntryOrigin,
    pub way: ServerSpec,
}

/// An upstream that replaces one or more entries of editors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedServer {
    pub name: String,
    /// The server to add, with references instead of secrets; `None` if it is already an upstream.
    pub way: Option<ServerSpec>,
    /// The secrets to store in the keychain first.
    pub secrets: Vec<(String, Secret)>,
    /// The entries that it replaces.
    pub from: Vec<EntryOrigin>,
}

/// A server that is not imported; without a name, a whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedServer {
    pub origin: EntryOrigin,
    pub why: String,
}

/// What to do with each server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportPlan {
    pub adopted: Vec<ImportedServer>,
    pub skipped: Vec<SkippedServer>,
}

/// Plans the import of these servers, given the current configuration and the names of the secrets in
/// the keychain.
pub fn plan(existing: &[EditorServer], config: &Config, kept: &BTreeSet<String>) -> ImportPlan {
    let mut plan = ImportPlan::default();
    // The servers seen so far, with their index in the plan.
    let mut known: Vec<(ServerSpec, usize)> = Vec::new();
    let mut names: BTreeSet<String> = all(config).map(|(name, _)| name.to_owned()).collect();
    let mut secret_names = kept.clone();
    for entry in existing {
        if is_ours(&entry.way, config) {
            continue;
        }
        let skip = |why: String| SkippedServer { origin: entry.origin.clone(), why };
        let way = match entry.origin.whose.folder() {
            Some(folder) => project::in_its_folder(&entry.way, folder),
            None => entry.way.clone(),
        };
        let way = match variables::translate(&bridge::unwrapped(&way)) {
            Ok(way) => way,
            Err(why) => {
                plan.skipped.push(skip(why.to_string()));
                continue;
            }
        };
        let way = if is_pieces(&way) { ServerSpec::Preset("pieces-os".into()) } else { way };
        let from = entry.origin.clone();
        if let Some((_, index)) = known.iter().find(|(other, _)| is_same_server(other, &way)) {
            let adopted = &mut plan.adopted[*index];
            adopted.from.push(from);
            add_sign_in(adopted, &way, &mut secret_names);
            continue;
        }
        let adopted = match all(config).find(|(_, transport)| is_same(transport, &way)) {
            Some((name, _)) => ImportedServer {
                name: name.to_owned(),
                way: None,
                secrets: Vec::new(),
                from: vec![from],
            },
            None => {
                let wanted = if way == ServerSpec::Preset("pieces-os".into()) {
                    "pieces"
                } else {
                    &entry.origin.name
                };
                let name = free(&slug(wanted), &names);
                let mut collector = SecretCollector::new(&name, &secret_names);
                let cleaned = match collector.clean(&way) {
                    Ok(cleaned) => cleaned,
                    Err(why) => {
                        plan.skipped.push(skip(why.to_string()));
                        continue;
                    }
                };
                let secrets = collector.into_secrets();
                secret_names.extend(secrets.iter().map(|(name, _)| name.clone()));
                names.insert(name.clone());
                ImportedServer { name, way: Some(cleaned), secrets, from: vec![from] }
            }
        };
        known.push((way, plan.adopted.len()));
        plan.adopted.push(adopted);
    }
    plan
}

fn all(config: &Config) -> impl Iterator<Item = (&str, &TransportConfig)> {
    config.upstreams.iter().chain(&config.off).map(|one| (one.name.as_str(), &one.transport))
}

/// Whether an entry points to Evermoor itself.
fn is_ours(way: &ServerSpec, config: &Config) -> bool {
    match way {
        ServerSpec::Http { url, .. } => Url::parse(url).is_ok_and(|url| {
            let port = config.gateway.listen.port();
            let path = url.path();
            let served = ["/mcp", "/sse"]
                .iter()
                .any(|it| path == *it || path.starts_with(&format!("{it}/")));
            is_loopback(&url) && url.port_or_known_default() == Some(port) && served
        }),
        ServerSpec::Program { command, args, .. } => {
            program(command) == "evermoor" && args.iter().any(|word| word == "connect")
        }
        ServerSpec::Preset(_) => false,
    }
}

/// Whether an entry points to PiecesOS: through its command-line tool, or at one of its ports.
fn is_pieces(way: &ServerSpec) -> bool {
    let leads = |text: &str| {
        Url::parse(text).is_ok_and(|url| {
            is_loopback(&url)
                && url.path().contains("/model_context_protocol/")
                && url.port().is_some_and(|port| (39300..=39333).contains(&port))
        })
    };
    match way {
        ServerSpec::Http { url, .. } => leads(url),
        ServerSpec::Program { command, args, .. } => {
            let starts = args.windows(2).any(|two| two[0] == "mcp" && two[1] == "start");
            let pieces = program(command) == "pieces" || args.iter().any(|word| word == "pieces");
            (pieces && starts) || args.iter().any(|word| leads(word))
        }
        ServerSpec::Preset(_) => false,
    }
}

/// The name of a program without its folder and extension.
fn program(command: &str) -> String {
    let file = command.rsplit(['/', '\\']).next().unwrap_or(command).to_ascii_lowercase();
    let endings = [".exe", ".cmd", ".bat"];
    endings.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(&file).to_owned()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether two entries are the same server. One of them may say more about how to sign in.
fn is_same_server(one: &ServerSpec, other: &ServerSpec) -> bool {
    match (one, other) {
        (
            ServerSpec::Http { url, headers, .. },
            ServerSpec::Http { url: wanted, headers: sent, .. },
        ) => url == wanted && headers == sent,
        (one, other) => one == other,
    }
}

/// Signs in to a server as one of its entries says, if the earlier ones say nothing about that.
fn add_sign_in(
    adopted: &mut ImportedServer,
    way: &ServerSpec,
    secret_names: &mut BTreeSet<String>,
) {
    let ServerSpec::Http { sign_in: Some(_), .. } = way else { return };
    let Some(ServerSpec::Http { sign_in: None, .. }) = &adopted.way else { return };
    let mut collector = SecretCollector::new(&adopted.name, secret_names);
    let Ok(cleaned) = collector.clean(way) else { return };
    // Its address and headers are those of the earlier entry, whose secrets are kept already.
    if let (
        Some(ServerSpec::Http { url, headers, sign_in }),
        ServerSpec::Http { sign_in: found, .. },
    ) = (&mut adopted.way, &cleaned)
        && cleaned
            == (ServerSpec::Http {
                url: url.clone(),
                headers: headers.clone(),
                sign_in: found.clone(),
            })
    {
        sign_in.clone_from(found);
        let secrets = collector.into_secrets();
        secret_names.extend(secrets.iter().map(|(name, _)| name.clone()));
        adopted.secrets.extend(secrets);
    }
}

/// Whether an upstream is the same server as an entry, ignoring secrets.
fn is_same(upstream: &TransportConfig, way: &ServerSpec) -> bool {
    match (upstream, way) {
        (TransportConfig::App { preset }, ServerSpec::Preset(wanted)) => preset == wanted,
        (TransportConfig::Http { url, reach }, ServerSpec::Http { url: wanted, headers, .. }) => {
            fits(url.template(), wanted) && fit(&reach.headers, headers, str::to_ascii_lowercase)
        }
        (TransportConfig::Stdio(known), ServerSpec::Program { command, args, env, cwd }) => {
            known.command == *command
                && known.args == *args
                && known.cwd == *cwd
                && fit(&known.env, env, str::to_owned)
        }
        (
            TransportConfig::App { .. } | TransportConfig::Http { .. } | TransportConfig::Stdio(_),
            _,
        )
        | (TransportConfig::Demo, _) => false,
    }
}

fn fit(
    known: &BTreeMap<String, Template>,
    wanted: &BTreeMap<String, String>,
    key: impl Fn(&str) -> String,
) -> bool {
    let fits = |(name, value): (&String, &String)| {
        known.get(&key(name)).is_some_and(|template| fits(template, value))
    };
    known.len() == wanted.len() && wanted.iter().all(fits)
}

/// Whether a template could expand to this text.
fn fits(template: &Template, text: &str) -> bool {
    if template.is_plain() || Template::parse(text).is_ok_and(|text| text == *template) {
        let plain = Template::parse(text).ok();
        return plain.is_some_and(|plain| plain == *template);
    }
    let literals: Vec<&str> = template.literals().collect();
    let mut rest = text;
    for (index, literal) in literals.iter().enumerate() {
        match rest.find(literal) {
            Some(at) if at == 0 || index > 0 || !template.as_written().starts_with(literal) => {
                rest = &rest[at + literal.len()..];
            }
            Some(_) | None => return false,
        }
    }
    true
}

/// Turns a name into a valid upstream name.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for character in name.chars() {
        match character {
            c if c.is_ascii_alphanumeric() => slug.push(c.to_ascii_lowercase()),
            _ if !slug.is_empty() && !slug.ends_with('-') => slug.push('-'),
            _ => {}
        }
    }
    slug.truncate(LONGEST);
    match slug.trim_end_matches('-') {
        "" => "server".into(),
        slug => slug.to_owned(),
    }
}

/// Leaves room for a numeric suffix.
const LONGEST: usize = 21;

/// This name, or the first numbered one that is not taken.
fn free(name: &str, taken: &BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let fits = |name: &String| !taken.contains(name) && UpstreamName::parse(name).is_ok();
    names.find(fits).unwrap_or_else(|| name.to_owned())
}
