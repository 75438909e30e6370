//! Whether a program stays where it is.
//!
//! Editors' files, the service and the login item contain the path of this program. On macOS, an
//! application that is started from a disk image vanishes with it, and one that was downloaded and not
//! moved runs from a random folder that vanishes with the process. Such paths are not written down.

use std::path::{Path, PathBuf};
use std::{fs, io};

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
    /// Where the application of this program can move, the best place first: the folder for everybody,
    /// then that of the user, who may not be allowed to change the first. Empty if it stays where it is or is
    /// not in a bundle.
    pub fn choices(system: System, program: &Path, home: Option<&Path>) -> Vec<Self> {
        let is_bundle = |path: &&Path| path.extension().is_some_and(|ending| ending == "app");
        // The outermost bundle, in case one contains another.
        let bundle = program.ancestors().filter(is_bundle).last();
        let Some((from, name)) = bundle.and_then(|from| Some((from, from.file_name()?))) else {
            return Vec::new();
        };
        if transient(system, program).is_none() {
            return Vec::new();
        }
        let folders = [Some(Path::new("/").to_owned()), home.map(Path::to_owned)];
        let to = folders.into_iter().flatten().map(|root| root.join("Applications").join(name));
        to.map(|to| Self { from: from.to_owned(), to }).collect()
    }

    /// Copies the bundle beside its new place, without the mark of a download, which would make macOS move
    /// it away again.
    pub fn copy_command(&self) -> (&'static str, Vec<String>) {
        ("ditto", vec!["--noqtn".to_owned(), text(&self.from), text(&self.beside("new"))])
    }

    /// Puts the finished copy in its place. A bundle that is there is replaced as a whole: a file that is
    /// left of it would make the signature invalid, and one that is overwritten can end a running program.
    pub fn put_in_place(&self) -> io::Result<()> {
        let (new, old) = (self.beside("new"), self.beside("old"));
        remove(&old)?;
        let replaces = match fs::rename(&self.to, &old) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if let Err(error) = fs::rename(&new, &self.to) {
            if replaces {
                fs::rename(&old, &self.to)?;
            }
            return Err(error);
        }
        // A program that runs from it keeps running. What cannot be removed now is removed the next time.
        let _ = remove(&old);
        Ok(())
    }

    /// Removes what a copy that failed has left.
    pub fn clean_up(&self) {
        let _ = remove(&self.beside("new"));
    }

    /// Starts the copy, although the original still runs.
    pub fn open_command(&self) -> (&'static str, Vec<String>) {
        ("open", vec!["-n".to_owned(), text(&self.to)])
    }

    /// Shows the bundle in the Finder, from where the user can move it.
    pub fn reveal_command(&self) -> (&'static str, Vec<String>) {
        ("open", vec!["-R".to_owned(), text(&self.from)])
    }

    /// A hidden path next to the new place, on the same disk.
    fn beside(&self, what: &str) -> PathBuf {
        let name = self.to.file_name().unwrap_or_default().to_string_lossy();
        self.to.with_file_name(format!(".{name}.{what}"))
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
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
            assert_eq!(Relocation::choices(system, Path::new(IMAGE), None), []);
        }
    }

    #[test]
    fn the_whole_bundle_moves_to_applications_without_the_mark_of_a_download() {
        let home = Path::new("/Users/a");
        let choices = Relocation::choices(System::MacOs, Path::new(IMAGE), Some(home));
        // A path that is joined on Windows has a backslash.
        let joined = |args: Vec<String>| args.join(" ").replace('\\', "/");
        let copies: Vec<_> = choices.iter().map(|choice| joined(choice.copy_command().1)).collect();
        let from = "--noqtn /Volumes/Evermoor/Evermoor.app";
        assert_eq!(
            copies,
            [
                format!("{from} /Applications/.Evermoor.app.new"),
                format!("{from} /Users/a/Applications/.Evermoor.app.new"),
            ]
        );
        assert_eq!(choices[0].copy_command().0, "ditto");
        assert_eq!(joined(choices[1].open_command().1), "-n /Users/a/Applications/Evermoor.app");
        assert_eq!(joined(choices[0].reveal_command().1), "-R /Volumes/Evermoor/Evermoor.app");
    }

    #[test]
    fn a_bare_program_is_not_moved() {
        let program = Path::new("/Volumes/usb/evermoor");
        assert_eq!(Relocation::choices(System::MacOs, program, None), []);
    }

    /// A relocation into a temporary folder whose copy is finished.
    fn copied() -> (tempfile::TempDir, Relocation) {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("Evermoor.app");
        let relocation = Relocation { from: folder.path().join("image"), to };
        write(&relocation.beside("new"), "program", "new");
        (folder, relocation)
    }

    fn write(bundle: &Path, name: &str, text: &str) {
        fs::create_dir_all(bundle).unwrap();
        fs::write(bundle.join(name), text).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn an_older_application_is_replaced_as_a_whole() {
        let (folder, relocation) = copied();
        write(&relocation.to, "program", "old");
        write(&relocation.to, "file that the new one lacks", "");
        write(&relocation.beside("old"), "left behind", "by an interrupted run");
        relocation.put_in_place().unwrap();
        assert_eq!(fs::read_to_string(relocation.to.join("program")).unwrap(), "new");
        assert_eq!(names(&relocation.to), ["program"]);
        assert_eq!(names(folder.path()), ["Evermoor.app"]);
    }

    #[test]
    fn the_first_application_is_put_in_place() {
        let (folder, relocation) = copied();
        relocation.put_in_place().unwrap();
        assert_eq!(names(&relocation.to), ["program"]);
        assert_eq!(names(folder.path()), ["Evermoor.app"]);
    }

    #[test]
    fn an_older_application_stays_if_there_is_no_copy() {
        let (folder, relocation) = copied();
        write(&relocation.to, "program", "old");
        relocation.clean_up();
        assert!(relocation.put_in_place().is_err());
        assert_eq!(fs::read_to_string(relocation.to.join("program")).unwrap(), "old");
        assert_eq!(names(folder.path()), ["Evermoor.app"]);
    }
}
