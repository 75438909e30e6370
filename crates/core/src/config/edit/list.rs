//! Shows or hides a single tool through the allow and deny lists.
//!
//! A tool is hidden by adding its name to the deny list. It is shown by removing it from there and, if
//! there is an allow list, by adding it to that. A tool that a pattern hides cannot be shown this way:
//! the user must change the pattern.

use toml_edit::{Array, Item, Value};

use super::{ConfigEdit, path};
use crate::catalog::filter::Filter;
use crate::config::ConfigError;

/// The deny pattern, other than the name itself, that hides this name.
pub fn hiding_pattern<'a>(filter: &'a Filter, name: &str) -> Option<&'a str> {
    let mut deny = filter.deny.iter().map(|pattern| (pattern, pattern.as_str()));
    deny.find(|(pattern, text)| *text != name && pattern.matches(name)).map(|(_, text)| text)
}

pub(super) fn set_shown(
    edit: &mut ConfigEdit,
    upstream: &str,
    tool: &str,
    shown: bool,
    filter: &Filter,
) -> Result<(), ConfigError> {
    if filter.passes(tool) == shown {
        return Ok(());
    }
    let refused = |what: String, remedy: &str| {
        let remedy = remedy.to_owned();
        Err(ConfigError { line: None, what, remedy })
    };
    if tool.is_empty() || tool.contains('*') {
        let what = format!("`{tool}` cannot be listed by name, because * matches any characters.");
        return refused(what, "Add a pattern for it in the settings.");
    }
    let keys = |list| ["upstreams", upstream, "tools", list];
    if !shown {
        return change(edit, &keys("deny"), |deny| push(deny, tool));
    }
    if let Some(pattern) = hiding_pattern(filter, tool) {
        let what = format!("The deny pattern `{pattern}` hides `{tool}`.");
        return refused(what, "Change that pattern in the settings.");
    }
    if filter.deny.iter().any(|pattern| pattern.as_str() == tool) {
        change(edit, &keys("deny"), |deny| remove(deny, tool))?;
    }
    let allowed =
        |allow: &Vec<_>| Filter { allow: Some(allow.clone()), deny: Vec::new() }.passes(tool);
    match filter.allow.as_ref().is_none_or(allowed) {
        true => Ok(()),
        false => change(edit, &keys("allow"), |allow| push(allow, tool)),
    }
}

/// Changes a list. It is created if missing; an empty deny list without comments is removed.
fn change(
    edit: &mut ConfigEdit,
    keys: &[&str; 4],
    how: impl FnOnce(&mut Array),
) -> Result<(), ConfigError> {
    let [tables @ .., key] = keys;
    let table = path::reach(edit.document.as_item_mut(), tables)?;
    if !table.contains_key(key) {
        table.insert(key, Item::Value(Value::Array(Array::new())));
    }
    let Some(list) = table.get_mut(key).and_then(Item::as_array_mut) else {
        return Err(ConfigError {
            line: None,
            what: format!("`{}` in config.toml is the name of a tool, not a list.", keys.join(".")),
            remedy: "Edit the list in the file.".into(),
        });
    };
    how(list);
    let bare = list.is_empty() && !list.to_string().contains('#') && *key == "deny";
    if bare {
        edit.unset(keys);
    }
    Ok(())
}

/// Adds a name with the layout of the previous one.
fn push(list: &mut Array, name: &str) {
    let mut value = Value::from(name);
    if let Some(last) = list.iter().last() {
        let prefix = last.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
        // One name per line, or all on one line.
        let indent = prefix.rfind('\n').map_or(" ", |at| &prefix[at..]);
        value.decor_mut().set_prefix(indent);
    }
    list.push_formatted(value);
}

/// Removes a name. Comments before it are kept, because they belong to its neighbours.
fn remove(list: &mut Array, name: &str) {
    let found = list.iter().position(|value| value.as_str() == Some(name));
    let Some(at) = found else { return };
    let gone = list.remove(at);
    let part = |text: Option<&toml_edit::RawString>| {
        text.and_then(|text| text.as_str()).unwrap_or_default().to_owned()
    };
    let above = part(gone.decor().prefix());
    let gap = [' ', '\t', '\n', '\r'];
    match list.get_mut(at) {
        Some(next) => {
            let own = part(next.decor().prefix());
            let prefix = match (above.contains('#'), own.contains('#')) {
                (true, _) => format!("{}{own}", above.trim_end_matches(gap)),
                // The first name may have no space before it.
                (false, false) => above,
                (false, true) => own,
            };
            next.decor_mut().set_prefix(prefix);
        }
        None if above.contains('#') => {
            let trailing = part(Some(list.trailing()));
            let kept = above.trim_end_matches(gap);
            let end = if trailing.contains('\n') { trailing } else { format!("{trailing}\n") };
            list.set_trailing(format!("{kept}{end}"));
        }
        None => {}
    }
}
