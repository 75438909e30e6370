//! Ends the children that a killed gateway left running.
//!
//! # Theory of operation
//! Every child has a [`ChildMark`] in its environment and passes it on to its own children: the process id,
//! the start time and the session of its gateway. A process whose gateway no longer runs is an orphan.
//! The start time distinguishes the gateway from another process with the same id. A process that
//! created its own session left on purpose and is not ended; neither are this process and its
//! ancestors.
//!
//! Linux and macOS let a process read the environment of the user's other processes, except, on macOS, of
//! programs that belong to the system. On Windows the job of a gateway ends with it.
//!
//! - `linux`, `macos`: find and end orphans; `procargs`: reads what macOS says about a process

#![cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "some rules are for one system; they are tested on every system")
)]

use std::fmt;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod procargs;
#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;

/// The gateway that a child belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildMark {
    gateway: u32,
    /// The start time of the gateway, in the unit of the system; 0 if unknown.
    since: u64,
    session: u32,
}

/// What the system says about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProcessStat {
    parent: u32,
    session: u32,
    since: u64,
    /// It has exited and is not reaped yet.
    exited: bool,
}

impl ChildMark {
    /// The mark for children of this process.
    pub fn ours() -> Self {
        let gateway = std::process::id();
        match system::stat(gateway) {
            Some(stat) => Self { gateway, since: stat.since, session: stat.session },
            None => Self { gateway, since: 0, session: 0 },
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.');
        let mark = Self {
            gateway: numbers.next()?.parse().ok()?,
            since: numbers.next()?.parse().ok()?,
            session: numbers.next()?.parse().ok()?,
        };
        numbers.next().is_none().then_some(mark)
    }

    /// Whether a process with this mark is an orphan.
    fn is_orphan(self, process: ProcessStat, stat: impl Fn(u32) -> Option<ProcessStat>) -> bool {
        let gateway = stat(self.gateway).filter(|stat| stat.since == self.since && !stat.exited);
        gateway.is_none() && !process.exited && self.since > 0 && process.session == self.session
    }
}

impl fmt::Display for ChildMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.gateway, self.since, self.session)
    }
}

impl ProcessStat {
    /// Parses `/proc/PID/stat`. The name in it may contain any character.
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |index: usize| fields.get(index).and_then(|field| field.parse().ok());
        Some(Self {
            exited: matches!(*fields.first()?, "Z" | "X"),
            parent: number(1)?,
            session: number(3)?,
            since: fields.get(19)?.parse().ok()?,
        })
    }
}

/// Ends all orphans and returns how many there were.
pub async fn end() -> usize {
    system::end().await
}

#[cfg(windows)]
mod system {
    pub(super) fn stat(_: u32) -> Option<super::ProcessStat> {
        None
    }

    pub(super) async fn end() -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATEWAY: ProcessStat = ProcessStat { parent: 1, session: 7, since: 100, exited: false };
    const CHILD: ProcessStat = ProcessStat { parent: 1, session: 7, since: 200, exited: false };

    fn is_orphan(mark: &str, process: ProcessStat, gateway: Option<ProcessStat>) -> bool {
        ChildMark::parse(mark).unwrap().is_orphan(process, |pid| gateway.filter(|_| pid == 40))
    }

    #[test]
    fn a_child_of_a_running_gateway_is_not_an_orphan() {
        assert!(!is_orphan("40.100.7", CHILD, Some(GATEWAY)));
        assert!(is_orphan("40.100.7", CHILD, None));
        assert!(
            is_orphan("40.100.7", CHILD, Some(ProcessStat { since: 300, ..GATEWAY })),
            "the id was reused"
        );
        assert!(is_orphan("40.100.7", CHILD, Some(ProcessStat { exited: true, ..GATEWAY })));
    }

    #[test]
    fn a_process_with_its_own_session_an_exited_one_and_one_without_a_mark_are_not_orphans() {
        assert!(!is_orphan("40.100.7", ProcessStat { session: 8, ..CHILD }, None));
        assert!(!is_orphan("40.100.7", ProcessStat { exited: true, ..CHILD }, None));
        assert!(!is_orphan("40.0.0", CHILD, None));
        assert_eq!(ChildMark::parse("40"), None);
        assert_eq!(ChildMark::parse("40.1.2.3"), None);
        assert_eq!(ChildMark::parse(&ChildMark::ours().to_string()), Some(ChildMark::ours()));
    }

    #[test]
    fn a_process_with_any_name_is_parsed() {
        let line = "52 (a) b) (c) S 40 52 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 200 1 1";
        assert_eq!(
            ProcessStat::parse(line),
            Some(ProcessStat { parent: 40, session: 7, since: 200, exited: false })
        );
        assert_eq!(ProcessStat::parse("52 (a) Z 1"), None);
    }
}
