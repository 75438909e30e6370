//! The operating system and the machine it runs on.
//!
//! - [`System`]: macOS, Linux or Windows
//! - [`machine`]: a description of the machine and its user, for reports
//! - [`browser`]: opens a page in the user's browser
//!
//! Depends on [`crate::process::spawn`] to run the tools of the system. `process`, `startup`, `paths`
//! and `crash_reports` depend on [`System`].

pub mod browser;
pub mod machine;

/// An operating system that Evermoor runs on. Functions that differ by system take it as a parameter,
/// so tests on one system cover all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    MacOs,
    Linux,
    Windows,
}

impl System {
    /// The system this program was built for. Other Unix systems follow the conventions of Linux.
    pub const HERE: Self = if cfg!(target_os = "macos") {
        Self::MacOs
    } else if cfg!(windows) {
        Self::Windows
    } else {
        Self::Linux
    };
}
