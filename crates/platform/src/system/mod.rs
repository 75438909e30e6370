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

use std::path::Path;

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

    /// Whether a path is absolute on this system. [`Path::is_absolute`] knows only the system it was
    /// built for.
    pub fn is_absolute(self, path: &Path) -> bool {
        let text = path.as_os_str().as_encoded_bytes();
        match self {
            Self::MacOs | Self::Linux => text.starts_with(b"/"),
            Self::Windows => match text {
                [b'\\' | b'/', b'\\' | b'/', ..] => true,
                [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
                _ => false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_system_has_its_own_absolute_paths() {
        let absolute = |system: System, path: &str| system.is_absolute(Path::new(path));
        for system in [System::MacOs, System::Linux] {
            assert!(absolute(system, "/usr") && !absolute(system, "usr"));
            assert!(!absolute(system, r"C:\a") && !absolute(system, ""));
        }
        for path in [r"C:\a", "c:/a", r"\\server\share", "//server/share"] {
            assert!(absolute(System::Windows, path), "{path}");
        }
        for path in ["", "a", r"\a", "/a", "C:a", "1:/a"] {
            assert!(!absolute(System::Windows, path), "{path}");
        }
    }

    #[test]
    fn this_system_agrees_with_the_standard_library() {
        for path in ["/usr", "usr", r"C:\a", "C:/a", r"\a", "", r"\\server\share"] {
            assert_eq!(System::HERE.is_absolute(Path::new(path)), Path::new(path).is_absolute());
        }
    }
}
