//! Edits TOML. A new entry is a table at the end of the file, or a value in an existing inline table.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Table, Value};

use super::FormatError;
use super::toml_text::{inline, key, table};
use crate::format::text::{Splices, line_end, line_start, line_stop, next_line, with_comma};
use crate::format::tree::{ServersPath, Tree};

fn parse(text: &str) -> Result<Document<&str>, FormatError> {
    Document::parse(text).map_err(|error| FormatError::Read(describe(text, &error)))
}

/// What is wrong on which line, without the line itself, which may contain a secret.
fn describe(text: &str, error: &toml_edit::TomlError) -> String {
    let line =
        error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let line = line.map_or_else(String::new, |line| format!(" on line {line}"));
    format!("{}{line}", error.message())
}

pub(super) fn read(text: &str) -> Result<Tree, String> {
    match parse(text) {
        Ok(document) => Ok(of_table(document.as_table())),
        Err(FormatError::Read(why) | FormatError::Shape(why)) => Err(why),
    }
}

fn of_table(table: &Table) -> Tree {
    Tree::Map(table.iter().map(|(name, item)| (name.to_owned(), of_item(item))).collect())
}

fn of_item(item: &Item) -> Tree {
    match item {
        Item::None => Tree::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => Tree::List(tables.iter().map(of_table).collect()),
    }
}

fn of_value(value: &Value) -> Tree {
    match value {
        Value::String(text) => Tree::text(text.value()),
        Value::Boolean(truth) => Tree::Bool(*truth.value()),
        Value::Integer(number) => Tree::Bare(number.value().to_string()),
        Value::Float(number) => Tree::Bare(number.value().to_string()),
        Value::Datetime(time) => Tree::Bare(time.value().to_string()),
        Value::Array(items) => Tree::List(items.iter().map(of_value).collect()),
        Value::InlineTable(table) => Tree::Map(
            table.iter().map(|(name, value)| (name.to_owned(), of_value(value))).collect(),
        ),
    }
}

pub(super) fn put(
    text: &str,
    servers: &ServersPath,
    name: &str,
    entry: &Tree,
) -> Result<String, FormatError> {
    let document = parse(text)?;
    let shape = || FormatError::Shape(servers.path.join("."));
    let mut splices = Splices::default();
    let nl = line_end(text);
    match find(&document, servers) {
        Some(Item::Value(Value::InlineTable(holder))) => {
            put_inline(holder, name, entry, &mut splices).ok_or_else(shape)?;
            return Ok(splices.apply(text));
        }
        Some(Item::Table(holder)) => match holder.get(name) {
            Some(Item::Value(value)) => {
                let range = value.span().ok_or_else(shape)?;
                splices.replace(range, inline(entry));
                return Ok(splices.apply(text));
            }
            Some(Item::Table(there)) => {
                let range = extent(text, &document, there).ok_or_else(shape)?;
                let new = table(&path_to(servers, name), entry, nl);
                let new = new.trim_end_matches(['\r', '\n']);
                splices.replace(range, new);
                return Ok(splices.apply(text));
            }
            Some(Item::ArrayOfTables(_)) => return Err(FormatError::Shape(name.to_owned())),
            Some(Item::None) | None if holder.is_dotted() => {
                // A table made of dotted keys can only be extended with dotted keys.
                let mut spans = Vec::new();
                pieces(holder, &mut spans);
                let last = spans.iter().map(|span| span.end).max().ok_or_else(shape)?;
                let path: Vec<String> =
                    path_to(servers, name).iter().map(|name| key(name)).collect();
                let line = format!("{nl}{} = {}", path.join("."), inline(entry));
                splices.insert(line_stop(text, last), line);
                return Ok(splices.apply(text));
            }
            Some(Item::None) | None => {}
        },
        None | Some(Item::None) => {}
        Some(Item::Value(_) | Item::ArrayOfTables(_)) => return Err(shape()),
    }
    let apart = match text {
        "" => String::new(),
        text if text.ends_with("\n\n") || text.ends_with("\n\r\n") => String::new(),
        text if text.ends_with('\n') => nl.to_owned(),
        _ => format!("{nl}{nl}"),
    };
    splices.insert(text.len(), format!("{apart}{}", table(&path_to(servers, name), entry, nl)));
    Ok(splices.apply(text))
}

