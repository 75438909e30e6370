//! What is under way, on a line of standard error that goes away when it is done, or when something
//! else is said.

use std::io::{IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use super::manner;

/// Whether the line stands there now.
static STANDS: AtomicBool = AtomicBool::new(false);

/// Shown until it is dropped, if somebody looks.
#[must_use]
pub(crate) struct Progress(());

impl Progress {
    pub(crate) fn show(what: &str) -> Self {
        let manner = manner();
        if std::io::stderr().is_terminal() && !manner.quiet && !manner.json {
            let _ = write!(std::io::stderr(), "{what} …");
            let _ = std::io::stderr().flush();
            STANDS.store(true, Ordering::Relaxed);
        }
        Self(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        make_way();
    }
}

/// Takes the line away, so that something else can be said in its place.
pub(super) fn make_way() {
    if STANDS.swap(false, Ordering::Relaxed) {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
        let _ = std::io::stderr().flush();
    }
}
