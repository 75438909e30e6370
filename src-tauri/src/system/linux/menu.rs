//! Reports when the menu opens and closes. Panels announce it on the session bus, but the tray
//! library ignores it, so we filter the messages of its connection.

use gtk::gio::{BusType, Cancellable, DBusMessage, bus_get_sync};
use gtk::glib::Variant;
use tracing::warn;

use crate::system::menu_open::MenuOpenReporter;

const MENU: &str = "com.canonical.dbusmenu";
/// The id of the menu itself; submenus have other ids.
const ROOT: i32 = 0;

/// Reports from now on when the menu opens and closes.
pub(crate) fn report_menu_open(reporter: MenuOpenReporter) {
    let connection = match bus_get_sync(BusType::Session, Cancellable::NONE) {
        Ok(connection) => connection,
        Err(error) => {
            warn!(%error, "cannot tell whether the menu is open");
            return;
        }
    };
    // The filter is never removed: the icon exists as long as the application.
    let _filter = connection.add_filter(move |_, message, incoming| {
        match incoming.then(|| opened(message)).flatten() {
            Some(true) => reporter.opened(),
            Some(false) => reporter.closed(),
            None => {}
        }
        Some(message.clone())
    });
}

/// Whether a message announces that the menu opened (`true`) or closed (`false`).
fn opened(message: &DBusMessage) -> Option<bool> {
    if message.interface()? != MENU {
        return None;
    }
    let body = message.body()?;
    match message.member()?.as_str() {
        "Event" => of_event(&body),
        "EventGroup" => body.child_value(0).iter().rev().find_map(|event| of_event(&event)),
        _ => None,
    }
}

fn of_event(event: &Variant) -> Option<bool> {
    let id: i32 = event.child_value(0).get()?;
    let kind: String = event.child_value(1).get()?;
    match (id, kind.as_str()) {
        (ROOT, "opened") => Some(true),
        (ROOT, "closed") => Some(false),
        _ => None,
    }
}
