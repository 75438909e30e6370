//! The entry that points to Evermoor, in each editor's own spelling.

use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use crate::entry::is_connection_field;
use crate::format::Format;
use crate::format::tree::Tree;
use crate::table::{ConfigLanguage, EditorSpec};

/// How an editor reaches the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditorTransport {
    /// Over HTTP, with a token.
    Http,
    /// Through `evermoor connect`.
    Stdio,
}

/// How to reach the gateway that an entry points to.
#[derive(Clone)]
pub struct GatewayAccess {
    /// The origin of its URL, such as `http://127.0.0.1:4137`.
    pub origin: String,
    /// The editor's token.
    pub token: String,
    /// The path of this program, for editors that start it.
    pub program: PathBuf,
    /// The value of `--home`, if one was given.
    pub home: Option<PathBuf>,
}

/// An entry for Evermoor: its name, and the upstream it points to, or all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatewayEntry {
    pub name: String,
    pub upstream: Option<String>,
}

/// The name of the entry for all upstreams.
pub const ENTRY_NAME: &str = "evermoor";

impl GatewayEntry {
    pub fn for_all() -> Self {
        Self { name: ENTRY_NAME.to_owned(), upstream: None }
    }

    pub fn for_upstream(upstream: &str) -> Self {
        Self { name: upstream.to_owned(), upstream: Some(upstream.to_owned()) }
    }
}

impl GatewayAccess {
    fn url(&self, gateway_entry: &GatewayEntry) -> String {
        match &gateway_entry.upstream {
            Some(upstream) => format!("{}/mcp/{upstream}", self.origin),
            None => format!("{}/mcp", self.origin),
        }
    }

    fn args(&self, client: &EditorSpec, gateway_entry: &GatewayEntry) -> Vec<String> {
        let mut args = vec!["connect".to_owned()];
        args.extend(gateway_entry.upstream.clone());
        args.extend(["--editor".to_owned(), client.id.clone()]);
        if let Some(home) = &self.home {
            args.extend(["--home".to_owned(), home.display().to_string()]);
        }
        args
    }
}

/// The entry for an editor.
pub fn desired_entry(
    client: &EditorSpec,
    gateway_entry: &GatewayEntry,
    transport: EditorTransport,
    access: &GatewayAccess,
) -> Tree {
    let template = match (transport, &client.http) {
        (EditorTransport::Http, Some(http)) => http,
        (EditorTransport::Http, None) | (EditorTransport::Stdio, _) => &client.stdio,
    };
    fill(template, client, gateway_entry, access)
}

fn fill(
    template: &Tree,
    client: &EditorSpec,
    gateway_entry: &GatewayEntry,
    access: &GatewayAccess,
) -> Tree {
    let args = || access.args(client, gateway_entry).into_iter().map(Tree::Text);
    match template {
        Tree::Text(text) => match text.as_str() {
            "$NAME" => Tree::text(&gateway_entry.name),
            "$URL" => Tree::Text(access.url(gateway_entry)),
            "$COMMAND" => Tree::Text(access.program.display().to_string()),
            "$ARGS" => Tree::List(args().collect()),
            "$HEADERS" => {
                let bearer = Tree::Text(format!("Bearer {}", access.token));
                Tree::Map(vec![("Authorization".to_owned(), bearer)])
            }
            _ => template.clone(),
        },
        Tree::List(items) => {
            // `$ARGS` after `$COMMAND` in the same list: the arguments become items of it.
            let filled = items.iter().flat_map(|item| {
                let filled = fill(item, client, gateway_entry, access);
                filled.as_list().map_or_else(|| vec![filled.clone()], <[Tree]>::to_vec)
            });
            Tree::List(filled.collect())
        }
        Tree::Map(pairs) => {
            let filled = |(name, value): &(String, Tree)| {
                (name.clone(), fill(value, client, gateway_entry, access))
            };
            Tree::Map(pairs.iter().map(filled).collect())
        }
        Tree::Null | Tree::Bool(_) | Tree::Bare(_) => template.clone(),
    }
}

/// The entry that replaces an existing one: Evermoor's, with the fields that the user added.
pub(crate) fn merged(there: &Tree, ours: &Tree) -> Tree {
    let (Tree::Map(old), Tree::Map(new)) = (there, ours) else {
        return ours.clone();
    };
    let known = |name: &str| new.iter().find(|(key, _)| key == name);
    let mut done = Vec::new();
    for (name, value) in old {
        match known(name) {
            Some((_, new)) if is_connection_field(name) => done.push((name.clone(), new.clone())),
            None if is_connection_field(name) => {}
            // Other settings of the user, such as a timeout, stay.
            Some(_) | None => done.push((name.clone(), value.clone())),
        }
    }
    let missing = new.iter().filter(|(name, _)| old.iter().all(|(key, _)| key != name));
    done.extend(missing.cloned());
    Tree::Map(done)
}

/// The text to paste into an editor that Evermoor cannot edit.
pub fn snippet(client: &EditorSpec, entries: &[(String, Tree)]) -> String {
    match client.language {
        ConfigLanguage::Of(format) => format.snippet(&client.servers, entries),
        ConfigLanguage::Elisp => entries.iter().map(|(name, entry)| elisp(name, entry)).collect(),
    }
}

fn elisp(name: &str, entry: &Tree) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let command = entry.get("command").and_then(Tree::as_text).unwrap_or_default();
    let args = entry.get("args").and_then(Tree::as_list).unwrap_or_default();
    let args: Vec<String> = args.iter().filter_map(Tree::as_text).map(quoted).collect();
    format!(
        "(with-eval-after-load 'mcp-hub\n  (add-to-list 'mcp-hub-servers\n               '({} . (:command {} :args ({})))))\n",
        quoted(name),
        quoted(command),
        args.join(" ")
    )
}

/// A link that makes the editor add the entry. The entry uses `evermoor connect`, so the link has no
/// token in it.
pub fn install_link(
    client: &EditorSpec,
    gateway_entry: &GatewayEntry,
    access: &GatewayAccess,
) -> Option<String> {
    let template = client.link.as_ref()?;
    let entry = desired_entry(client, gateway_entry, EditorTransport::Stdio, access);
    let encoded = |text: &str| {
        url::form_urlencoded::byte_serialize(text.as_bytes())
            .collect::<String>()
            .replace('+', "%20")
    };
    let mut with_name = vec![("name".to_owned(), Tree::text(&gateway_entry.name))];
    with_name.extend(entry.as_map().unwrap_or_default().iter().cloned());
    let args: String = access
        .args(client, gateway_entry)
        .iter()
        .map(|arg| format!("&arg={}", encoded(arg)))
        .collect();
    let base64 = BASE64.encode(Format::json_line(&entry));
    let program = encoded(&access.program.display().to_string());
    let filled =
        template.replace("$NAME", &encoded(&gateway_entry.name)).replace("$COMMAND", &program);
    let filled = filled.replace("$ARGS", &args).replace("$BASE64", &encoded(&base64));
    Some(filled.replace("$WITH_NAME", &encoded(&Format::json_line(&Tree::Map(with_name)))))
}
