//! Unwraps `mcp-remote`, a stdio bridge for editors that cannot use HTTP. Evermoor connects to the
//! server directly.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::config::edit::{NewSignIn, ServerSpec};

/// The server behind `mcp-remote`, if all options of the bridge have an equivalent here.
pub(super) fn unwrapped(way: &ServerSpec) -> ServerSpec {
    let ServerSpec::Program { args, env, .. } = way else { return way.clone() };
    behind(args, env).unwrap_or_else(|| way.clone())
}

fn behind(args: &[String], env: &BTreeMap<String, String>) -> Option<ServerSpec> {
    let at =
        args.iter().position(|word| word == "mcp-remote" || word.starts_with("mcp-remote@"))?;
    let mut words = args[at + 1..].iter();
    let url = words.next().filter(|url| url.starts_with("http"))?.clone();
    let (mut headers, mut sign_in) = (BTreeMap::new(), NewSignIn::default());
    while let Some(word) = words.next() {
        match word.as_str() {
            "--header" => {
                let (name, value) = words.next()?.split_once(':')?;
                headers.insert(name.trim().to_owned(), filled(value.trim(), env));
            }
            "--static-oauth-client-info" => {
                let client = object(words.next()?)?;
                sign_in.client_id = Some(client.get("client_id")?.as_str()?.to_owned());
                let secret = client.get("client_secret").and_then(Value::as_str);
                sign_in.client_secret = secret.map(|secret| filled(secret, env));
            }
            "--static-oauth-client-metadata" => {
                let metadata = object(words.next()?)?;
                let scopes = metadata.get("scope").and_then(Value::as_str).unwrap_or_default();
                sign_in.scopes = scopes.split_whitespace().map(str::to_owned).collect();
            }
            // Evermoor signs in by itself, and browsers come back to its own address.
            "--transport" | "--host" | "--auth-timeout" => drop(words.next()?),
            "--allow-http" | "--debug" => {}
            port if port.bytes().all(|byte| byte.is_ascii_digit()) => {}
            _ => return None,
        }
    }
    // The bridge signs in wherever it has no header to send. On this computer that is rarely needed.
    let signs_in = headers.is_empty() && url.starts_with("https://");
    Some(ServerSpec::Http { url, headers, sign_in: signs_in.then_some(sign_in) })
}

/// The object in an argument; `None` if it is elsewhere, such as in a file.
fn object(argument: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(argument).ok()
}

/// The bridge expands variables in header values.
fn filled(value: &str, env: &BTreeMap<String, String>) -> String {
    env.iter().fold(value.to_owned(), |value, (name, content)| {
        value.replace(&format!("${{{name}}}"), content)
    })
}
