//! Removes an item, but keeps the comments that are not about it.
//!
//! The comment directly above a table belongs to it, up to the next empty line. Comments above that,
//! such as those at the top of the file, move to what follows. All comments above a single setting
//! stay, because the user may set it again.

use toml_edit::{Decor, DocumentMut, Item, Table, TableLike};

/// Removes the value or table at this path, if it exists.
pub(super) fn take_out(document: &mut DocumentMut, keys: &[&str]) {
    let Some((key, tables)) = keys.split_last() else { return };
    let mut item = document.as_item_mut();
    let mut position = None;
    for name in tables {
        let found = item.as_table_like_mut().and_then(|table| table.get_mut(name));
        let Some(found) = found else { return };
        position = found.as_table().and_then(Table::position).or(position);
        item = found;
    }
    let Some(table) = item.as_table_like_mut() else { return };
    let Some((kept, next)) = left_behind(table, key, &mut position) else { return };
    table.remove(key);
    if kept.is_empty() {
        return;
    }
    match next.and_then(|next| table.key_mut(&next)) {
        Some(mut key) => put_above(key.leaf_decor_mut(), &kept),
        None => put_behind(document, position, &kept),
    }
}

/// The comments to keep when this key is removed, and the key that follows it in its table.
fn left_behind(
    table: &dyn TableLike,
    key: &str,
    position: &mut Option<isize>,
) -> Option<(String, Option<String>)> {
    let (found, item) = table.get_key_value(key)?;
    match item {
        Item::Table(gone) => {
            // The comments above the header belong to the table; a table without a header has none.
            *position = last_position(gone).or(*position);
            Some((above_the_last_gap(prefix(gone.decor())), None))
        }
        Item::Value(_) | Item::None | Item::ArrayOfTables(_) => {
            let above = prefix(found.leaf_decor());
            let kept = if above.contains('#') { above.to_owned() } else { String::new() };
            let values = table.iter().filter(|(_, item)| item.is_value());
            let mut values = values.map(|(name, _)| name.to_owned());
            let _ = values.find(|name| name == key);
            Some((kept, values.next()))
        }
    }
}

fn prefix(decor: &Decor) -> &str {
    decor.prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default()
}

/// The text up to and including the last empty line.
fn above_the_last_gap(text: &str) -> String {
    let gap = text.rfind("\n\n").map(|at| at + 2);
    let gap = gap.or_else(|| text.rfind("\n\r\n").map(|at| at + 3));
    let above = gap.map_or("", |at| &text[..at]);
    if above.contains('#') { above.to_owned() } else { String::new() }
}

fn put_above(decor: &mut Decor, kept: &str) {
    let own = prefix(decor).trim_start_matches(['\r', '\n']).to_owned();
    decor.set_prefix(format!("{kept}{own}"));
}

/// Moves comments above the first header after this position, or to the end of the file.
fn put_behind(document: &mut DocumentMut, position: Option<isize>, kept: &str) {
    let behind = |at: &isize| position.is_none_or(|position| *at > position);
    let next = headers(document.as_table()).into_iter().filter(behind).min();
    match next.and_then(|next| headed(document.as_table_mut(), next)) {
        Some(table) => put_above(table.decor_mut(), kept),
        None => {
            let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
            document.set_trailing(format!("{kept}{trailing}"));
        }
    }
}

/// The positions of all headers inside a table.
fn headers(table: &Table) -> Vec<isize> {
    let inner = table.iter().filter_map(|(_, item)| item.as_table());
    inner.flat_map(|one| header(one).into_iter().chain(headers(one))).collect()
}

/// The table whose header is at this position.
fn headed(table: &mut Table, wanted: isize) -> Option<&mut Table> {
    if header(table) == Some(wanted) {
        return Some(table);
    }
    let mut inner = table.iter_mut().filter_map(|(_, item)| item.as_table_mut());
    inner.find_map(|one| headed(one, wanted))
}

fn header(table: &Table) -> Option<isize> {
    table.position().filter(|_| !table.is_implicit() && !table.is_dotted())
}

fn last_position(table: &Table) -> Option<isize> {
    headers(table).into_iter().chain(header(table)).max()
}
