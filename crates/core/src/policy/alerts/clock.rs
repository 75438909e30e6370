//! What time it is, on two clocks.

/// A moment. Both clocks count milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Of a clock that stands still while the machine sleeps, and is never set.
    pub awake: u64,
    /// Of the Unix epoch.
    pub wall: u64,
}

/// Notices a sleep: only the wall clock goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    last: Now,
}

impl Clock {
    pub(super) fn new(now: Now) -> Self {
        Self { last: now }
    }

    /// Whether the machine slept since this was last asked.
    pub(super) fn slept(&mut self, now: Now, nap: u64) -> bool {
        let awake = now.awake.saturating_sub(self.last.awake);
        let slept = now.wall.saturating_sub(self.last.wall).saturating_sub(awake);
        self.last = now;
        slept >= nap
    }
}
