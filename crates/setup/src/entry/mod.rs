//! One MCP server in an editor's file. Every product spells an entry differently; [`ServerEntry`] is what
//! they all mean.
//!
//! - [`desired`]: the entry that points to Evermoor
//! - [`sign_in`]: how an editor signs in to a server
//!
//! Depends on [`crate::format`] for values and on [`crate::table`] for how each editor spells them.

pub mod desired;
mod sign_in;

use evermoor_core::config::edit::NewSignIn;

use crate::format::tree::Tree;
use crate::table::EditorSpec;

/// A server in an editor's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerEntry {
    pub name: String,
    pub kind: EntryKind,
    /// Set if the entry says that the editor signs in to the server.
    pub sign_in: Option<NewSignIn>,
    /// The user turned it off in the editor.
    pub disabled: bool,
}

/// How to connect to it. Environment variables are written `${env:NAME}` in every value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    Stdio { command: String, args: Vec<String>, env: Vec<(String, String)>, folder: Option<String> },
    Http { url: String, headers: Vec<(String, String)> },
    Sse { url: String, headers: Vec<(String, String)> },
}

impl EntryKind {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stdio { .. } => "stdio",
            Self::Http { .. } => "http",
            Self::Sse { .. } => "sse",
        }
    }
}

/// The names that products use for the same field.
const ADDRESS: [&str; 5] = ["url", "serverUrl", "httpUrl", "uri", "endpoint"];
const PROGRAM: [&str; 2] = ["command", "cmd"];
const ENVIRONMENT: [&str; 3] = ["env", "environment", "envs"];
const HEADERS: [&str; 2] = ["headers", "http_headers"];
const FOLDER: [&str; 2] = ["cwd", "working_directory"];
const TYPE: [&str; 2] = ["type", "transport"];

/// Whether a field says how to connect to the server. Evermoor leaves all other fields alone.
pub(crate) fn is_connection_field(name: &str) -> bool {
    let more = ["args", "requestOptions", "bearer_token_env_var", "env_http_headers", "env_vars"];
    let known = [&ADDRESS[..], &PROGRAM, &ENVIRONMENT, &HEADERS, &FOLDER, &TYPE, &more];
    known.iter().any(|names| names.contains(&name))
}

impl ServerEntry {
    /// Reads an entry; `None` if the value is not one.
    pub fn read(client: &EditorSpec, name: &str, tree: &Tree) -> Option<Self> {
        let any = |names: &[&str]| names.iter().find_map(|name| tree.get(name));
        let neutral = |text: &str| neutral(client, text);
        let pairs = |tree: Option<&Tree>| -> Vec<(String, String)> {
            let pairs = tree.and_then(Tree::as_map).unwrap_or_default().iter();
            pairs
                .filter_map(|(name, value)| Some((name.clone(), neutral(&value.to_plain()?))))
                .collect()
        };
        let texts = |tree: &Tree| -> Vec<String> {
            tree.as_list()
                .unwrap_or_default()
                .iter()
                .filter_map(Tree::to_plain)
                .map(|text| neutral(&text))
                .collect()
        };
        let kind = if let Some(url) = any(&ADDRESS).and_then(Tree::as_text) {
            let inner = tree.get("requestOptions").and_then(|options| options.get("headers"));
            let mut headers = pairs(any(&HEADERS).or(inner));
            headers.extend(headers_from_env(tree));
            let url = neutral(url);
            let is_sse = any(&TYPE).and_then(Tree::as_text) == Some("sse");
            if is_sse { EntryKind::Sse { url, headers } } else { EntryKind::Http { url, headers } }
        } else {
            let program = any(&PROGRAM)?;
            // Older versions of Zed write the whole command in one map, with the program in `path`.
            let nested = program.get("path").map(|path| (path, program));
            let (program, rest) = nested.unwrap_or((program, tree));
            let mut words =
                program.as_text().map_or_else(|| texts(program), |word| vec![neutral(word)]);
            words.extend(rest.get("args").map(texts).unwrap_or_default());
            let env = ENVIRONMENT.iter().find_map(|name| rest.get(name));
            let folder = any(&FOLDER).and_then(Tree::as_text).map(neutral);
            let (command, args) = words.split_first()?;
            EntryKind::Stdio {
                command: command.clone(),
                args: args.to_vec(),
                env: pairs(env),
                folder,
            }
        };
        let disabled = tree.get("disabled") == Some(&Tree::Bool(true))
            || tree.get("enabled") == Some(&Tree::Bool(false));
        let sign_in = sign_in::read(tree, neutral);
        Some(Self { name: name.to_owned(), kind, sign_in, disabled })
    }
}

