//! What differs between two menus: rows that come and go, or words alone.

use super::Item;

/// The smallest stretch of rows whose replacement leaves only words to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) at: usize,
    pub(crate) remove: usize,
    pub(crate) insert: usize,
}

impl Change {
    /// Compares two menus by their structure.
    pub(crate) fn between(shown: &[Item], wanted: &[Item]) -> Self {
        let same = |(one, other): &(&Item, &Item)| differ_in_words_only(one, other);
        let at = shown.iter().zip(wanted).take_while(same).count();
        let (shown, wanted) = (&shown[at..], &wanted[at..]);
        let kept = shown.iter().rev().zip(wanted.iter().rev()).take_while(same).count();
        Self { at, remove: shown.len() - kept, insert: wanted.len() - kept }
    }

    /// Whether no row comes or goes.
    pub(crate) fn is_words_only(self) -> bool {
        self.remove == 0 && self.insert == 0
    }
}

/// The text of a submenu counts as structure: GTK cannot change it in place.
fn differ_in_words_only(one: &Item, other: &Item) -> bool {
    match (one, other) {
        (Item::Line(_), Item::Line(_)) | (Item::Separator, Item::Separator) => true,
        (Item::Button { action, .. }, Item::Button { action: another, .. })
        | (Item::Check { action, .. }, Item::Check { action: another, .. }) => action == another,
        (Item::Submenu { text, items }, Item::Submenu { text: another, items: others }) => {
            text == another && Change::between(items, others).is_words_only()
        }
        _ => false,
    }
}
