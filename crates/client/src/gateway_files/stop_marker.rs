//! The file that says that the user has stopped the gateway, so that no program starts it on its own.
//!
//! `evermoor stop` writes it, and each gateway that starts removes it. A tray that starts removes it too: the
//! user or a login started the tray.

use std::io;

use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;

/// Says that the gateway is to stay stopped.
pub fn write(paths: &Paths) -> io::Result<()> {
    private::write_private(&paths.stop_marker(), b"")
}

/// Whether the gateway is to stay stopped.
pub fn exists(paths: &Paths) -> bool {
    paths.stop_marker().exists()
}

/// Says that the gateway may run again.
pub fn remove(paths: &Paths) {
    // Usually there is none.
    let _ = std::fs::remove_file(paths.stop_marker());
}
