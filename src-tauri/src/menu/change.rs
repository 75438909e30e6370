//! The difference between two menus: rows that are added or removed, or only texts.

use super::Item;
use crate::system;

/// The smallest range of rows to replace so that afterwards only texts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MenuChange {
    pub(crate) at: usize,
    pub(crate) remove: usize,
    pub(crate) insert: usize,
}

impl MenuChange {
    /// Compares the structure of two menus.
    pub(crate) fn between(shown: &[Item], wanted: &[Item]) -> Self {
        Self::with_rules(shown, wanted, system::SUBMENU_TEXTS_CHANGE_IN_PLACE)
    }

    /// `submenu_texts`: the text of a submenu can change in place. Otherwise it counts as structure.
    fn with_rules(shown: &[Item], wanted: &[Item], submenu_texts: bool) -> Self {
        let same = |(one, other): &(&Item, &Item)| differ_in_text_only(one, other, submenu_texts);
        let at = shown.iter().zip(wanted).take_while(same).count();
        let (shown, wanted) = (&shown[at..], &wanted[at..]);
        let kept = shown.iter().rev().zip(wanted.iter().rev()).take_while(same).count();
        Self { at, remove: shown.len() - kept, insert: wanted.len() - kept }
    }

    /// Whether no row is added or removed.
    pub(crate) fn is_text_only(self) -> bool {
        self.remove == 0 && self.insert == 0
    }
}

fn differ_in_text_only(one: &Item, other: &Item, submenu_texts: bool) -> bool {
    match (one, other) {
        (Item::Line(_), Item::Line(_)) | (Item::Separator, Item::Separator) => true,
        (Item::Button { action, .. }, Item::Button { action: another, .. })
        | (Item::Check { action, .. }, Item::Check { action: another, .. }) => action == another,
        (Item::Submenu { text, items }, Item::Submenu { text: another, items: others }) => {
            (submenu_texts || text == another)
                && MenuChange::with_rules(items, others, submenu_texts).is_text_only()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::action::Action;
    use crate::menu::item::{button, submenu};

    #[test]
    fn the_text_of_a_submenu_changes_in_place_where_the_system_can() {
        let menu = |text: &str| vec![submenu(text, vec![button("Open", Action::Open)])];
        let change =
            |in_place| MenuChange::with_rules(&menu("1 server"), &menu("2 servers"), in_place);
        assert!(change(true).is_text_only());
        assert_eq!(change(false), MenuChange { at: 0, remove: 1, insert: 1 });
    }

    #[test]
    fn other_rows_in_a_submenu_are_structure_everywhere() {
        let one = [submenu("Servers", vec![button("Open", Action::Open)])];
        let other = [submenu("Servers", vec![button("Quit", Action::Quit)])];
        for in_place in [true, false] {
            assert!(!MenuChange::with_rules(&one, &other, in_place).is_text_only());
        }
    }
}
