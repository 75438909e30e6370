//! TOML: an entry is a table of its own at the end of the file, or a piece of an inline table.

use std::ops::Range;

use toml_edit::{Document, InlineTable, Item, Table, Value};

use super::Trouble;
use super::toml_text::{inline, key, table};
use crate::format::text::{Splices, line_end, line_start, line_stop, next_line, with_comma};
use crate::format::tree::{Servers, Tree};

fn parse(text: &str) -> Result<Document<&str>, Trouble> {
    Document::parse(text).map_err(|error| Trouble::Read(told(text, &error)))
}

/// Where it is wrong and how, without a picture of the line, which may hold a secret.
fn told(text: &str, error: &toml_edit::TomlError) -> String {
    let line =
        error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let line = line.map_or_else(String::new, |line| format!(" on line {line}"));
    format!("{}{line}", error.message())
}

pub(super) fn read(text: &str) -> Result<Tree, String> {
    match parse(text) {
        Ok(document) => Ok(of_table(document.as_table())),
        Err(Trouble::Read(why) | Trouble::Shape(why)) => Err(why),
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
    servers: &Servers,
    name: &str,
    entry: &Tree,
) -> Result<String, Trouble> {
    let document = parse(text)?;
    let shape = || Trouble::Shape(servers.way.join("."));
    let mut splices = Splices::default();
    let nl = line_end(text);
    match place(&document, servers) {
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
                let new = table(&way_to(servers, name), entry, nl);
                let new = new.trim_end_matches(['\r', '\n']);
                splices.replace(range, new);
                return Ok(splices.apply(text));
            }
            Some(Item::ArrayOfTables(_)) => return Err(Trouble::Shape(name.to_owned())),
            Some(Item::None) | None if holder.is_dotted() => {
                // Such a place is added to in its own way only.
                let mut spans = Vec::new();
                pieces(holder, &mut spans);
                let last = spans.iter().map(|span| span.end).max().ok_or_else(shape)?;
                let way: Vec<String> = way_to(servers, name).iter().map(|name| key(name)).collect();
                let line = format!("{nl}{} = {}", way.join("."), inline(entry));
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
    splices.insert(text.len(), format!("{apart}{}", table(&way_to(servers, name), entry, nl)));
    Ok(splices.apply(text))
}

pub(super) fn remove(
    text: &str,
    servers: &Servers,
    name: &str,
    tidy: bool,
) -> Result<String, Trouble> {
    let document = parse(text)?;
    let shape = || Trouble::Shape(servers.way.join("."));
    let mut splices = Splices::default();
    match place(&document, servers) {
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
                // A header of nothing else stays, unless it was ours too.
                if tidy
                    && holder.len() == 1
                    && let Some(header) =
                        holder.span().filter(|_| !holder.is_implicit() && !holder.is_dotted())
                {
                    splices.delete(line_start(text, header.start)..next_line(text, header.end));
                }
            }
            Some((_, Item::ArrayOfTables(_))) => return Err(Trouble::Shape(name.to_owned())),
            Some((_, Item::None)) | None => return Ok(text.to_owned()),
        },
        None | Some(_) => return Ok(text.to_owned()),
    }
    Ok(splices.apply(text))
}

fn place<'a>(document: &'a Document<&str>, servers: &Servers) -> Option<&'a Item> {
    servers.way.iter().try_fold(document.as_item(), |item, name| item.get(name))
}

fn way_to(servers: &Servers, name: &str) -> Vec<String> {
    servers.way.iter().cloned().chain([name.to_owned()]).collect()
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

/// From a table's header to its last value, with those of its own tables that follow at once. `None`
/// if something else stands between them.
fn extent(text: &str, document: &Document<&str>, ours: &Table) -> Option<Range<usize>> {
    let mut spans = Vec::new();
    pieces(ours, &mut spans);
    let from = spans.iter().map(|span| span.start).min()?;
    let to = spans.iter().map(|span| span.end).max()?;
    let mut all = Vec::new();
    pieces(document.as_table(), &mut all);
    let strangers = all.iter().filter(|span| span.start >= from && span.end <= to).count();
    (strangers == spans.len()).then(|| line_start(text, from)..line_stop(text, to))
}

/// The headers and the values of a table and all below it.
fn pieces(table: &Table, spans: &mut Vec<Range<usize>>) {
    // A table that only others' headers speak of has no header of its own.
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

/// With the line end, and with the empty line before it.
fn with_blank_line(text: &str, range: Range<usize>) -> Range<usize> {
    let before = &text[..range.start];
    let above = before.strip_suffix('\n').map(|rest| rest.strip_suffix('\r').unwrap_or(rest));
    let blank = above.filter(|above| above.is_empty() || above.ends_with('\n'));
    blank.map_or(range.start, str::len)..next_line(text, range.end)
}
