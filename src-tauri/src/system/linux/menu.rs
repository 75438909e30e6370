//! Panels say on the session bus when they open and close a menu. The tray's library takes no note
//! of it, so its connection is listened to.

use gtk::gio::{BusType, Cancellable, DBusMessage, bus_get_sync};
use gtk::glib::Variant;
use tracing::warn;

use crate::system::menu_open::Teller;

const MENU: &str = "com.canonical.dbusmenu";
/// The menu itself; its submenus have other numbers.
const ROOT: i32 = 0;

/// Tells when the menu is opened and closed, from now on.
pub(crate) fn tell_openings(teller: Teller) {
    let connection = match bus_get_sync(BusType::Session, Cancellable::NONE) {
        Ok(connection) => connection,
        Err(error) => {
            warn!(%error, "whether the menu is open cannot be known");
            return;
        }
    };
    // It is never taken off: the icon stays as long as the application.
    let _filter = connection.add_filter(move |_, message, incoming| {
        match incoming.then(|| opened(message)).flatten() {
            Some(true) => teller.opened(),
            Some(false) => teller.closed(),
            None => {}
        }
        Some(message.clone())
    });
}

/// Whether a message says that the menu was opened or closed.
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
    let about: i32 = event.child_value(0).get()?;
    let what: String = event.child_value(1).get()?;
    match (about, what.as_str()) {
        (ROOT, "opened") => Some(true),
        (ROOT, "closed") => Some(false),
        _ => None,
    }
}
