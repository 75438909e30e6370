//! A progress line on stderr that disappears when the work is done or something else is printed.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use super::options;

/// Whether the line is visible.
static VISIBLE: AtomicBool = AtomicBool::new(false);

/// A progress line, visible until dropped. Shown only on a terminal.
#[must_use]
pub(crate) struct Progress(());

impl Progress {
    pub(crate) fn show(what: &str) -> Self {
        let options = options();
        if std::io::stderr().is_terminal() && !options.quiet && !options.json {
            let _ = write!(std::io::stderr(), "{what} …");
            let _ = std::io::stderr().flush();
            VISIBLE.store(true, Ordering::Relaxed);
        }
        Self(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        clear();
    }
}

/// Clears the line, so that something else can be printed.
pub(super) fn clear() {
    if VISIBLE.swap(false, Ordering::Relaxed) {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
        let _ = std::io::stderr().flush();
    }
}
