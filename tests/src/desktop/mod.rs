//! A private desktop for one test: a display, a session bus, and a tray that the test reads and
//! clicks as a user would. It does not touch the machine's own desktop, home or services, and it
//! is removed when the [`Desktop`] is dropped.
//!
//! - [`tray`], [`tray_host`], [`menu`]: the tray icon, the panel that shows it, and its menu
//! - [`notifications`], [`keyring`]: the notification daemon and the secret service
//! - [`driver`]: the application's window, through WebDriver
//! - [`display`], [`bus`], [`program`]: the processes underneath
//!
//! Linux only. Depends on [`scene`](crate::scene), [`gateway`](crate::gateway) and
//! [`peers`](crate::peers). Used by `e2e/tray`, `e2e/commands/secrets` and [`fakes`](crate::fakes).
//!
//! ```ignore
//! let desktop = Desktop::start().await;
//! let mut app = desktop.launch(&program, [], [("EVERMOOR_HOME", home)]);
//! let tray = desktop.tray().await;
//! tray.until_row("fake — Connected").await;
//! tray.click("Quit Evermoor").await;
//! assert!(app.ended().await.success());
//! ```

pub(crate) mod bus;
mod display;
mod driver;
mod keyring;
mod menu;
mod notifications;
mod program;
mod tray;
mod tray_host;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::Duration;

use crate::scene::folder::ScratchFolder;

use self::bus::PrivateBus;
use self::display::Display;
pub use self::driver::Driver;
pub use self::keyring::Keyring;
pub use self::menu::{Menu, MenuRow};
pub use self::notifications::{NotificationServer, Posted};
pub use self::program::DesktopProgram;
pub use self::tray::{Icon, Tray};
use self::tray_host::TrayHost;

/// Time limit for anything on the desktop, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Desktop {
    host: Option<TrayHost>,
    bus: PrivateBus,
    display: Display,
    home: ScratchFolder,
}

impl Desktop {
    /// An empty desktop whose panel has a tray.
    pub async fn start() -> Self {
        let desktop = Self::without_tray().await;
        let host = Some(TrayHost::start(desktop.bus.address()).await);
        Self { host, ..desktop }
    }

    /// An empty desktop without a tray.
    pub async fn without_tray() -> Self {
        let home = ScratchFolder::new("evermoor-desktop");
        private_folder(&home.path().join("run"));
        let display = Display::start().await;
        let bus = PrivateBus::start(home.path()).await;
        Self { host: None, bus, display, home }
    }

    /// Starts a program on this desktop. Dropping the handle kills it.
    pub fn launch<'a, V: AsRef<OsStr>>(
        &self,
        program: &Path,
        arguments: impl IntoIterator<Item = &'a str>,
        variables: impl IntoIterator<Item = (&'a str, V)>,
    ) -> DesktopProgram {
        DesktopProgram::start(program, |command| {
            command.args(arguments);
            command.env("HOME", self.home.path());
            command.env("XDG_RUNTIME_DIR", self.home.path().join("run"));
            command.env("DISPLAY", self.display.name());
            command.env("DBUS_SESSION_BUS_ADDRESS", self.bus.address());
            command.env("GDK_BACKEND", "x11");
            command.env("NO_AT_BRIDGE", "1");
            command.envs(variables);
        })
    }

    /// The next icon in the tray; an icon that is already there counts.
    pub async fn tray(&self) -> Tray {
        self.host.as_ref().expect("this desktop has a tray").next().await
    }

    /// Starts a notification daemon, with or without support for buttons.
    pub async fn notifications(&self, buttons: bool) -> NotificationServer {
        NotificationServer::start(self.bus.address(), buttons).await
    }

    /// The home of every program on this desktop.
    pub fn home(&self) -> &Path {
        self.home.path()
    }
}

/// Libraries refuse a runtime folder that others can read.
fn private_folder(folder: &Path) {
    let made = fs::DirBuilder::new().mode(0o700).create(folder);
    made.expect("a folder can be made");
}
