//! How a process ended: the system has the number, the core has the words.

use evermoor_core::policy::app::evidence;
use evermoor_platform::process::child::Exit;

use crate::apps::OS;

/// What the system says of an end; `None` if it says nothing.
pub(crate) fn said(exit: Exit) -> Option<evidence::Exit> {
    match exit {
        Exit::Code(code) => Some(evidence::Exit::Code(code)),
        Exit::Signal(signal) => Some(evidence::Exit::Signal(signal)),
        Exit::Untold => None,
    }
}

/// What follows the name of the program in a sentence.
pub(crate) fn sentence(exit: Exit) -> String {
    said(exit).map_or_else(|| "ended".into(), |exit| exit.sentence(OS))
}
