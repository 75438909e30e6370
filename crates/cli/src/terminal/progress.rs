//! What is under way, on a line of standard error that goes away when it is done.

use std::io::{IsTerminal as _, Write as _};

use super::manner;

/// Shown until it is dropped, if somebody looks.
#[must_use]
pub(crate) struct Progress {
    shown: bool,
}

impl Progress {
    pub(crate) fn show(what: &str) -> Self {
        let manner = manner();
        let shown = std::io::stderr().is_terminal() && !manner.quiet && !manner.json;
        if shown {
            let _ = write!(std::io::stderr(), "{what} …");
            let _ = std::io::stderr().flush();
        }
        Self { shown }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
            let _ = std::io::stderr().flush();
        }
    }
}
