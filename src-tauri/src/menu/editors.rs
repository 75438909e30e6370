//! The editors on this machine: a tick for those that are connected, a click for those that are not.

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
        SetupState::Unreadable => format!("{} — Look at its file…", editor.title),
        SetupState::Connected | SetupState::NotConnected | SetupState::NotInstalled => {
            editor.title.clone()
        }
    };
    let connected = editor.state == SetupState::Connected;
    // What is connected already, or cannot be, is looked at.
    let action = match editor.state {
        SetupState::NotConnected | SetupState::Changed => Action::Connect(editor.id.clone()),
        SetupState::Connected | SetupState::Unreadable | SetupState::NotInstalled => {
            Action::LookAt(editor.id.clone())
        }
    };
    check(&text, action, connected)
}
