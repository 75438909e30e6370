//! How a program ended, in words.

use std::fmt;
use std::process::ExitStatus;

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// The system did not say.
    Untold,
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), super::system::signal(status)) {
            (Some(code), _) => Self::Code(code),
            (None, Some(signal)) => Self::Signal(signal),
            (None, None) => Self::Untold,
        }
    }
}

impl fmt::Display for Exit {
    /// What follows the name of the program in a sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            // Windows reports a crash as a code with the highest bits set, known by its hex form.
            Self::Code(code) if code < 0 => write!(f, "exited with code 0x{code:08X}"),
            Self::Code(code) => write!(f, "exited with code {code}"),
            Self::Signal(signal) => match name(signal) {
                Some(name) => write!(f, "was ended by signal {signal} ({name})"),
                None => write!(f, "was ended by signal {signal}"),
            },
            Self::Untold => f.write_str("ended"),
        }
    }
}

/// The signals that end programs and have the same number everywhere, and SIGBUS and SIGSYS, which
/// do not.
fn name(signal: i32) -> Option<&'static str> {
    let apple = cfg!(target_vendor = "apple");
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
        assert_eq!(Exit::Code(1).to_string(), "exited with code 1");
        assert_eq!(Exit::Signal(6).to_string(), "was ended by signal 6 (SIGABRT)");
        assert_eq!(Exit::Signal(60).to_string(), "was ended by signal 60");
        let access_violation = 0xC000_0005_u32.cast_signed();
        assert_eq!(Exit::Code(access_violation).to_string(), "exited with code 0xC0000005");
    }
}
