//! Limits of the lists that an upstream sends.
//!
//! A list is kept in memory, on disk and in what every editor sees. So an upstream that sends more than
//! [`CatalogLimits`] allow is not served, and an item whose name is too long is left out.

use crate::catalog::ListKind;
use crate::protocol::json::Raw;

/// How much an upstream's lists may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogLimits {
    /// All pages of all lists together.
    pub bytes: u64,
    /// All items of all lists together.
    pub items: usize,
}

impl Default for CatalogLimits {
    fn default() -> Self {
        Self { bytes: 16_000_000, items: 20_000 }
    }
}

/// Longer names of tools and prompts are not used by any client.
const LONGEST_NAME: usize = 1_024;
/// Longer URIs are not requested.
pub const LONGEST_URI: usize = 8_192;

/// What an upstream has sent so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct CatalogSize {
    bytes: u64,
    items: usize,
}

/// A limit was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogTooLarge {
    #[error("Its lists are larger than {} MB.", .0 / 1_000_000)]
    Bytes(u64),
    #[error("Its lists have more than {0} items.")]
    Items(usize),
}

impl CatalogSize {
    /// The bytes of all pages so far.
    pub fn bytes(&self) -> usize {
        usize::try_from(self.bytes).unwrap_or(usize::MAX)
    }

    /// Counts a page of a list: its bytes and its items.
    pub fn add(
        &mut self,
        bytes: usize,
        items: usize,
        limits: CatalogLimits,
    ) -> Result<(), CatalogTooLarge> {
        self.bytes += bytes as u64;
        self.items += items;
        if self.bytes > limits.bytes {
            return Err(CatalogTooLarge::Bytes(limits.bytes));
        }
        if self.items > limits.items {
            return Err(CatalogTooLarge::Items(limits.items));
        }
        Ok(())
    }
}

/// Removes the items whose names are too long, and returns how many there were.
pub fn drop_long_names(list: ListKind, items: &mut Vec<Raw>) -> usize {
    let longest = match list {
        ListKind::Tools | ListKind::Prompts => LONGEST_NAME,
        ListKind::Resources | ListKind::Templates => LONGEST_URI,
    };
    let before = items.len();
    items.retain(|item| item.text_member(list.key()).is_none_or(|name| name.len() <= longest));
    before - items.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(length: usize) -> Raw {
        Raw::of(&serde_json::json!({ "name": "x".repeat(length) }))
    }

    #[test]
    fn pages_count_together() {
        let limits = CatalogLimits { bytes: 50, items: 3 };
        let mut size = CatalogSize::default();
        assert_eq!(size.add(12, 2, limits), Ok(()));
        assert_eq!(size.add(12, 2, limits), Err(CatalogTooLarge::Items(3)));
        assert_eq!(size.add(60, 0, limits), Err(CatalogTooLarge::Bytes(50)));
        assert_eq!(size.bytes(), 84);
    }

    #[test]
    fn an_item_with_a_name_that_is_too_long_is_left_out() {
        let mut tools = vec![tool(1), tool(LONGEST_NAME), tool(LONGEST_NAME + 1)];
        assert_eq!(drop_long_names(ListKind::Tools, &mut tools), 1);
        assert_eq!(tools.len(), 2);
    }
}
