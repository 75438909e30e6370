//! Random numbers that repeat for the same seed.

use std::time::{Duration, UNIX_EPOCH};

use evermoor_platform::clock;

/// A stream of random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed from the environment variable `SEED`, or a new one.
    pub fn seed() -> u64 {
        let given = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
        given.unwrap_or_else(|| {
            let now = clock::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            u64::from(now.subsec_nanos()) ^ now.as_secs()
        })
    }

    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        let place = self.roll() % from.len() as u64;
        from[usize::try_from(place).expect("a place in a slice")].clone()
    }

    /// A duration between the two, in milliseconds.
    pub fn millis(&mut self, shortest: u64, longest: u64) -> Duration {
        Duration::from_millis(shortest + self.roll() % (longest - shortest + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let rolls = |seed| {
            let mut dice = Dice::new(seed);
            std::iter::repeat_with(move || dice.roll()).take(100).collect::<Vec<_>>()
        };
        assert_eq!(rolls(7), rolls(7));
        assert_ne!(rolls(7), rolls(8));
    }
}
