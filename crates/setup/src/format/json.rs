//! Edits JSON, also with comments, trailing commas and single quotes.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::FormatError;
use super::json_text::{Layout, after_blanks, comma_after, minified, pretty, spaced, tail};
use crate::format::text::{Splices, line_end, line_start, own_indent};
use crate::format::tree::{ServersPath, Tree};

/// As lenient as editors are. None of them accepts a missing comma.
fn lenient() -> ParseOptions {
    ParseOptions { allow_missing_commas: false, ..ParseOptions::default() }
}

fn parse(text: &str) -> Result<Option<Value<'_>>, String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &lenient());
    parsed.map(|parsed| parsed.value).map_err(|error| error.to_string())
}

pub(super) fn read(text: &str) -> Result<Tree, String> {
    Ok(parse(text)?.map_or(Tree::Null, |value| tree(&value)))
}

fn tree(value: &Value<'_>) -> Tree {
    match value {
        Value::StringLit(text) => Tree::text(text.value.as_ref()),
        Value::NumberLit(number) => Tree::Bare(number.value.to_owned()),
        Value::BooleanLit(truth) => Tree::Bool(truth.value),
        Value::NullKeyword(_) => Tree::Null,
        Value::Array(array) => Tree::List(array.elements.iter().map(tree).collect()),
        Value::Object(object) => {
            let pair = |prop: &ObjectProp<'_>| (prop.name.as_str().to_owned(), tree(&prop.value));
            Tree::Map(object.properties.iter().map(pair).collect())
        }
    }
}

/// The innermost object on the path that exists, and the names that are missing below it.
struct Reached<'a, 'b> {
    object: &'b Object<'a>,
    missing: &'b [String],
}

fn reach<'a, 'b>(root: &'b Value<'a>, path: &'b [String]) -> Result<Reached<'a, 'b>, FormatError> {
    let Value::Object(object) = root else {
        return Err(FormatError::Shape("the whole file".to_owned()));
    };
    let mut object = object;
    for (depth, name) in path.iter().enumerate() {
        match last(object, name) {
            Some((_, prop)) => match &prop.value {
                Value::Object(inner) => object = inner,
                Value::StringLit(_)
                | Value::NumberLit(_)
                | Value::BooleanLit(_)
                | Value::NullKeyword(_)
                | Value::Array(_) => return Err(FormatError::Shape(name.clone())),
            },
            None => return Ok(Reached { object, missing: &path[depth..] }),
        }
    }
    Ok(Reached { object, missing: &[] })
}

/// The last property of a name. Of duplicates, the last one counts.
fn last<'a, 'b>(object: &'b Object<'a>, name: &str) -> Option<(usize, &'b ObjectProp<'a>)> {
    object.properties.iter().enumerate().rev().find(|(_, prop)| prop.name.as_str() == name)
}

pub(super) fn put(
    text: &str,
    servers: &ServersPath,
    name: &str,
    entry: &Tree,
) -> Result<String, FormatError> {
    let mut splices = Splices::default();
    let nl = line_end(text);
    let Some(root) = parse(text).map_err(FormatError::Read)? else {
        let whole = wrapped(&servers.path, Tree::Map(vec![(name.to_owned(), entry.clone())]));
        let whole = pretty(&whole, &Layout { nl, indent: "", unit: "  " });
        let apart = if text.is_empty() || text.ends_with('\n') { "" } else { nl };
        splices.insert(text.len(), format!("{apart}{whole}{nl}"));
        return Ok(splices.apply(text));
    };
    let Reached { object, missing } = reach(&root, &servers.path)?;
    let unit = unit(text, &root);
    match (missing, last(object, name)) {
        ([], Some((_, there))) => {
            let range = there.value.range();
            let new = match own_indent(text, there.range.start) {
                Some(indent) => pretty(entry, &Layout { nl, indent, unit }),
                None if is_tight(text, there) => minified(entry),
                None => spaced(entry),
            };
            splices.replace(range.start..range.end, new);
        }
        ([], None) => add(text, object, (name, entry), unit, &mut splices),
        ([first, rest @ ..], _) => {
            let inner = wrapped(rest, Tree::Map(vec![(name.to_owned(), entry.clone())]));
            add(text, object, (first, &inner), unit, &mut splices);
        }
    }
    Ok(splices.apply(text))
}

fn wrapped(path: &[String], inner: Tree) -> Tree {
    path.iter().rev().fold(inner, |inner, name| Tree::Map(vec![(name.clone(), inner)]))
}

/// The indentation unit of a file: that of its outermost object.
fn unit<'t>(text: &'t str, root: &Value<'_>) -> &'t str {
    let first = root.as_object().and_then(|object| object.properties.first());
    let indent = first.and_then(|prop| own_indent(text, prop.range.start));
    indent.filter(|indent| !indent.is_empty()).unwrap_or("  ")
}

/// Whether there is no space after the colon of a property.
fn is_tight(text: &str, prop: &ObjectProp<'_>) -> bool {
    text[..prop.value.range().start].ends_with(':')
}

