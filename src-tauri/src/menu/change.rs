//! The difference between two menus: rows that are added or removed, or only texts.

use super::Item;

/// The smallest range of rows to replace so that afterwards only texts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) at: usize,
    pub(crate) remove: usize,
    pub(crate) insert: usize,
}

impl Change {
    /// Compares the structure of two menus.
    pub(crate) fn between(shown: &[Item], wanted: &[Item]) -> Self {
        let same = |(one, other): &(&Item, &Item)| differ_in_text_only(one, other);
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

/// The text of a submenu counts as structure: GTK cannot change it in place.
fn differ_in_text_only(one: &Item, other: &Item) -> bool {
    match (one, other) {
        (Item::Line(_), Item::Line(_)) | (Item::Separator, Item::Separator) => true,
        (Item::Button { action, .. }, Item::Button { action: another, .. })
        | (Item::Check { action, .. }, Item::Check { action: another, .. }) => action == another,
        (Item::Submenu { text, items }, Item::Submenu { text: another, items: others }) => {
            text == another && Change::between(items, others).is_text_only()
        }
        _ => false,
    }
}
