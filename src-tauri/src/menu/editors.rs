//! The submenu of editors: connected ones have a tick, and a click connects the others.

use evermoor_core::api::{DetectedEditor, SetupState};

use super::item::{Item, button, check, submenu};
use crate::actions::action::Action;
use crate::window::page::Page;

pub(super) fn row(editors: &[DetectedEditor]) -> Item {
    let here = editors.iter().filter(|editor| editor.state != SetupState::NotInstalled);
    let mut items: Vec<Item> = here.map(editor).collect();
    if !items.is_empty() {
        items.push(Item::Separator);
    }
    items.push(button("Another editor…", Action::Show(Page::Editors)));
    submenu("Connect an editor", items)
}

fn editor(editor: &DetectedEditor) -> Item {
    let text = match editor.state {
        SetupState::Changed => format!("{} — Repair", editor.title),
        SetupState::Unreadable => format!("{} — Check its file…", editor.title),
        SetupState::Connected | SetupState::NotConnected | SetupState::NotInstalled => {
            editor.title.clone()
        }
    };
    let connected = editor.state == SetupState::Connected;
    // An editor that is connected, or cannot be, is shown in the dashboard.
    let action = match editor.state {
        SetupState::NotConnected | SetupState::Changed => Action::Connect(editor.id.clone()),
        SetupState::Connected | SetupState::Unreadable | SetupState::NotInstalled => {
            Action::ShowEditor(editor.id.clone())
        }
    };
    check(&text, action, connected)
}
