//! The panel's side of the tray: a StatusNotifier watcher with which icons register.

use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;
use zbus::message::Header;
use zbus::object_server::SignalEmitter;
use zbus::{Connection, connection, interface};

use super::PATIENCE;
use super::tray::{BusAddress, Tray};

pub(super) struct TrayHost {
    connection: Connection,
    icons: Mutex<mpsc::UnboundedReceiver<BusAddress>>,
}

struct Watcher {
    found: mpsc::UnboundedSender<BusAddress>,
    items: Vec<String>,
}

impl TrayHost {
    pub(super) async fn start(address: &str) -> Self {
        let (found, icons) = mpsc::unbounded_channel();
        let watcher = Watcher { found, items: Vec::new() };
        let connection = connection::Builder::address(address)
            .and_then(|bus| bus.serve_at("/StatusNotifierWatcher", watcher))
            .and_then(|bus| bus.name("org.kde.StatusNotifierWatcher"))
            .expect("the watcher can be described")
            .build()
            .await
            .expect("the bus lets the watcher in");
        Self { connection, icons: Mutex::new(icons) }
    }

    pub(super) async fn next(&self) -> Tray {
        let address = timeout(PATIENCE, async { self.icons.lock().await.recv().await })
            .await
            .expect("no icon appeared in the tray")
            .expect("the watcher lives as long as its connection");
        Tray::at(&self.connection, address).await.expect("the icon can be read")
    }
}

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    /// Icons register with the path of their item or with the bus name of their process.
    async fn register_status_notifier_item(
        &mut self,
        service: &str,
        #[zbus(header)] header: Header<'_>,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<()> {
        let sender = header.sender().ok_or(zbus::fdo::Error::Failed("no sender".into()))?;
        let path = if service.starts_with('/') { service } else { "/StatusNotifierItem" };
        let item = format!("{sender}{path}");
        self.items.push(item.clone());
        let address = BusAddress { owner: sender.to_owned().into(), path: path.to_owned() };
        drop(self.found.send(address));
        Self::status_notifier_item_registered(&emitter, &item).await?;
        Ok(())
    }

    fn register_status_notifier_host(&self, _service: &str) {}

    #[zbus(property)]
    fn registered_status_notifier_items(&self) -> Vec<String> {
        self.items.clone()
    }

    #[zbus(property)]
    fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    fn protocol_version(&self) -> i32 {
        0
    }

    #[zbus(signal)]
    async fn status_notifier_item_registered(
        emitter: &SignalEmitter<'_>,
        item: &str,
    ) -> zbus::Result<()>;
}
