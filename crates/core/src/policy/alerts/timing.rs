//! How long everything takes, in milliseconds.

/// The lengths of time in the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// An application that ended may come back within this without a word.
    pub gone: u64,
    /// One that does not answer may be busy for this long.
    pub unreachable: u64,
    /// One that starts may take this long.
    pub starting: u64,
    /// Between two notices of the same kind about the same upstream.
    pub same: u64,
    /// In this time there are at most so many notices, and then one that sums up.
    pub hour: u64,
    pub most: usize,
    /// What goes down within this is told as one.
    pub together: u64,
    /// After a wake, a login and a change of the network.
    pub mute: u64,
    /// More than a correction of the clock, less than a sleep.
    pub nap: u64,
    /// For this long at most a person who acts on an upstream is not told of it.
    pub acting: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            gone: 5_000,
            unreachable: 20_000,
            starting: 60_000,
            same: 600_000,
            hour: 3_600_000,
            most: 4,
            together: 15_000,
            mute: 45_000,
            nap: 30_000,
            acting: 60_000,
        }
    }
}
