//! Writes JSON, and finds commas between comments.

use crate::format::tree::Tree;

/// How to lay out a value on several lines.
pub(super) struct Layout<'a> {
    pub(super) nl: &'a str,
    /// The indentation of the line that the value starts on.
    pub(super) indent: &'a str,
    /// The indentation that each level adds.
    pub(super) unit: &'a str,
}

pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// On several lines. Lists stay on one line.
pub(super) fn pretty(tree: &Tree, layout: &Layout<'_>) -> String {
    match tree {
        Tree::Map(pairs) if !pairs.is_empty() => {
            let indent = format!("{}{}", layout.indent, layout.unit);
            let inner = Layout { indent: &indent, ..*layout };
            let pair = |(name, value): &(String, Tree)| {
                format!("{indent}{}: {}", quoted(name), pretty(value, &inner))
            };
            let pairs: Vec<String> = pairs.iter().map(pair).collect();
            let nl = layout.nl;
            format!("{{{nl}{}{nl}{}}}", pairs.join(&format!(",{nl}")), layout.indent)
        }
        Tree::Null
        | Tree::Bool(_)
        | Tree::Bare(_)
        | Tree::Text(_)
        | Tree::List(_)
        | Tree::Map(_) => spaced(tree),
    }
}

/// On one line, with spaces.
pub(super) fn spaced(tree: &Tree) -> String {
    flat(tree, " ")
}

/// On one line, without spaces.
pub(super) fn minified(tree: &Tree) -> String {
    flat(tree, "")
}

fn flat(tree: &Tree, blank: &str) -> String {
    match tree {
        Tree::Null => "null".to_owned(),
        Tree::Bool(value) => value.to_string(),
        Tree::Bare(text) => text.clone(),
        Tree::Text(text) => quoted(text),
        Tree::List(items) => {
            let items: Vec<String> = items.iter().map(|item| flat(item, blank)).collect();
            format!("[{}]", items.join(&format!(",{blank}")))
        }
        Tree::Map(pairs) if pairs.is_empty() => "{}".to_owned(),
        Tree::Map(pairs) => {
            let pair = |(name, value): &(String, Tree)| {
                format!("{}:{blank}{}", quoted(name), flat(value, blank))
            };
            let pairs: Vec<String> = pairs.iter().map(pair).collect();
            format!("{{{blank}{}{blank}}}", pairs.join(&format!(",{blank}")))
        }
    }
}

/// The position of the comma after a value, past whitespace and comments.
pub(super) fn comma_after(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = &text[at..];
        let next = rest.chars().next()?;
        if next == ',' {
            return Some(at);
        } else if next.is_whitespace() {
            at += next.len_utf8();
        } else if rest.starts_with("//") {
            at += rest.find(['\n', '\r']).unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/")? + 2;
        } else {
            return None;
        }
    }
}

/// The position after a value and the comments that follow it on its line.
pub(super) fn tail(text: &str, from: usize) -> usize {
    let (mut at, mut end) = (from, from);
    loop {
        let rest = &text[at..];
        let Some(next) = rest.chars().next() else {
            return end;
        };
        if next == ' ' || next == '\t' {
            at += 1;
        } else if rest.starts_with("//") {
            return at + rest.find(['\n', '\r']).unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let Some(stop) = rest.find("*/").filter(|stop| !rest[..*stop].contains('\n')) else {
                return end;
            };
            at += stop + 2;
            end = at;
        } else {
            return end;
        }
    }
}

/// The position after spaces and tabs.
pub(super) fn after_blanks(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start_matches([' ', '\t']).len()
}
