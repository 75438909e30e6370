//! Finds tables and values by path, and creates missing tables.

use toml_edit::{Array, InlineTable, Item, Table, TableLike, Value};

use super::SettingValue;
use crate::config::ConfigError;

/// The table at this path. Missing tables are created in the usual layout.
pub(super) fn reach<'a>(
    root: &'a mut Item,
    keys: &[&str],
) -> Result<&'a mut dyn TableLike, ConfigError> {
    let mut item = root;
    for (depth, name) in keys.iter().enumerate() {
        let inline = item.is_inline_table();
        let table = item.as_table_like_mut().ok_or_else(|| no_table(&keys[..depth]))?;
        if !table.contains_key(name) {
            table.insert(name, missing(keys, depth, inline));
        }
        item = table.get_mut(name).ok_or_else(|| no_table(&keys[..=depth]))?;
    }
    item.as_table_like_mut().ok_or_else(|| no_table(keys))
}

/// A new table. Each upstream and each editor gets a header; deeper tables use dotted keys.
fn missing(keys: &[&str], depth: usize, inline: bool) -> Item {
    if inline {
        // An inline table cannot contain headers.
        return Item::Value(Value::InlineTable(InlineTable::new()));
    }
    let mut table = Table::new();
    match (depth, keys.first().copied()) {
        // `[upstreams]` and `[editors]` have no keys of their own, so they need no header.
        (0, Some("upstreams" | "editors")) => table.set_implicit(true),
        (0, _) | (1, Some("upstreams" | "editors")) => table.decor_mut().set_prefix("\n"),
        (_, _) => table.set_dotted(true),
    }
    Item::Table(table)
}

/// Sets a value; the comment next to the old one is kept.
pub(super) fn put(
    table: &mut dyn TableLike,
    key: &str,
    setting: SettingValue,
) -> Result<(), ConfigError> {
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
            let what = format!("`{key}` is a table in config.toml, not a value.");
            let remedy = "Edit it in the file.".into();
            return Err(ConfigError { line: None, what, remedy });
        }
    }
    Ok(())
}

fn no_table(keys: &[&str]) -> ConfigError {
    let what = format!("`{}` in config.toml is not a table.", keys.join("."));
    ConfigError { line: None, what, remedy: "Fix config.toml first.".into() }
}

impl From<SettingValue> for Value {
    fn from(setting: SettingValue) -> Self {
        match setting {
            SettingValue::Text(text) => text.into(),
            SettingValue::Flag(flag) => flag.into(),
            SettingValue::Number(number) => number.into(),
            SettingValue::Texts(texts) => Value::Array(texts.into_iter().collect::<Array>()),
        }
    }
}
