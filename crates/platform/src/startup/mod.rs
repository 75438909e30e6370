//! What the system starts at login.
//!
//! - [`location`]: whether the program stays where it is
//! - [`login`]: the login item of the tray application
//! - [`service`]: the gateway as a service of launchd, systemd or the Task Scheduler
//! - `xml`: escapes text in XML, for both
//!
//! Depends on [`crate::process::run`] to call the tools of the system, and on [`crate::system`].

pub mod location;
pub mod login;
pub mod service;
pub(crate) mod xml;
