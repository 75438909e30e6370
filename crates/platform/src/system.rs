//! Which of the three systems this is.

/// A system Evermoor runs on. Functions that differ by system take it as a parameter, so that
/// tests on one system cover all three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    MacOs,
    Linux,
    Windows,
}

impl System {
    /// The one this program was built for. Every other Unix follows the conventions of Linux.
    pub const HERE: Self = if cfg!(target_os = "macos") {
        Self::MacOs
    } else if cfg!(windows) {
        Self::Windows
    } else {
        Self::Linux
    };
}
