//! Dice that fall the same way for the same seed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Clone)]
pub(super) struct Dice(Arc<AtomicU64>);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(Arc::new(AtomicU64::new(seed)))
    }

    /// The next number of a sequence that looks like chance (splitmix64).
    pub(super) fn next(&self) -> u64 {
        let state = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(super) fn below(&self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(super) fn one_in(&self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    /// Any time up to `longest`.
    pub(super) fn up_to(&self, longest: Duration) -> Duration {
        Duration::from_millis(
            self.below(u64::try_from(longest.as_millis()).unwrap_or(u64::MAX).max(1)),
        )
    }
}