/// Adds a property at the end of an object, in the style of that object.
fn add(text: &str, object: &Object<'_>, new: (&str, &Tree), unit: &str, splices: &mut Splices) {
    let (key, nl) = (super::json_text::quoted(new.0), line_end(text));
    let Some(before) = object.properties.last() else {
        return add_first(text, object, &key, new.1, unit, splices);
    };
    let stop = before.value.range().end;
    let comma = comma_after(text, stop);
    match own_indent(text, before.range.start) {
        Some(indent) => {
            let value = pretty(new.1, &Layout { nl, indent, unit });
            match comma {
                Some(comma) => {
                    let at = tail(text, comma + 1);
                    splices.insert(at, format!("{nl}{indent}{key}: {value},"));
                }
                None => {
                    splices.insert(stop, ",");
                    splices.insert(tail(text, stop), format!("{nl}{indent}{key}: {value}"));
                }
            }
        }
        None => {
            let pair = if is_tight(text, before) {
                format!("{key}:{}", minified(new.1))
            } else {
                format!(" {key}: {}", spaced(new.1))
            };
            match comma {
                Some(comma) => splices.insert(comma + 1, format!("{pair},")),
                None => splices.insert(stop, format!(",{pair}")),
            }
        }
    }
}

fn add_first(
    text: &str,
    object: &Object<'_>,
    key: &str,
    value: &Tree,
    unit: &str,
    splices: &mut Splices,
) {
    let (nl, close) = (line_end(text), object.range.end - 1);
    let start = line_start(text, object.range.start);
    let blanks = text[start..].len() - text[start..].trim_start_matches([' ', '\t']).len();
    let outer = &text[start..start + blanks];
    // A file of one line stays one line.
    let one_line = text[..close].trim_start().contains('"') && !text.trim_end().contains('\n');
    if one_line {
        return splices.insert(close, format!("{key}:{}", minified(value)));
    }
    let indent = format!("{outer}{unit}");
    let value = pretty(value, &Layout { nl, indent: &indent, unit });
    match own_indent(text, close) {
        Some(_) => {
            let at = line_start(text, close);
            splices.insert(at, format!("{indent}{key}: {value}{nl}"));
        }
        None => splices.insert(close, format!("{nl}{indent}{key}: {value}{nl}{outer}")),
    }
}

pub(super) fn remove(
    text: &str,
    servers: &ServersPath,
    name: &str,
    tidy: bool,
) -> Result<String, FormatError> {
    let Some(root) = parse(text).map_err(FormatError::Read)? else {
        return Ok(text.to_owned());
    };
    let Reached { object, missing } = reach(&root, &servers.path)?;
    let Some((index, _)) = last(object, name).filter(|_| missing.is_empty()) else {
        return Ok(text.to_owned());
    };
    let mut splices = Splices::default();
    if tidy
        && object.properties.len() == 1
        && let Some((outer, name)) = servers.path.split_last().map(|(name, outer)| (outer, name))
    {
        let reached = reach(&root, outer)?;
        if let Some((index, _)) = last(reached.object, name) {
            remove_property(text, reached.object, index, &mut splices);
            return Ok(splices.apply(text));
        }
    }
    remove_property(text, object, index, &mut splices);
    Ok(splices.apply(text))
}

/// Removes a property from its object, with its comma and its line.
fn remove_property(text: &str, object: &Object<'_>, index: usize, splices: &mut Splices) {
    let prop = &object.properties[index];
    let (start, stop) = (prop.range.start, prop.value.range().end);
    let comma = comma_after(text, stop);
    let blanks = text[..start].trim_end_matches([' ', '\t']).len();
    let own_line = own_indent(text, start).is_some();
    // With its line ending, so that no empty line stays.
    let from = match own_line {
        true => text[..blanks]
            .strip_suffix('\n')
            .map_or(blanks, |rest| rest.strip_suffix('\r').unwrap_or(rest).len()),
        false => blanks,
    };
    let only = object.properties.len() == 1;
    match comma {
        _ if only => {
            let (open, close) = (object.range.start + 1, object.range.end - 1);
            let stop = comma.map_or(stop, |comma| comma + 1);
            let bare = text[open..start].trim().is_empty() && text[stop..close].trim().is_empty();
            if bare { splices.delete(open..close) } else { splices.delete(from.max(open)..stop) }
        }
        Some(comma) if index == 0 && !own_line => {
            splices.delete(start..after_blanks(text, comma + 1))
        }
        Some(comma) => {
            // A comment between the value and its comma stays.
            splices.delete(from..stop);
            splices.delete(comma..comma + 1);
        }
        None => {
            let before = object.properties.get(index.wrapping_sub(1));
            if let Some(comma) =
                before.and_then(|before| comma_after(text, before.value.range().end))
            {
                splices.delete(comma..comma + 1);
            }
            splices.delete(from..stop);
        }
    }
}
