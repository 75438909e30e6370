//! Dice that fall the same way for the same seed.
//!
//! Everybody in the simulation has dice of their own, and what happens to one call is thrown for
//! that call alone: then it makes no difference in which order things happen that happen at once.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::time::Duration;

pub(super) struct Dice(u64);

impl Dice {
    /// The dice of `whom` on the day of `seed`.
    pub(super) fn of(seed: u64, whom: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        (seed, whom).hash(&mut hasher);
        Self(hasher.finish())
    }

    /// The next number of a sequence that looks like chance (splitmix64).
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or(0)
    }

    pub(super) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    /// Any time up to `longest`.
    pub(super) fn up_to(&mut self, longest: Duration) -> Duration {
        let millis = usize::try_from(longest.as_millis()).unwrap_or(usize::MAX).max(1);
        Duration::from_millis(self.below(millis) as u64)
    }
}
