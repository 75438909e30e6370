//! Edits YAML: whole lines in block style, text within brackets in flow style.

use super::FormatError;
use super::json_text;
use super::yaml_read::{Node, What, parse};
use super::yaml_text::{item, pair};
use crate::format::text::{Splices, line_end, line_start, line_stop, next_line, with_comma};
use crate::format::tree::{ServersPath, Tree};

pub(super) fn put(
    text: &str,
    servers: &ServersPath,
    name: &str,
    entry: &Tree,
) -> Result<String, FormatError> {
    let (nl, mut splices) = (line_end(text), Splices::default());
    let content = match servers.list {
        true => Tree::List(vec![entry.clone()]),
        false => Tree::Map(vec![(name.to_owned(), entry.clone())]),
    };
    let root = parse(text).map_err(FormatError::Read)?.filter(|root| !root.is_null());
    let (Some(root), [key]) = (&root, servers.path.as_slice()) else {
        let [key] = servers.path.as_slice() else {
            return Err(FormatError::Shape(servers.path.join(".")));
        };
        splices.insert(text.len(), fresh_line(text, text.len(), pair(key, &content, 0, nl)));
        return Ok(splices.apply(text));
    };
    let What::Map(pairs) = &root.what else {
        return Err(FormatError::Shape("the whole file".to_owned()));
    };
    let Some((key_node, holder)) = root.pair(key) else {
        if root.flow {
            put_in_brackets(root, &flow_pair(key, &content), &mut splices);
        } else {
            let column = pairs.first().map_or(0, |(key, _)| column(text, key.start));
            let at = line_after(text, root.stop);
            splices.insert(at, fresh_line(text, at, pair(key, &content, column, nl)));
        }
        return Ok(splices.apply(text));
    };
    let empty = match &holder.what {
        What::Map(pairs) => pairs.is_empty(),
        What::List(items) => items.is_empty(),
        What::Scalar { .. } | What::Alias(_) => holder.is_null(),
    };
    if empty && !root.flow {
        // `servers: {} # none` becomes the first line of a block and keeps its comment.
        splices.delete(holder.start..holder.stop);
        let lines = pair(key, &content, column(text, key_node.start), nl);
        let at = line_after(text, holder.stop.max(key_node.stop));
        splices.insert(at, fresh_line(text, at, lines[next_line(&lines, 0)..].to_owned()));
        return Ok(splices.apply(text));
    }
    match (&holder.what, servers.list) {
        (What::Map(pairs), false) => match holder.pair(name) {
            Some((_, value)) if holder.flow => {
                splices.replace(value.start..value.stop, json_text::spaced(entry));
            }
            Some((key_node, value)) => {
                let lines = pair(name, entry, column(text, key_node.start), nl);
                replace_lines(
                    text,
                    key_node.start,
                    key_node.stop.max(value.stop),
                    &lines,
                    &mut splices,
                );
            }
            None if holder.flow => {
                put_in_brackets(holder, &flow_pair(name, entry), &mut splices);
            }
            None => {
                let column = pairs.first().map_or(2, |(key, _)| column(text, key.start));
                let at = line_after(text, holder.stop);
                splices.insert(at, fresh_line(text, at, pair(name, entry, column, nl)));
            }
        },
        (What::List(items), true) => match items.iter().rev().find(|item| is_named(item, name)) {
            Some(there) if holder.flow => {
                splices.replace(there.start..there.stop, json_text::spaced(entry));
            }
            Some(there) => {
                let dash = dash(text, there)?;
                let lines = item(entry, column(text, dash), nl);
                replace_lines(text, dash, there.stop, &lines, &mut splices);
            }
            None if holder.flow => {
                put_in_brackets(holder, &json_text::spaced(entry), &mut splices);
            }
            None => {
                let dash = items.first().map_or(Ok(holder.start), |item| dash(text, item))?;
                let at = line_after(text, holder.stop);
                splices.insert(at, fresh_line(text, at, item(entry, column(text, dash), nl)));
            }
        },
        (What::Map(_) | What::List(_) | What::Scalar { .. } | What::Alias(_), _) => {
            return Err(FormatError::Shape(key.clone()));
        }
    }
    Ok(splices.apply(text))
}