pub(super) fn remove(
    text: &str,
    servers: &ServersPath,
    name: &str,
    tidy: bool,
) -> Result<String, FormatError> {
    let document = parse(text)?;
    let shape = || FormatError::Shape(servers.path.join("."));
    let mut splices = Splices::default();
    match find(&document, servers) {
        Some(Item::Value(Value::InlineTable(holder))) => {
            let Some((key, value)) = holder.get_key_value(name) else {
                return Ok(text.to_owned());
            };
            let range = key.span().zip(value.span()).ok_or_else(shape)?;
            splices.delete(with_comma(text, range.0.start..range.1.end));
        }
        Some(Item::Table(holder)) => match holder.get_key_value(name) {
            Some((key, Item::Value(value))) => {
                let range = key.span().zip(value.span()).ok_or_else(shape)?;
                splices.delete(line_start(text, range.0.start)..next_line(text, range.1.end));
            }
            Some((_, Item::Table(there))) => {
                let range = extent(text, &document, there).ok_or_else(shape)?;
                splices.delete(with_blank_line(text, range));
                // An empty table header stays unless Evermoor wrote it.
                if tidy
                    && holder.len() == 1
                    && let Some(header) =
                        holder.span().filter(|_| !holder.is_implicit() && !holder.is_dotted())
                {
                    splices.delete(line_start(text, header.start)..next_line(text, header.end));
                }
            }
            Some((_, Item::ArrayOfTables(_))) => return Err(FormatError::Shape(name.to_owned())),
            Some((_, Item::None)) | None => return Ok(text.to_owned()),
        },
        None | Some(_) => return Ok(text.to_owned()),
    }
    Ok(splices.apply(text))
}

fn find<'a>(document: &'a Document<&str>, servers: &ServersPath) -> Option<&'a Item> {
    servers.path.iter().try_fold(document.as_item(), |item, name| item.get(name))
}

fn path_to(servers: &ServersPath, name: &str) -> Vec<String> {
    servers.path.iter().cloned().chain([name.to_owned()]).collect()
}

fn put_inline(holder: &InlineTable, name: &str, entry: &Tree, splices: &mut Splices) -> Option<()> {
    if let Some(value) = holder.get(name) {
        splices.replace(value.span()?, inline(entry));
        return Some(());
    }
    let last = holder.iter().filter_map(|(_, value)| value.span()).map(|span| span.end).max();
    let pair = format!("{} = {}", key(name), inline(entry));
    match last {
        Some(at) => splices.insert(at, format!(", {pair}")),
        None => splices.replace(holder.span()?, format!("{{ {pair} }}")),
    }
    Some(())
}

/// The range of a table from its header to its last value, with its subtables. `None` if something
/// else is between them.
fn extent(text: &str, document: &Document<&str>, ours: &Table) -> Option<Range<usize>> {
    let mut spans = Vec::new();
    pieces(ours, &mut spans);
    let from = spans.iter().map(|span| span.start).min()?;
    let to = spans.iter().map(|span| span.end).max()?;
    let mut all = Vec::new();
    pieces(document.as_table(), &mut all);
    let within = all.iter().filter(|span| span.start >= from && span.end <= to).count();
    (within == spans.len()).then(|| line_start(text, from)..line_stop(text, to))
}

/// The headers and values of a table and its subtables.
fn pieces(table: &Table, spans: &mut Vec<Range<usize>>) {
    // An implicit table has no header.
    let own = table.span().filter(|_| !table.is_implicit() && !table.is_dotted());
    spans.extend(own.filter(|span| span.end > span.start));
    for (_, item) in table.iter() {
        match item {
            Item::Value(value) => spans.extend(value.span()),
            Item::Table(table) => pieces(table, spans),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|table| pieces(table, spans)),
            Item::None => {}
        }
    }
}

/// Extends a range by its line ending and the empty line before it.
fn with_blank_line(text: &str, range: Range<usize>) -> Range<usize> {
    let before = &text[..range.start];
    let above = before.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest));
    let blank = above.filter(|above| above.is_empty() || above.ends_with('\n'));
    blank.map_or(range.start, str::len)..next_line(text, range.end)
}
