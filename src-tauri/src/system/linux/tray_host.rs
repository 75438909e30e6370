//! Whether this desktop has a tray. GNOME has none without an extension.

use std::time::Duration;

use futures_util::StreamExt;
use gtk::prelude::*;
use tauri::AppHandle;
use tokio::time::timeout;
use tracing::warn;
use zbus::Connection;
use zbus::fdo::DBusProxy;
use zbus::names::BusName;

const WATCHER: &str = "org.kde.StatusNotifierWatcher";
/// At login, the panel may start after us.
const TRAY_TIMEOUT: Duration = Duration::from_secs(5);

/// Waits for a tray, up to [`TRAY_TIMEOUT`]. Without a session bus there is none.
pub(crate) async fn has_tray() -> bool {
    match timeout(TRAY_TIMEOUT, watcher()).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            warn!(%error, "cannot ask the session bus for a tray");
            false
        }
        Err(_) => false,
    }
}

async fn watcher() -> zbus::Result<()> {
    let connection = Connection::session().await?;
    let bus = DBusProxy::new(&connection).await?;
    let mut owners = bus.receive_name_owner_changed_with_args(&[(0, WATCHER)]).await?;
    if bus.name_has_owner(BusName::try_from(WATCHER)?).await? {
        return Ok(());
    }
    while let Some(change) = owners.next().await {
        if change.args()?.new_owner().is_some() {
            return Ok(());
        }
    }
    Err(zbus::Error::Failure("the session bus closed".into()))
}

/// Shows a dialog that explains why there is no icon.
pub(crate) fn explain_missing_tray(app: &AppHandle) {
    let shown = app.run_on_main_thread(|| {
        let dialog = gtk::MessageDialog::new(
            None::<&gtk::Window>,
            gtk::DialogFlags::empty(),
            gtk::MessageType::Info,
            gtk::ButtonsType::Close,
            "This desktop shows no tray icons",
        );
        dialog.set_title("Evermoor");
        dialog.set_secondary_text(Some(
            "Evermoor works without one. To open its window, start Evermoor again. On GNOME, \
             install the AppIndicator extension to see the icon.",
        ));
        dialog.connect_response(|dialog, _| dialog.close());
        dialog.show();
    });
    if let Err(error) = shown {
        warn!(%error, "cannot show the notice about the missing tray");
    }
}
