//! One row of the menu, as data.

use crate::actions::action::Action;

/// Longer lines are cut: a menu as wide as the screen cannot be read.
const LINE_LENGTH: usize = 72;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// A line to read.
    Line(String),
    /// A line to click, unless it is faint because what it does is being done.
    Button {
        text: String,
        action: Action,
        enabled: bool,
    },
    /// A line to click with a tick before it, or none.
    Check {
        text: String,
        action: Action,
        on: bool,
    },
    /// A line with more lines behind it.
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

/// What a person asked for already.
pub(super) fn under_way(text: &str, action: Action) -> Item {
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
    fn a_long_line_is_cut_and_a_line_that_fits_is_not() {
        let fits = "ü".repeat(LINE_LENGTH);
        assert_eq!(short(&fits), fits);
        let cut = short(&format!("{fits}ü"));
        assert_eq!((cut.chars().count(), cut.chars().last()), (LINE_LENGTH, Some('…')));
    }
}
