//! The sources of nondeterminism: the wall clock and random numbers.
//!
//! They are injected, so that a simulation can replay a run exactly.

use std::sync::Arc;
use std::time::SystemTime;

use evermoor_platform::clock;

/// A wall clock and a source of random numbers.
#[derive(Clone)]
pub struct ClockAndRandom {
    random_u32: Arc<dyn Fn() -> u32 + Send + Sync>,
    wall: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl ClockAndRandom {
    /// The clock and the random numbers of the operating system.
    pub fn real() -> Self {
        // Without random numbers every backoff is the longest one, which is slow but safe.
        Self::new(|| getrandom::u32().unwrap_or(u32::MAX), clock::now)
    }

    pub fn new(
        random_u32: impl Fn() -> u32 + Send + Sync + 'static,
        wall: impl Fn() -> SystemTime + Send + Sync + 'static,
    ) -> Self {
        Self { random_u32: Arc::new(random_u32), wall: Arc::new(wall) }
    }

    /// A uniformly distributed number.
    pub fn random_u32(&self) -> u32 {
        (self.random_u32)()
    }

    pub fn now(&self) -> SystemTime {
        (self.wall)()
    }
}
