//! The preset with which a gateway finds one fake PiecesOS and no other on this machine.
//!
//! Each fake has its own port range and process name, so that tests can run in parallel. The rest
//! is the preset that comes with Evermoor.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::{Pieces, settings};
use crate::scene::programs::built;

/// The path of the program. Linux truncates process names to 15 bytes.
pub(super) fn program(folder: &Path, first_port: u16) -> PathBuf {
    folder.join(format!("pieces-{first_port}{}", std::env::consts::EXE_SUFFIX))
}

/// Installs the program under a name that only this fake uses.
pub(super) fn install_program(folder: &Path, first_port: u16) {
    let (built, program) = (built("fake-pieces"), program(folder, first_port));
    // Temporary files may be on another disk.
    if std::fs::hard_link(&built, &program).is_err() {
        std::fs::copy(&built, &program).expect("the fake can be installed");
    }
}

impl Pieces {
    /// Writes the preset to the gateway's `home`, followed by `more`.
    pub fn describe(&self, home: &Path, more: &str) {
        let (program, first) = (program(&self.folder, self.range.first), self.range.first);
        let name = program.file_name().and_then(|name| name.to_str()).expect("its name is text");
        let mut text = format!(
            "extends = \"pieces-os\"\n{more}\n[find]\nports = \"{first}-{}\"\n\
             [[find.identity]]\nask = \"GET /.well-known/version\"\nbody = \"version\"\n\
             also = [\"debug\"]\n",
            first + settings::PORTS - 1,
        );
        for system in ["linux", "macos", "windows"] {
            write!(
                text,
                "[{system}]\nprograms = [{:?}]\nargs = [{:?}]\nprocesses = [{name:?}]\n",
                program.to_str().expect("a path is text"),
                self.folder.to_str().expect("a path is text"),
            )
            .expect("a string takes everything");
        }
        let folder = home.join("presets");
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        std::fs::write(folder.join("pieces-os.toml"), text).expect("a file can be written");
    }
}
