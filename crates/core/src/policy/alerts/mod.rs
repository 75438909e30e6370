//! Desktop alerts: which problems deserve a notification, when, and with what text.
//!
//! # Theory of operation
//! [`AlertRules`] receives the gateway's status, what the user does in the tray, and the time. It
//! returns [commands](AlertCommand) to show, replace or withdraw alerts. It does no I/O and starts
//! no timer: [`AlertRules::next_evaluation`] says when the caller should evaluate the rules again.
//!
//! An upstream that goes down has an *outage*. An outage is announced once its grace period ends,
//! unless the user is working on that upstream, the machine just woke, a restart is in progress or
//! the rate limit is reached. Outages that begin together share one alert. When the state of an
//! upstream changes, its alert is replaced, and a silent "is back" replaces the last one, so an
//! alert on the screen is never out of date.
//!
//! # Layout
//! - [`rules`]: [`AlertRules`], the rules themselves
//! - [`alert`]: an alert and its buttons; [`text`]: the texts
//! - [`outage`]: one upstream and its outage; [`kind`]: the kinds of problem
//! - [`displayed`]: the alerts on the screen
//! - [`rate_limit`]: how often the user may be interrupted
//! - [`clock`]: the time, and whether the machine slept; [`timing`]: every duration in the rules
//!
//! Depends on [`api`](crate::api) for the status, on [`failure`](crate::failure) and on
//! [`policy::app`](crate::policy::app) for one limit. The tray is its only user.

pub mod alert;
mod clock;
mod displayed;
mod kind;
mod outage;
mod rate_limit;
mod rules;
#[cfg(test)]
mod tests;
mod text;
pub mod timing;

pub use alert::{Alert, AlertButton, AlertCommand, AlertId, AlertTarget};
pub use clock::ClockReading;
pub use rules::AlertRules;
pub use timing::AlertTiming;

/// Something the user did in the tray. They need no alert about its effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrayAction {
    /// Restart this upstream.
    Restart(String),
    /// Pause, resume or turn off this upstream, or all of them.
    Manage(Option<String>),
    /// Show no alerts about this upstream until this time (milliseconds of the Unix epoch).
    Ignore { upstream: String, until: u64 },
    /// Quit the tray.
    Quit,
}

/// Stands for the gateway where an upstream's name is expected; no upstream has an empty name.
const GATEWAY: &str = "";
