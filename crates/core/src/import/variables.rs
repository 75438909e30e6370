//! Translates the variables of editors into references.
//!
//! `${NAME}`, `${env:NAME}`, `{env:NAME}` and `$NAME` are environment variables. Variables that only
//! the editor knows, such as the open folder or an input prompt, cannot be imported.

use std::collections::BTreeMap;

use crate::config::edit::{NewSignIn, ServerSpec};
use crate::security::secret_ref::Template;

/// A variable that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedVariable {
    #[error("It uses `{0}`, which only the editor can fill in.")]
    OfTheEditor(String),
    #[error("Its arguments use `{0}`. Write the value itself, or pass it in `env`.")]
    InArguments(String),
}

pub(super) fn translate(way: &ServerSpec) -> Result<ServerSpec, UnsupportedVariable> {
    let pairs =
        |pairs: &BTreeMap<String, String>| -> Result<BTreeMap<String, String>, UnsupportedVariable> {
            pairs.iter().map(|(name, text)| Ok((name.clone(), value(text)?))).collect()
        };
    Ok(match way {
        ServerSpec::Preset(preset) => ServerSpec::Preset(preset.clone()),
        ServerSpec::Http { url, headers, sign_in } => {
            let sign_in = match sign_in {
                Some(sign_in) => {
                    let client_secret = sign_in.client_secret.as_deref().map(value).transpose()?;
                    Some(NewSignIn { client_secret, ..sign_in.clone() })
                }
                None => None,
            };
            ServerSpec::Http { url: value(url)?, headers: pairs(headers)?, sign_in }
        }
        ServerSpec::Program { command, args, env, cwd } => {
            for word in [command].into_iter().chain(args).chain(cwd) {
                if let Some(found) = opening(word) {
                    return Err(UnsupportedVariable::InArguments(found));
                }
            }
            let (command, args, cwd) = (command.clone(), args.clone(), cwd.clone());
            ServerSpec::Program { command, args, env: pairs(env)?, cwd }
        }
    })
}

/// The first `${…}` in a text.
fn opening(text: &str) -> Option<String> {
    let rest = &text[text.find("${")?..];
    let end = rest.find('}').map_or(rest.len(), |end| end + 1);
    Some(rest[..end].to_owned())
}

/// A value with references instead of the editor's variables.
fn value(text: &str) -> Result<String, UnsupportedVariable> {
    if let Some(name) = text.strip_prefix('$').filter(|name| is_variable(name)) {
        return Ok(format!("${{env:{name}}}"));
    }
    let text = text.replace("${env:", "{env:");
    let (mut done, mut rest) = (String::new(), text.as_str());
    loop {
        let (at, inside, opened) = match (rest.find("${"), rest.find("{env:")) {
            (Some(plain), Some(ours)) if ours < plain => (ours, &rest[ours + 5..], "{env:"),
            (Some(plain), _) => (plain, &rest[plain + 2..], "${"),
            (None, Some(ours)) => (ours, &rest[ours + 5..], "{env:"),
            (None, None) => break,
        };
        let Some((inside, behind)) = inside.split_once('}') else { break };
        // `${NAME:-default}` has a default, which references do not support.
        let name = inside.split(":-").next().unwrap_or(inside);
        if !is_variable(name) {
            return Err(UnsupportedVariable::OfTheEditor(format!("{opened}{inside}}}")));
        }
        done.push_str(Template::plain(&rest[..at]).as_written());
        done.push_str(&format!("${{env:{name}}}"));
        rest = behind;
    }
    done.push_str(Template::plain(rest).as_written());
    Ok(done)
}

/// Whether it is an environment variable, not a variable of the editor such as `workspaceFolder`.
fn is_variable(name: &str) -> bool {
    const OF_EDITORS: [&str; 6] =
        ["workspaceFolder", "workspaceFolderBasename", "userHome", "pathSeparator", "cwd", "file"];
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    begins && name.chars().all(inside) && !OF_EDITORS.contains(&name)
}
