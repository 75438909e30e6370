//! Every duration in the alert rules, in milliseconds.

use crate::policy::app::auto_restart::MUTE_AFTER_WAKE;

/// The durations and limits of the alert rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlertTiming {
    /// How long a server that exited may stay away before its outage is announced.
    pub exit_grace: u64,
    /// How long a server may leave requests unanswered.
    pub unreachable_grace: u64,
    /// How long a server may take to start.
    pub startup_grace: u64,
    /// Between two alerts of the same kind about the same upstream.
    pub repeat_interval: u64,
    /// Within `rate_window` there are at most `rate_limit` alerts, then one summary.
    pub rate_window: u64,
    pub rate_limit: usize,
    /// Outages that begin this close together share an alert.
    pub group_window: u64,
    /// How long alerts are muted after a wake, a login and a change of network.
    pub mute: u64,
    /// A clock jump from here on is a sleep; a shorter one is a clock adjustment.
    pub sleep_threshold: u64,
    /// For how long after a user action there are no alerts about the upstream.
    pub user_action_grace: u64,
}

impl Default for AlertTiming {
    fn default() -> Self {
        Self {
            exit_grace: 5_000,
            unreachable_grace: 20_000,
            startup_grace: 60_000,
            repeat_interval: 600_000,
            rate_window: 3_600_000,
            rate_limit: 4,
            group_window: 15_000,
            mute: MUTE_AFTER_WAKE.as_millis() as u64,
            sleep_threshold: 30_000,
            user_action_grace: 60_000,
        }
    }
}
