//! A fake logind on its own bus. It announces that the machine sleeps and wakes, although the
//! machine does neither.

use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;
use zbus::{Connection, connection};

use crate::PATIENCE;
use crate::desktop::bus::PrivateBus;

pub struct Logind {
    bus: PrivateBus,
    connection: Connection,
}

impl Logind {
    /// Starts a bus in `folder`, and logind on it.
    pub async fn start(folder: &Path) -> Self {
        std::fs::create_dir_all(folder.join("run")).expect("a folder can be made");
        let bus = PrivateBus::start(folder).await;
        let builder = connection::Builder::address(bus.address()).expect("a bus has an address");
        let connection = builder.build().await.expect("the bus answers");
        connection.request_name("org.freedesktop.login1").await.expect("the name is free");
        Self { bus, connection }
    }

    /// The environment variable that points a program at this bus instead of the system's.
    pub fn variable(&self) -> (&str, &str) {
        ("DBUS_SYSTEM_BUS_ADDRESS", self.bus.address())
    }

    /// Announces a wake-up repeatedly until `noticed` completes, because a bus does not say who is
    /// already subscribed.
    pub async fn wakes<T>(&self, noticed: impl Future<Output = T>) -> T {
        let mut noticed = pin!(noticed);
        let telling = async {
            loop {
                self.says(false).await;
                let pause = Duration::from_millis(50);
                if let Ok(noticed) = timeout(pause, noticed.as_mut()).await {
                    return noticed;
                }
            }
        };
        timeout(PATIENCE, telling).await.expect("the wake-up is noticed in time")
    }

    async fn says(&self, sleeps: bool) {
        let (path, manager) = ("/org/freedesktop/login1", "org.freedesktop.login1.Manager");
        let to: Option<&str> = None;
        let said = self.connection.emit_signal(to, path, manager, "PrepareForSleep", &sleeps);
        said.await.expect("the bus takes it");
    }
}
