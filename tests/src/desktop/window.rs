//! The windows on a display.

use std::error::Error;

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, MapState, Window};
use x11rb::rust_connection::RustConnection;

/// Whether a window with this title can be seen there.
pub(super) fn is_shown(display: &str, title: &str) -> Result<bool, Box<dyn Error>> {
    let (server, screen) = RustConnection::connect(Some(display))?;
    let root = server.setup().roots[screen].root;
    for window in server.query_tree(root)?.reply()?.children {
        // One that goes while it is looked at is not there.
        if looks_so(&server, window, title).unwrap_or(false) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn looks_so(server: &RustConnection, window: Window, title: &str) -> Result<bool, Box<dyn Error>> {
    let about = server.get_window_attributes(window)?.reply()?;
    let (name, text) = (AtomEnum::WM_NAME, AtomEnum::ANY);
    let name = server.get_property(false, window, name, text, 0, 1024)?.reply()?;
    Ok(about.map_state == MapState::VIEWABLE && name.value == title.as_bytes())
}
