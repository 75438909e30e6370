//! Random numbers that are the same for the same seed.
//!
//! Each editor, server and call has its own generator, so the order of simultaneous events does not
//! change the result.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::time::Duration;

pub(super) struct SeededRandom(u64);

impl SeededRandom {
    /// The generator of `owner` on the day of `seed`.
    pub(super) fn of(seed: u64, owner: impl Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        (seed, owner).hash(&mut hasher);
        Self(hasher.finish())
    }

    /// The next number (splitmix64).
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

    /// A duration below `longest`.
    pub(super) fn up_to(&mut self, longest: Duration) -> Duration {
        let millis = usize::try_from(longest.as_millis()).unwrap_or(usize::MAX).max(1);
        Duration::from_millis(self.below(millis) as u64)
    }
}
