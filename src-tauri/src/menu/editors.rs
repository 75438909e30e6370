//! The submenu of editors: connected ones have a tick, and a click connects the others.

use evermoor_core::api::{Connection, Found};

use super::item::{Item, button, check, submenu};
use crate::actions::action::Action;
use crate::window::page::Page;

pub(super) fn row(editors: &[Found]) -> Item {
    let here = editors.iter().filter(|editor| editor.state != Connection::NotInstalled);
    let mut items: Vec<Item> = here.map(editor).collect();
    if !items.is_empty() {
        items.push(Item::Separator);
    }
    items.push(button("Another editor…", Action::Show(Page::Editors)));
    submenu("Connect an editor", items)
}

fn editor(editor: &Found) -> Item {
    let text = match editor.state {
        Connection::Changed => format!("{} — Repair", editor.title),
        Connection::Unreadable => format!("{} — Check its file…", editor.title),
        Connection::Connected | Connection::NotConnected | Connection::NotInstalled => {
            editor.title.clone()
        }
    };
    let connected = editor.state == Connection::Connected;
    // An editor that is connected, or cannot be, is shown in the dashboard.
    let action = match editor.state {
        Connection::NotConnected | Connection::Changed => Action::Connect(editor.id.clone()),
        Connection::Connected | Connection::Unreadable | Connection::NotInstalled => {
            Action::ShowEditor(editor.id.clone())
        }
    };
    check(&text, action, connected)
}