/// The headers whose values Codex reads from environment variables.
fn headers_from_env(tree: &Tree) -> Vec<(String, String)> {
    let bearer = tree.get("bearer_token_env_var").and_then(Tree::as_text);
    let bearer = bearer.map(|name| ("Authorization".to_owned(), format!("Bearer ${{env:{name}}}")));
    let named = tree.get("env_http_headers").and_then(Tree::as_map).unwrap_or_default().iter();
    let named = named.filter_map(|(header, name)| {
        Some((header.clone(), format!("${{env:{}}}", name.as_text()?)))
    });
    bearer.into_iter().chain(named).collect()
}

/// Rewrites the editor's syntax for environment variables to `${env:NAME}`.
fn neutral(client: &EditorSpec, text: &str) -> String {
    let mut text = text.to_owned();
    for form in &client.variables {
        let Some((before, after)) = form.split_once("VAR") else { continue };
        let mut done = String::new();
        let mut rest = text.as_str();
        while let Some(at) = rest.find(before) {
            let inside = &rest[at + before.len()..];
            let length = inside
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(inside.len());
            let behind = &inside[length..];
            match behind.strip_prefix(after) {
                Some(behind) if length > 0 => {
                    done.push_str(&format!("{}${{env:{}}}", &rest[..at], &inside[..length]));
                    rest = behind;
                }
                Some(_) | None => {
                    done.push_str(&rest[..at + before.len()]);
                    rest = inside;
                }
            }
        }
        done.push_str(rest);
        text = done;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::client;

    fn read(id: &str, text: &str) -> Vec<ServerEntry> {
        let client = client(id).unwrap();
        let crate::table::ConfigLanguage::Of(format) = client.language else { panic!() };
        let tree = format.read(text).unwrap();
        client
            .servers
            .entries(&tree)
            .iter()
            .filter_map(|(name, tree)| ServerEntry::read(client, name, tree))
            .collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn every_spelling_of_an_entry_reads_the_same() {
        let wanted = EntryKind::Http {
            url: "http://x/mcp".into(),
            headers: pairs(&[("Authorization", "Bearer ${env:KEY}")]),
        };
        for (id, text) in [
            (
                "claude-code",
                r#"{"mcpServers":{"x":{"type":"http","url":"http://x/mcp","headers":{"Authorization":"Bearer ${KEY}"}}}}"#,
            ),
            (
                "cursor",
                r#"{"mcpServers":{"x":{"url":"http://x/mcp","headers":{"Authorization":"Bearer ${env:KEY}"}}}}"#,
            ),
            (
                "windsurf",
                r#"{"mcpServers":{"x":{"serverUrl":"http://x/mcp","headers":{"Authorization":"Bearer ${env:KEY}"}}}}"#,
            ),
            (
                "qwen",
                r#"{"mcpServers":{"x":{"httpUrl":"http://x/mcp","headers":{"Authorization":"Bearer $KEY"}}}}"#,
            ),
            (
                "opencode",
                r#"{"mcp":{"x":{"type":"remote","url":"http://x/mcp","headers":{"Authorization":"Bearer {env:KEY}"}}}}"#,
            ),
            ("codex", "[mcp_servers.x]\nurl = 'http://x/mcp'\nbearer_token_env_var = 'KEY'\n"),
            (
                "goose",
                "extensions:\n  x:\n    type: streamable_http\n    uri: http://x/mcp\n    headers:\n      Authorization: Bearer ${KEY}\n",
            ),
            (
                "continue",
                "mcpServers:\n- name: x\n  type: streamable-http\n  url: http://x/mcp\n  requestOptions:\n    headers: {Authorization: 'Bearer ${{ secrets.KEY }}'}\n",
            ),
        ] {
            let entries = read(id, text);
            assert_eq!(
                (entries.len(), &entries[0].name[..], &entries[0].kind),
                (1, "x", &wanted),
                "{id}"
            );
        }
    }

    #[test]
    fn every_spelling_of_a_sign_in_reads_the_same() {
        let sign_in = |id: &str, text: &str| read(id, text).remove(0).sign_in;
        let own = NewSignIn {
            client_id: Some("mine".into()),
            client_secret: Some("${env:SECRET}".into()),
            scopes: vec!["read".into(), "write".into()],
        };
        for (id, text) in [
            (
                "cursor",
                r#"{"mcpServers":{"x":{"url":"https://x/mcp","auth":{"CLIENT_ID":"mine","CLIENT_SECRET":"${env:SECRET}","scopes":["read","write"]}}}}"#,
            ),
            (
                "claude-code",
                r#"{"mcpServers":{"x":{"type":"http","url":"https://x/mcp","oauth":{"clientId":"mine","clientSecret":"${SECRET}","scopes":"read write"}}}}"#,
            ),
            (
                "opencode",
                r#"{"mcp":{"x":{"type":"remote","url":"https://x/mcp","oauth":{"clientId":"mine","clientSecret":"{env:SECRET}","scope":"read write"}}}}"#,
            ),
        ] {
            assert_eq!(sign_in(id, text), Some(own.clone()), "{id}");
        }
        let entry =
            |more: &str| format!(r#"{{"mcpServers":{{"x":{{"url":"https://x/mcp"{more}}}}}}}"#);
        for some in [r#","oauth":true"#, r#","oauth":{}"#, r#","auth":"oauth""#] {
            assert_eq!(sign_in("cursor", &entry(some)), Some(NewSignIn::default()), "{some}");
        }
        for none in
            ["", r#","oauth":false"#, r#","oauth":{"enabled":false}"#, r#","auth":"a-token""#]
        {
            assert_eq!(sign_in("cursor", &entry(none)), None, "{none}");
        }
        let codex = sign_in("codex", "[mcp_servers.x]\nurl = 'https://x/mcp'\nscopes = ['read']\n");
        assert_eq!(codex.map(|sign_in| sign_in.scopes), Some(vec!["read".to_owned()]));
    }

    #[test]
    fn programs_are_read_with_arguments_environment_and_disabled_flag() {
        let env = pairs(&[("A", "1")]);
        let args = vec!["-y".to_owned()];
        let wanted = EntryKind::Stdio { command: "npx".into(), args, env, folder: None };
        let one = read(
            "cline",
            r#"{"mcpServers":{"x":{"command":"npx","args":["-y"],"env":{"A":"1"},"disabled":true}}}"#,
        );
        assert_eq!((&one[0].kind, one[0].disabled), (&wanted, true));
        let two = read(
            "kilo",
            r#"{"mcp":{"x":{"type":"local","command":["npx","-y"],"environment":{"A":1},"enabled":false}}}"#,
        );
        assert_eq!((&two[0].kind, two[0].disabled), (&wanted, true));
        let three = read(
            "goose",
            "extensions:\n  x: {type: stdio, cmd: npx, args: [-y], envs: {A: 1}, enabled: true}\n",
        );
        assert_eq!((&three[0].kind, three[0].disabled), (&wanted, false));
        let four = read(
            "zed",
            r#"{"context_servers":{"x":{"command":{"path":"npx","args":["-y"],"env":{"A":"1"}}}}}"#,
        );
        assert_eq!((&four[0].kind, four[0].disabled), (&wanted, false));
        let old =
            read("cursor", r#"{"mcpServers":{"x":{"type":"sse","url":"http://x/sse"},"junk":1}}"#);
        assert_eq!(old.len(), 1);
        assert_eq!(old[0].kind.name(), "sse");
    }
}
