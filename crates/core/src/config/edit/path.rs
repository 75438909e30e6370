//! Ways through a document: to a table, which is made if it is missing, and to a value.

use toml_edit::{Array, InlineTable, Item, Table, TableLike, Value};

use super::Setting;
use crate::config::Mistake;

/// The table at this place. What is missing of the way is made as a person would write it.
pub(super) fn reach<'a>(
    root: &'a mut Item,
    place: &[&str],
) -> Result<&'a mut dyn TableLike, Mistake> {
    let mut item = root;
    for (depth, name) in place.iter().enumerate() {
        let inline = item.is_inline_table();
        let table = item.as_table_like_mut().ok_or_else(|| no_table(&place[..depth]))?;
        if !table.contains_key(name) {
            table.insert(name, missing(place, depth, inline));
        }
        item = table.get_mut(name).ok_or_else(|| no_table(&place[..=depth]))?;
    }
    item.as_table_like_mut().ok_or_else(|| no_table(place))
}

/// A table that is not there yet. Each upstream and each editor has a header of its own; what is
/// below them is written with dots.
fn missing(place: &[&str], depth: usize, inline: bool) -> Item {
    if inline {
        // In braces there is no room for a header.
        return Item::Value(Value::InlineTable(InlineTable::new()));
    }
    let mut table = Table::new();
    match (depth, place.first().copied()) {
        // Nothing is said of all upstreams, or of all editors.
        (0, Some("upstreams" | "editors")) => table.set_implicit(true),
        (0, _) | (1, Some("upstreams" | "editors")) => table.decor_mut().set_prefix("\n"),
        (_, _) => table.set_dotted(true),
    }
    Item::Table(table)
}

/// Puts a value in the place of another one, with the comment that stands beside it.
pub(super) fn put(table: &mut dyn TableLike, key: &str, setting: Setting) -> Result<(), Mistake> {
    let mut value = Value::from(setting);
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        Some(Item::None) | None => {
            table.insert(key, Item::Value(value));
        }
        Some(Item::Table(_) | Item::ArrayOfTables(_)) => {
            let what = format!("`{key}` is a table in config.toml, and a value was to be set.");
            let remedy = "Change it in the file itself.".into();
            return Err(Mistake { line: None, what, remedy });
        }
    }
    Ok(())
}

fn no_table(place: &[&str]) -> Mistake {
    let what = format!("`{}` in config.toml is no table.", place.join("."));
    Mistake { line: None, what, remedy: "Correct config.toml first.".into() }
}

impl From<Setting> for Value {
    fn from(setting: Setting) -> Self {
        match setting {
            Setting::Text(text) => text.into(),
            Setting::Flag(flag) => flag.into(),
            Setting::Number(number) => number.into(),
            Setting::Texts(texts) => Value::Array(texts.into_iter().collect::<Array>()),
        }
    }
}