pub(super) fn remove(
    text: &str,
    servers: &ServersPath,
    name: &str,
    tidy: bool,
) -> Result<String, FormatError> {
    let (Some(root), [key]) = (parse(text).map_err(FormatError::Read)?, servers.path.as_slice())
    else {
        return Ok(text.to_owned());
    };
    let Some((key_node, holder)) = root.pair(key) else {
        return Ok(text.to_owned());
    };
    let (found, count) = match (&holder.what, servers.list) {
        (What::Map(pairs), false) => {
            let found = holder.pair(name).map(|(key, value)| (key.start, key.stop.max(value.stop)));
            (found, pairs.len())
        }
        (What::List(items), true) => {
            let found = items.iter().rev().find(|item| is_named(item, name));
            let found = found.map(|item| match holder.flow {
                true => Ok((item.start, item.stop)),
                false => Ok((dash(text, item)?, item.stop)),
            });
            (found.transpose()?, items.len())
        }
        (What::Map(_) | What::List(_) | What::Scalar { .. } | What::Alias(_), _) => (None, 0),
    };
    let Some((start, stop)) = found else {
        return Ok(text.to_owned());
    };
    let mut splices = Splices::default();
    match (holder.flow, count) {
        (true, _) => splices.delete(with_comma(text, start..stop)),
        (false, 1) if tidy && !root.flow => {
            splices.delete(line_start(text, key_node.start)..line_after(text, stop));
        }
        (false, 1) => {
            let colon =
                text[key_node.stop..].find(':').map_or(key_node.stop, |at| key_node.stop + at + 1);
            splices.insert(colon, if servers.list { " []" } else { " {}" });
            splices.delete(line_start(text, start)..line_after(text, stop));
        }
        (false, _) => splices.delete(line_start(text, start)..line_after(text, stop)),
    }
    Ok(splices.apply(text))
}

fn is_named(item: &Node, name: &str) -> bool {
    item.pair("name").and_then(|(_, value)| value.key()) == Some(name)
}

fn column(text: &str, at: usize) -> usize {
    text[line_start(text, at)..at].chars().count()
}

/// The position of an item's dash, if the dash is the first thing on the item's line.
fn dash(text: &str, item: &Node) -> Result<usize, FormatError> {
    let start = line_start(text, item.start);
    let before = text[start..item.start].trim_end();
    match before.trim_start() {
        "-" => Ok(start + before.len() - 1),
        _ => Err(FormatError::Shape("a list".to_owned())),
    }
}

/// The start of the line after a value.
fn line_after(text: &str, stop: usize) -> usize {
    if stop > 0 && line_start(text, stop) == stop { stop } else { next_line(text, stop) }
}

/// New lines to insert at a position. A last line without a line ending gets one first.
fn fresh_line(text: &str, at: usize, lines: String) -> String {
    if at == 0 || text[..at].ends_with('\n') {
        return lines;
    }
    let nl = line_end(text);
    format!("{nl}{}", lines.trim_end_matches(['\r', '\n']))
}

fn replace_lines(text: &str, start: usize, stop: usize, lines: &str, splices: &mut Splices) {
    let start = line_start(text, start);
    if stop > start && line_start(text, stop) == stop {
        return splices.replace(start..stop, lines);
    }
    splices.replace(start..line_stop(text, stop), lines.trim_end_matches(['\r', '\n']));
}

fn flow_pair(name: &str, value: &Tree) -> String {
    format!("{}: {}", json_text::quoted(name), json_text::spaced(value))
}

/// Adds a text before the closing bracket.
fn put_in_brackets(node: &Node, new: &str, splices: &mut Splices) {
    let last = match &node.what {
        What::Map(pairs) => pairs.last().map(|(key, value)| key.stop.max(value.stop)),
        What::List(items) => items.last().map(|item| item.stop),
        What::Scalar { .. } | What::Alias(_) => None,
    };
    match last {
        Some(at) => splices.insert(at, format!(", {new}")),
        None => splices.insert(node.stop - 1, new),
    }
}
