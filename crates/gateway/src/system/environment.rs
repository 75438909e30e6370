//! What a gateway takes from outside and cannot foresee: chance, and the time of day.
//!
//! Both are given to it, so that a simulation can replay a day exactly as it was.

use std::sync::Arc;
use std::time::SystemTime;

use evermoor_platform::clock;

/// Chance and the time of day.
#[derive(Clone)]
pub struct Chance {
    dice: Arc<dyn Fn() -> u32 + Send + Sync>,
    wall: Arc<dyn Fn() -> SystemTime + Send + Sync>,
}

impl Chance {
    /// Those of the real world.
    pub fn real() -> Self {
        // Without randomness every wait is the longest, which is slow and safe.
        Self::new(|| getrandom::u32().unwrap_or(u32::MAX), clock::now)
    }

    pub fn new(
        dice: impl Fn() -> u32 + Send + Sync + 'static,
        wall: impl Fn() -> SystemTime + Send + Sync + 'static,
    ) -> Self {
        Self { dice: Arc::new(dice), wall: Arc::new(wall) }
    }

    /// Any number, each as likely as the next.
    pub fn dice(&self) -> u32 {
        (self.dice)()
    }

    /// The time of day.
    pub fn now(&self) -> SystemTime {
        (self.wall)()
    }
}
