//! Writes YAML in block style.

use super::json_text;
use crate::format::tree::Tree;

/// A pair as lines, indented to a column.
pub(super) fn pair(name: &str, value: &Tree, column: usize, nl: &str) -> String {
    let indent = " ".repeat(column);
    match value {
        Tree::Map(pairs) if !pairs.is_empty() => {
            let inner: String =
                pairs.iter().map(|(name, value)| pair(name, value, column + 2, nl)).collect();
            format!("{indent}{}:{nl}{inner}", scalar(name))
        }
        Tree::List(items) if !items.is_empty() => {
            let items: String = items.iter().map(|value| item(value, column + 2, nl)).collect();
            format!("{indent}{}:{nl}{items}", scalar(name))
        }
        Tree::Null
        | Tree::Bool(_)
        | Tree::Bare(_)
        | Tree::Text(_)
        | Tree::List(_)
        | Tree::Map(_) => {
            format!("{indent}{}: {}{nl}", scalar(name), flat(value))
        }
    }
}

/// A list item as lines, with its dash at a column.
pub(super) fn item(value: &Tree, column: usize, nl: &str) -> String {
    let indent = " ".repeat(column);
    match value {
        Tree::Map(pairs) if !pairs.is_empty() => {
            let lines: String =
                pairs.iter().map(|(name, value)| pair(name, value, column + 2, nl)).collect();
            format!("{indent}- {}", &lines[column + 2..])
        }
        Tree::Null
        | Tree::Bool(_)
        | Tree::Bare(_)
        | Tree::Text(_)
        | Tree::List(_)
        | Tree::Map(_) => {
            format!("{indent}- {}{nl}", flat(value))
        }
    }
}

fn flat(value: &Tree) -> String {
    match value {
        Tree::Text(text) => scalar(text),
        Tree::Null | Tree::Bool(_) | Tree::Bare(_) | Tree::List(_) | Tree::Map(_) => {
            json_text::spaced(value)
        }
    }
}

/// A text, quoted unless it can only be read as this text.
fn scalar(text: &str) -> String {
    const WORDS: [&str; 8] = ["true", "false", "null", "yes", "no", "on", "off", "y"];
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-/.".contains(c))
        && text.len() > 1
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if plain { text.to_owned() } else { json_text::quoted(text) }
}
