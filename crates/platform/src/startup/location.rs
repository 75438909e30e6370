//! Whether a program stays where it is.
//!
//! Editors' files, the service and the login item contain the path of this program. On macOS, an
//! application that is started from a disk image vanishes with it, and one that was downloaded and not
//! moved runs from a random folder that vanishes with the process. Such paths are not written down.

use std::path::{Path, PathBuf};

use crate::system::System;

/// A place that vanishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransientPlace {
    /// A disk image, or a disk that can be removed.
    Volume,
    /// The folder in which macOS runs a downloaded application that was not moved.
    Translocation,
}

impl TransientPlace {
    /// What is wrong, for the user.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Volume => "Evermoor runs from a disk image or a removable disk.",
            Self::Translocation => {
                "macOS runs Evermoor from a temporary folder, because it has not been moved since it was downloaded."
            }
        }
    }

    /// What the user can do.
    pub fn remedy(self) -> &'static str {
        "Move Evermoor to Applications: choose this in the menu of its icon, or drag it there and open it again."
    }
}

/// Where a program is, if it will vanish.
pub fn transient(system: System, program: &Path) -> Option<TransientPlace> {
    if system != System::MacOs {
        return None;
    }
    let text = program.to_string_lossy();
    if text.contains("/AppTranslocation/") {
        Some(TransientPlace::Translocation)
    } else if text.starts_with("/Volumes/") {
        Some(TransientPlace::Volume)
    } else {
        None
    }
}

/// A copy of the application that stays where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The bundle that runs now.
    pub from: PathBuf,
    pub to: PathBuf,
}

impl Relocation {
    /// How to move the application of this program to Applications. `None` if it stays where it is or is
    /// not in a bundle.
    pub fn of(system: System, program: &Path) -> Option<Self> {
        transient(system, program)?;
        let is_bundle = |path: &&Path| path.extension().is_some_and(|ending| ending == "app");
        // The outermost bundle, in case one contains another.
        let from = program.ancestors().filter(is_bundle).last()?;
        let to = Path::new("/Applications").join(from.file_name()?);
        Some(Self { from: from.to_owned(), to })
    }

    /// Copies the bundle, without the mark of a download, which would make macOS move it away again.
    pub fn copy_command(&self) -> (&'static str, Vec<String>) {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        ("ditto", vec!["--noqtn".to_owned(), path(&self.from), path(&self.to)])
    }

    /// Starts the copy, although the original still runs.
    pub fn open_command(&self) -> (&'static str, Vec<String>) {
        ("open", vec!["-n".to_owned(), self.to.to_string_lossy().into_owned()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: &str = "/Volumes/Evermoor/Evermoor.app/Contents/MacOS/evermoor-tray";
    const TRANSLOCATED: &str =
        "/private/var/folders/4x/z/T/AppTranslocation/0F-3A/d/Evermoor.app/Contents/MacOS/evermoor";

    fn on_macos(path: &str) -> Option<TransientPlace> {
        transient(System::MacOs, Path::new(path))
    }

    #[test]
    fn a_disk_image_and_a_translocated_application_vanish() {
        assert_eq!(on_macos(IMAGE), Some(TransientPlace::Volume));
        assert_eq!(on_macos(TRANSLOCATED), Some(TransientPlace::Translocation));
    }

    #[test]
    fn applications_and_build_folders_stay() {
        for path in [
            "/Applications/Evermoor.app/Contents/MacOS/evermoor",
            "/Users/a/Applications/Evermoor.app/Contents/MacOS/evermoor",
            "/Users/a/Library/Developer/evermoor/target/release/evermoor",
            "/opt/homebrew/bin/evermoor",
            "/Users/a/Volumes/evermoor",
        ] {
            assert_eq!(on_macos(path), None, "{path}");
        }
    }

    #[test]
    fn other_systems_have_no_such_places() {
        for system in [System::Linux, System::Windows] {
            assert_eq!(transient(system, Path::new(IMAGE)), None);
            assert_eq!(Relocation::of(system, Path::new(IMAGE)), None);
        }
    }

    #[test]
    fn the_whole_bundle_moves_to_applications_without_the_mark_of_a_download() {
        let relocation = Relocation::of(System::MacOs, Path::new(IMAGE)).unwrap();
        let (program, args) = relocation.copy_command();
        // A path that is joined on Windows has a backslash.
        let joined = |args: Vec<String>| args.join(" ").replace('\\', "/");
        assert_eq!(program, "ditto");
        assert_eq!(
            joined(args),
            "--noqtn /Volumes/Evermoor/Evermoor.app /Applications/Evermoor.app"
        );
        assert_eq!(joined(relocation.open_command().1), "-n /Applications/Evermoor.app");
    }

    #[test]
    fn a_bare_program_is_not_moved() {
        assert_eq!(Relocation::of(System::MacOs, Path::new("/Volumes/usb/evermoor")), None);
    }
}
