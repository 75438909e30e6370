//! The configuration file without secrets, for bug reports. Comments and layout are kept.

use toml_edit::{DocumentMut, Item, TableLike, Value};
use url::Url;

use crate::security::redaction::patterns::{REMOVED, scrub};

/// Removes what may be a secret: values of variables and headers, credentials and queries of
/// addresses, and anything else that looks like a secret.
pub fn without_secrets(text: &str) -> String {
    match text.parse::<DocumentMut>() {
        Ok(mut document) => {
            let upstreams = document.get_mut("upstreams").and_then(Item::as_table_like_mut);
            for (_, entry) in upstreams.into_iter().flat_map(TableLike::iter_mut) {
                if let Some(entry) = entry.as_table_like_mut() {
                    hide(entry);
                }
            }
            scrub(&document.to_string()).into_owned()
        }
        // The file cannot be parsed, so all values are removed.
        Err(_) => text.lines().map(without_values).collect::<Vec<_>>().join("\n"),
    }
}

fn hide(entry: &mut dyn TableLike) {
    for name in ["env", "headers"] {
        let values = entry.get_mut(name).and_then(Item::as_table_like_mut);
        for (_, value) in values.into_iter().flat_map(TableLike::iter_mut) {
            *value = Item::Value(Value::from(REMOVED));
        }
    }
    for name in ["url", "proxy"] {
        let Some(value) = entry.get_mut(name) else { continue };
        let shown = value.as_str().and_then(|text| Url::parse(text).ok()).map(shown);
        if let Some(shown) = shown {
            *value = Item::Value(Value::from(shown));
        }
    }
    let mut secret_follows = false;
    let args = entry.get_mut("args").and_then(Item::as_array_mut);
    for argument in args.into_iter().flat_map(|args| args.iter_mut()) {
        let text = argument.as_str().unwrap_or_default().to_owned();
        let hidden = if secret_follows { REMOVED.to_owned() } else { scrub(&text).into_owned() };
        // After `--token` alone, the next argument is the secret.
        secret_follows = text.starts_with('-')
            && !text.contains('=')
            && scrub(&format!("{text}=x")).contains(REMOVED);
        *argument = Value::from(hidden);
    }
}

fn shown(mut url: Url) -> String {
    let _ = url.set_username("");
    let _ = url.set_password(None);
    if url.query().is_some() {
        url.set_query(Some("removed"));
    }
    url.set_fragment(None);
    url.to_string()
}

fn without_values(line: &str) -> String {
    match line.split_once('=') {
        Some((key, _)) => format!("{key}= {REMOVED}"),
        None if line.trim_start().starts_with(['[', '#']) => scrub(line).into_owned(),
        None => REMOVED.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_removed_and_everything_else_is_kept() {
        let text = "# mine\n[upstreams.a]\nurl = \"https://me:canary@x/mcp?key=canary\" # here\n\
                    headers = { X-Team = \"canary\" }\n\n[upstreams.b]\ncommand = \"npx\"\n\
                    args = [\"-y\", \"--api-key\", \"canary\", \"--token=canary\", \"plain\"]\n\
                    [upstreams.b.env]\nANYTHING = \"canary\"\n";
        let shown = without_secrets(text);
        assert!(!shown.contains("canary"), "{shown}");
        for kept in ["# mine", "[upstreams.a]", "https://x/mcp", "X-Team", "plain", "ANYTHING"] {
            assert!(shown.contains(kept), "{kept} in {shown}");
        }
        assert!(super::super::Config::parse(&shown).is_ok(), "{shown}");
    }

    #[test]
    fn a_file_that_cannot_be_parsed_shows_no_values() {
        let shown = without_secrets("[upstreams.a\nkey = \"canary\"\n\"canary\"\n");
        assert!(!shown.contains("canary") && shown.contains("key = [removed]"), "{shown}");
    }
}
