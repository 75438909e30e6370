//! A keyring as on a Linux desktop: gnome-keyring on its own session bus.
//!
//! Locking and unlocking work like logging out and in: a new daemon opens the same keyring, with or
//! without its password.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::time::{sleep, timeout};
use zbus::zvariant::OwnedObjectPath;

use super::bus::PrivateBus;
use super::program::DesktopProgram;
use super::{PATIENCE, private_folder};
use crate::scene::folder::ScratchFolder;
use crate::scene::freezing;

const BUS_NAME: &str = "org.freedesktop.secrets";

/// A session with or without a keyring.
pub struct Keyring {
    daemon: Option<DesktopProgram>,
    bus: PrivateBus,
    home: ScratchFolder,
}

impl Keyring {
    /// A session with an unlocked keyring.
    pub async fn start() -> Self {
        let mut keyring = Self::absent().await;
        keyring.unlock().await;
        keyring
    }

    /// A session without a secret service.
    pub async fn absent() -> Self {
        let home = ScratchFolder::new("evermoor-keyring");
        private_folder(&home.path().join("run"));
        fs::write(home.path().join("password"), "of the keyring").expect("a file can be written");
        let bus = PrivateBus::start(home.path()).await;
        Self { daemon: None, bus, home }
    }

    /// The address of the session bus.
    pub fn address(&self) -> &str {
        self.bus.address()
    }

    /// Unlocks the keyring, as logging in does.
    pub async fn unlock(&mut self) {
        self.serve(&["--unlock"], false).await;
    }

    /// Locks the keyring, as logging in without a password does.
    pub async fn lock(&mut self) {
        self.serve(&[], true).await;
    }

    /// Keeps the keyring from answering, until it is locked or unlocked.
    pub fn freeze(&self) {
        freezing::freeze(
            self.daemon.as_ref().and_then(DesktopProgram::pid).expect("there is a keyring"),
        );
    }

    async fn serve(&mut self, more: &[&str], locked: bool) {
        self.daemon = None;
        self.until("nobody has the name", |seen| seen.is_none()).await;
        let home = self.home.path();
        let password = fs::File::open(home.join("password")).expect("it was written");
        self.daemon = Some(DesktopProgram::start(Path::new("gnome-keyring-daemon"), |command| {
            command.args(["--foreground", "--components=secrets"]).args(more);
            command.env("HOME", home).env("XDG_DATA_HOME", home.join("share"));
            command.env("XDG_RUNTIME_DIR", home.join("run"));
            command.env("DBUS_SESSION_BUS_ADDRESS", self.bus.address());
            command.stdin(password).stdout(Stdio::null()).stderr(Stdio::null());
        }));
        self.until("the keyring is as it should be", |seen| seen == Some(locked)).await;
    }

    /// Whether the keyring is locked; an error if there is none.
    async fn seen(&self, bus: &zbus::Connection) -> zbus::Result<bool> {
        let dbus = zbus::fdo::DBusProxy::new(bus).await?;
        let name = BUS_NAME.try_into()?;
        if !dbus.name_has_owner(name).await? {
            return Err(zbus::Error::InterfaceNotFound);
        }
        let path = "/org/freedesktop/secrets";
        let service =
            zbus::Proxy::new(bus, BUS_NAME, path, "org.freedesktop.Secret.Service").await?;
        let usual: OwnedObjectPath = service.call("ReadAlias", &("default",)).await?;
        let interface = "org.freedesktop.Secret.Collection";
        zbus::Proxy::new(bus, BUS_NAME, usual, interface).await?.get_property("Locked").await
    }

    async fn until(&self, what: &str, wanted: impl Fn(Option<bool>) -> bool) {
        let looking = async {
            let builder = zbus::connection::Builder::address(self.address());
            let bus = builder.expect("it is an address").build().await.expect("the bus answers");
            while !wanted(self.seen(&bus).await.ok()) {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("not seen in time: {what}"));
    }
}
