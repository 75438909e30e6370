//! Turns the exit of a process into evidence and into a sentence.

use evermoor_core::policy::app::evidence;
use evermoor_core::preset::Os;
use evermoor_platform::process::child::ProcessExit;
use evermoor_platform::system::System;

/// The operating system, as presets name it.
pub(crate) const OS: Os = match System::HERE {
    System::MacOs => Os::MacOs,
    System::Linux => Os::Linux,
    System::Windows => Os::Windows,
};

/// The exit as evidence; `None` if the system does not report it.
pub(crate) fn evidence_of(exit: ProcessExit) -> Option<evidence::ExitStatus> {
    match exit {
        ProcessExit::Code(code) => Some(evidence::ExitStatus::Code(code)),
        ProcessExit::Signal(signal) => Some(evidence::ExitStatus::Signal(signal)),
        ProcessExit::Unknown => None,
    }
}

/// The predicate of a sentence about the program, such as "exited with code 1".
pub(crate) fn sentence(exit: ProcessExit) -> String {
    evidence_of(exit).map_or_else(|| "ended".into(), |exit| exit.sentence(OS))
}
