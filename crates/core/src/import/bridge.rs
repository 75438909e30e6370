//! Unwraps `mcp-remote`, a stdio bridge for editors that cannot use HTTP. Evermoor connects to the
//! server directly.

use std::collections::BTreeMap;

use crate::config::edit::ServerSpec;

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
    let mut headers = BTreeMap::new();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--header" => {
                let (name, value) = words.next()?.split_once(':')?;
                headers.insert(name.trim().to_owned(), filled(value.trim(), env));
            }
            // Evermoor signs in by itself, and browsers come back to its own address.
            "--transport" | "--host" | "--auth-timeout" => drop(words.next()?),
            "--allow-http" | "--debug" => {}
            port if port.bytes().all(|byte| byte.is_ascii_digit()) => {}
            _ => return None,
        }
    }
    Some(ServerSpec::Http { url, headers })
}

/// The bridge expands variables in header values.
fn filled(value: &str, env: &BTreeMap<String, String>) -> String {
    env.iter().fold(value.to_owned(), |value, (name, content)| {
        value.replace(&format!("${{{name}}}"), content)
    })
}
