//! What follows from how a process ended.

use super::{Cause, Ending, Exit, Verdict};
use crate::preset::Os;

impl Exit {
    pub(super) fn verdict(self, ending: &Ending<'_>) -> Verdict {
        let told = self.told(ending.os);
        let (cause, said) = match self.kind(ending.os) {
            End::Crash => (Cause::Crashed { how: told.clone() }, format!("It ended with {told}.")),
            End::Order => (Cause::Quit, format!("It ended with {told}.")),
            End::Killed if ending.asked => (Cause::Quit, format!("It was ended with {told}.")),
            End::Killed => {
                let said = format!(
                    "It was ended with {told}, by the system or by somebody; nothing says by whom."
                );
                (Cause::Unknown, said)
            }
        };
        Verdict { cause, evidence: vec![said], top: vec![] }
    }

    /// What follows the name of the program in a sentence.
    pub fn sentence(self, os: Os) -> String {
        match self {
            // Windows reports a crash as a code with the highest bits set, known by its hex form.
            Self::Code(code) if code < 0 => format!("exited with code 0x{code:08X}"),
            Self::Code(code) => format!("exited with code {code}"),
            Self::Signal(signal) => match signal_name(os, signal) {
                Some(name) => format!("was ended by signal {signal} ({name})"),
                None => format!("was ended by signal {signal}"),
            },
        }
    }

    /// In words that follow "with".
    fn told(self, os: Os) -> String {
        match self {
            // Windows reports a crash as a code with the highest bits set, known by its hex form.
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

    fn kind(self, os: Os) -> End {
        match (os, self) {
            (_, Self::Code(0)) => End::Order,
            // Ctrl-C, and a session that ends.
            (Os::Windows, Self::Code(code)) if [CONTROL_C, SESSION_ENDS].contains(&code) => {
                End::Order
            }
            // What the task manager leaves.
            (Os::Windows, Self::Code(1)) => End::Killed,
            (_, Self::Code(_)) => End::Crash,
            (_, Self::Signal(signal)) => match signal_name(os, signal) {
                Some("SIGHUP" | "SIGINT" | "SIGTERM") => End::Order,
                Some("SIGKILL") | None => End::Killed,
                Some(_) => End::Crash,
            },
        }
    }
}

enum End {
    Crash,
    Order,
    Killed,
}

const CONTROL_C: i32 = 0xC000_013A_u32.cast_signed();
const SESSION_ENDS: i32 = 0x4001_0004;

/// The signals that end programs. Most have the same number everywhere; SIGBUS and SIGSYS do not.
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
    fn an_end_is_told_in_words() {
        let told = |exit: Exit| exit.sentence(Os::Linux);
        assert_eq!(told(Exit::Code(1)), "exited with code 1");
        assert_eq!(told(Exit::Signal(6)), "was ended by signal 6 (SIGABRT)");
        assert_eq!(told(Exit::Signal(7)), "was ended by signal 7 (SIGBUS)");
        assert_eq!(Exit::Signal(7).sentence(Os::MacOs), "was ended by signal 7");
        assert_eq!(told(Exit::Signal(60)), "was ended by signal 60");
        let access_violation = Exit::Code(0xC000_0005_u32.cast_signed());
        assert_eq!(access_violation.sentence(Os::Windows), "exited with code 0xC0000005");
    }
}
