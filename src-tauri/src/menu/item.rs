//! The rows of the menu, as data.

use crate::actions::action::Action;

/// Longer texts are cut, because a menu as wide as the screen is unreadable.
const LINE_LENGTH: usize = 72;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A text that cannot be clicked.
    Line(String),
    /// A row to click. Disabled while its action is running.
    Button {
        text: String,
        action: Action,
        enabled: bool,
    },
    /// A row to click, with an optional tick.
    Check {
        text: String,
        action: Action,
        on: bool,
    },
    Submenu {
        text: String,
        items: Vec<Item>,
    },
    Separator,
}

pub(super) fn line(text: &str) -> Item {
    Item::Line(short(text))
}

pub(super) fn button(text: &str, action: Action) -> Item {
    Item::Button { text: short(text), action, enabled: true }
}

/// A button whose action is already running.
pub(super) fn busy_button(text: &str, action: Action) -> Item {
    Item::Button { text: short(text), action, enabled: false }
}

pub(super) fn check(text: &str, action: Action, on: bool) -> Item {
    Item::Check { text: short(text), action, on }
}

pub(super) fn submenu(text: &str, items: Vec<Item>) -> Item {
    Item::Submenu { text: short(text), items }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LINE_LENGTH - 1) {
        Some((end, last)) if end + last.len_utf8() < text.len() => format!("{}…", &text[..end]),
        Some(_) | None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_text_that_is_too_long_is_cut() {
        let fits = "ü".repeat(LINE_LENGTH);
        assert_eq!(short(&fits), fits);
        let cut = short(&format!("{fits}ü"));
        assert_eq!((cut.chars().count(), cut.chars().last()), (LINE_LENGTH, Some('…')));
    }
}
