//! The Evermoor instance that a command works on: the default one, or the one in `--home`.

use std::path::PathBuf;

use evermoor_client::launch::Launcher;
use evermoor_platform::paths::Paths;

use crate::exit::Exit;

#[derive(Clone)]
pub(crate) struct Instance {
    /// The value of `--home`, which is passed on to a gateway that is started.
    pub(crate) home: Option<PathBuf>,
    pub(crate) paths: Paths,
}

impl Instance {
    /// How to start a gateway of this instance with this program.
    pub(crate) fn launcher(&self) -> Result<Launcher, Exit> {
        match std::env::current_exe() {
            Ok(program) => Ok(Launcher::new(program, self.home.clone(), self.paths.clone())),
            Err(error) => Err(Exit::failure(&error)),
        }
    }
}
