//! Decisions, as pure functions of what was observed and the time.
//!
//! - [`retry`]: which requests may be sent twice; [`backoff`]: how long to wait before the next attempt
//! - [`crash_loop`]: a program that keeps exiting; [`wake_detector`]: sleep and wake; [`hold_deadline`]: how long a call is
//!   held, which a sleep does not extend
//! - [`silence`]: an upstream that sends nothing, and how often it is pinged; [`retry_after`]: the header of a busy server
//! - [`first_list`]: how long an editor waits for the first list of an upstream
//! - [`token_refresh`]: when an access token is renewed
//! - [`device_poll`]: how often it is asked whether a user has entered the code of a sign-in
//! - [`pause`]: which upstreams are paused
//! - [`app`]: desktop apps that host an upstream: their state, why they exited, how they restart
//! - [`alerts`]: which problems become desktop notifications
//!
//! Nothing here does I/O or reads a clock. It uses [`api`](crate::api), [`catalog`](crate::catalog),
//! [`config`](crate::config), [`failure`](crate::failure), [`preset`](crate::preset) and
//! [`protocol`](crate::protocol); the gateway and the tray carry out what it decides.

pub mod alerts;
pub mod app;
pub mod backoff;
pub mod crash_loop;
pub mod device_poll;
pub mod first_list;
pub mod hold_deadline;
pub mod pause;
pub mod retry;
pub mod retry_after;
pub mod silence;
pub mod token_refresh;
pub mod wake_detector;
