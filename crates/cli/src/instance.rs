//! The Evermoor instance that a command works on: the default one, or the one in `--home`.

use std::path::PathBuf;

use evermoor_client::launch::Launcher;
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::info;
use evermoor_platform::process::info::ProcessInfo;

use crate::exit::Exit;

#[derive(Clone)]
pub(crate) struct Instance {
    /// The value of `--home`, which is passed on to a gateway that is started.
    pub(crate) home: Option<PathBuf>,
    pub(crate) paths: Paths,
}

impl Instance {
    /// The tray of this instance, if it is running: it writes its process id beside its socket.
    pub(crate) fn tray(&self) -> Option<ProcessInfo> {
        let written = private::read_private(&self.paths.listener_holder_pid_file()).ok()??;
        let pid = std::str::from_utf8(&written).ok()?.trim().parse().ok()?;
        info::of(pid).filter(|tray| tray.name.starts_with("evermoor-tray"))
    }

    /// How to start a gateway of this instance with this program.
    pub(crate) fn launcher(&self) -> Result<Launcher, Exit> {
        match std::env::current_exe() {
            Ok(program) => Ok(Launcher::new(program, self.home.clone(), self.paths.clone())),
            Err(error) => Err(Exit::failure(&error)),
        }
    }
}
