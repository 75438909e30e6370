//! The time on two clocks, and whether the machine slept between two readings.

/// A reading of both clocks, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// A monotonic clock that stops while the machine sleeps.
    pub awake: u64,
    /// The wall clock, since the Unix epoch.
    pub wall: u64,
}

/// Detects sleep: meanwhile only the wall clock advances.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    last: ClockReading,
}

impl Clock {
    pub(super) fn new(now: ClockReading) -> Self {
        Self { last: now }
    }

    /// Whether the machine slept for at least `threshold` since the last call.
    pub(super) fn slept(&mut self, now: ClockReading, threshold: u64) -> bool {
        let awake = now.awake.saturating_sub(self.last.awake);
        let slept = now.wall.saturating_sub(self.last.wall).saturating_sub(awake);
        self.last = now;
        slept >= threshold
    }
}
