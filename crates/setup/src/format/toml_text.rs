//! Writes TOML.

use crate::format::tree::Tree;

/// A key, quoted only if necessary.
pub(super) fn key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// A table with its header.
pub(super) fn table(path: &[String], tree: &Tree, nl: &str) -> String {
    let header: Vec<String> = path.iter().map(|name| key(name)).collect();
    let mut text = format!("[{}]{nl}", header.join("."));
    for (name, value) in tree.as_map().unwrap_or_default() {
        text.push_str(&format!("{} = {}{nl}", key(name), inline(value)));
    }
    text
}

/// A value on one line.
pub(super) fn inline(tree: &Tree) -> String {
    match tree {
        // TOML has no null, and no entry of Evermoor's needs one.
        Tree::Null => quoted(""),
        Tree::Bool(value) => value.to_string(),
        Tree::Bare(text) => text.clone(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Tree::Map(pairs) if pairs.is_empty() => "{}".to_owned(),
        Tree::Map(pairs) => {
            let pair =
                |(name, value): &(String, Tree)| format!("{} = {}", key(name), inline(value));
            let pairs: Vec<String> = pairs.iter().map(pair).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}
