//! Whether this desktop has a tray at all. GNOME has none without an extension.

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
/// At login the panel may come up after us.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits a moment for a tray. Without a session bus there cannot be one.
pub(crate) async fn has_tray() -> bool {
    match timeout(PATIENCE, watcher()).await {
        Ok(Ok(())) => true,
        Ok(Err(error)) => {
            warn!(%error, "the session bus cannot be asked for a tray");
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

/// Tells a person why there is no icon, in a small window of its own.
pub(crate) fn say_there_is_no_tray(app: &AppHandle) {
    let told = app.run_on_main_thread(|| {
        let dialog = gtk::MessageDialog::new(
            None::<&gtk::Window>,
            gtk::DialogFlags::empty(),
            gtk::MessageType::Info,
            gtk::ButtonsType::Close,
            "This desktop shows no tray icons",
        );
        dialog.set_title("Evermoor");
        dialog.set_secondary_text(Some(
            "Evermoor works without one. To open its window, start Evermoor again. On GNOME, the \
             extension AppIndicator shows tray icons.",
        ));
        dialog.connect_response(|dialog, _| dialog.close());
        dialog.show();
    });
    if let Err(error) = told {
        warn!(%error, "nobody was told that there is no tray");
    }
}
