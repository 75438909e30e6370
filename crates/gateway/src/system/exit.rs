//! Turns the exit of a process into evidence and into a sentence.

use evermoor_core::policy::app::evidence;
use evermoor_platform::process::child::Exit;

use crate::apps::OS;

/// The exit as evidence; `None` if the system does not report it.
pub(crate) fn evidence_of(exit: Exit) -> Option<evidence::Exit> {
    match exit {
        Exit::Code(code) => Some(evidence::Exit::Code(code)),
        Exit::Signal(signal) => Some(evidence::Exit::Signal(signal)),
        Exit::Untold => None,
    }
}

/// The predicate of a sentence about the program, such as "exited with code 1".
pub(crate) fn sentence(exit: Exit) -> String {
    evidence_of(exit).map_or_else(|| "ended".into(), |exit| exit.sentence(OS))
}
