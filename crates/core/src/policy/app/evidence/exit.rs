//! The exit status of a process, and the cause that follows from it.

use super::{ExitCause, ExitDiagnosis, ExitEvidence};
use crate::preset::Os;

/// The exit status of a process, where the system reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    Code(i32),
    Signal(i32),
}

impl ExitStatus {
    pub(super) fn verdict(self, ending: &ExitEvidence<'_>) -> ExitDiagnosis {
        let how = self.short(ending.os);
        let (cause, why) = match self.kind(ending.os) {
            ExitKind::Crash => {
                (ExitCause::Crashed { how: how.clone() }, format!("It exited with {how}."))
            }
            ExitKind::Normal => (ExitCause::Quit, format!("It exited with {how}.")),
            ExitKind::Killed if ending.asked => {
                (ExitCause::Quit, format!("It was killed with {how}."))
            }
            ExitKind::Killed => {
                let why = format!("It was killed with {how}. The cause is unknown.");
                (ExitCause::Unknown, why)
            }
        };
        ExitDiagnosis { cause, evidence: vec![why], top: vec![] }
    }

    /// The predicate of a sentence about the program.
    pub fn sentence(self, os: Os) -> String {
        match self {
            // Windows reports a crash as a code with the highest bits set, usually written in hex.
            Self::Code(code) if code < 0 => format!("exited with code 0x{code:08X}"),
            Self::Code(code) => format!("exited with code {code}"),
            Self::Signal(signal) => match signal_name(os, signal) {
                Some(name) => format!("was killed by signal {signal} ({name})"),
                None => format!("was killed by signal {signal}"),
            },
        }
    }

    /// A short form: "SIGABRT", "exit code 1".
    fn short(self, os: Os) -> String {
        match self {
            Self::Code(code) if os == Os::Windows && !(0..256).contains(&code) => {
                format!("exception 0x{code:08X}")
            }
            Self::Code(code) => format!("exit code {code}"),
            Self::Signal(signal) => match signal_name(os, signal) {
                Some(name) => name.to_owned(),
                None => format!("signal {signal}"),
            },
        }
    }

    fn kind(self, os: Os) -> ExitKind {
        match (os, self) {
            (_, Self::Code(0)) => ExitKind::Normal,
            // Ctrl-C, or the end of the user's session.
            (Os::Windows, Self::Code(code)) if [CONTROL_C, SESSION_ENDED].contains(&code) => {
                ExitKind::Normal
            }
            // The Task Manager kills with code 1.
            (Os::Windows, Self::Code(1)) => ExitKind::Killed,
            (_, Self::Code(_)) => ExitKind::Crash,
            (_, Self::Signal(signal)) => match signal_name(os, signal) {
                Some("SIGHUP" | "SIGINT" | "SIGTERM") => ExitKind::Normal,
                Some("SIGKILL") | None => ExitKind::Killed,
                Some(_) => ExitKind::Crash,
            },
        }
    }
}

enum ExitKind {
    Crash,
    Normal,
    Killed,
}

const CONTROL_C: i32 = 0xC000_013A_u32.cast_signed();
const SESSION_ENDED: i32 = 0x4001_0004;

/// The name of a signal that ends programs. SIGBUS and SIGSYS have other numbers on macOS.
pub fn signal_name(os: Os, signal: i32) -> Option<&'static str> {
    let apple = os == Os::MacOs;
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 if !apple => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 if apple => "SIGBUS",
        11 => "SIGSEGV",
        12 if apple => "SIGSYS",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 if !apple => "SIGSYS",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exit_is_described_in_a_sentence() {
        let sentence = |exit: ExitStatus| exit.sentence(Os::Linux);
        assert_eq!(sentence(ExitStatus::Code(1)), "exited with code 1");
        assert_eq!(sentence(ExitStatus::Signal(6)), "was killed by signal 6 (SIGABRT)");
        assert_eq!(sentence(ExitStatus::Signal(7)), "was killed by signal 7 (SIGBUS)");
        assert_eq!(ExitStatus::Signal(7).sentence(Os::MacOs), "was killed by signal 7");
        assert_eq!(sentence(ExitStatus::Signal(60)), "was killed by signal 60");
        let access_violation = ExitStatus::Code(0xC000_0005_u32.cast_signed());
        assert_eq!(access_violation.sentence(Os::Windows), "exited with code 0xC0000005");
    }
}
