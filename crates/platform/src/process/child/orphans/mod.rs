//! Ending what the programs of a gateway that was killed left behind.
//!
//! # Theory of operation
//! Every child carries a [`Mark`] in its environment, and hands it to whatever it starts: which
//! gateway it belongs to, by process, moment of start and session. A process whose gateway does not
//! run any more is an orphan. The moment of start tells a gateway from a stranger that got its
//! number. A process that made a session of its own left on purpose and is not ours to end; nor is
//! this process, nor whoever started it.
//!
//! Only Linux lets a process read what its neighbours were started with. On Windows the job of a
//! gateway ends with it. On macOS what ignores the end of its input stays.

#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        reason = "only Linux has orphans to look for, and the rules are tested everywhere"
    )
)]

use std::fmt;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux as system;

/// Whose child a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    gateway: u32,
    /// When the gateway started, in the system's own count; 0 where that is not known.
    since: u64,
    session: u32,
}

/// What the system says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    session: u32,
    since: u64,
    /// It has ended, and nobody has asked about it yet.
    over: bool,
}

impl Mark {
    /// The mark of this process's own children.
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

    /// Whether a process with this mark was left behind. `stat` says what runs.
    fn is_left(self, process: Stat, stat: impl Fn(u32) -> Option<Stat>) -> bool {
        let gateway = stat(self.gateway).filter(|stat| stat.since == self.since && !stat.over);
        gateway.is_none() && !process.over && self.since > 0 && process.session == self.session
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.gateway, self.since, self.session)
    }
}

impl Stat {
    /// Reads the line in which Linux tells of a process. Its name may hold anything.
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |place: usize| fields.get(place).and_then(|field| field.parse().ok());
        Some(Self {
            over: matches!(*fields.first()?, "Z" | "X"),
            parent: number(1)?,
            session: number(3)?,
            since: fields.get(19)?.parse().ok()?,
        })
    }
}

/// Ends what gateways that are gone left behind, and returns how many processes that were.
pub async fn end() -> usize {
    system::end().await
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn stat(_: u32) -> Option<super::Stat> {
        None
    }

    pub(super) async fn end() -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GATEWAY: Stat = Stat { parent: 1, session: 7, since: 100, over: false };
    const CHILD: Stat = Stat { parent: 1, session: 7, since: 200, over: false };

    fn left(mark: &str, process: Stat, gateway: Option<Stat>) -> bool {
        Mark::parse(mark).unwrap().is_left(process, |pid| gateway.filter(|_| pid == 40))
    }

    #[test]
    fn what_belongs_to_a_gateway_that_runs_is_no_orphan() {
        assert!(!left("40.100.7", CHILD, Some(GATEWAY)));
        assert!(left("40.100.7", CHILD, None));
        assert!(left("40.100.7", CHILD, Some(Stat { since: 300, ..GATEWAY })), "a stranger");
        assert!(left("40.100.7", CHILD, Some(Stat { over: true, ..GATEWAY })));
    }

    #[test]
    fn what_left_on_purpose_has_ended_or_bears_no_whole_mark_is_let_alone() {
        assert!(!left("40.100.7", Stat { session: 8, ..CHILD }, None));
        assert!(!left("40.100.7", Stat { over: true, ..CHILD }, None));
        assert!(!left("40.0.0", CHILD, None));
        assert_eq!(Mark::parse("40"), None);
        assert_eq!(Mark::parse("40.1.2.3"), None);
        assert_eq!(Mark::parse(&Mark::ours().to_string()), Some(Mark::ours()));
    }

    #[test]
    fn a_process_is_read_whatever_its_name_is() {
        let line = "52 (a) b) (c) S 40 52 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 200 1 1";
        assert_eq!(
            Stat::parse(line),
            Some(Stat { parent: 40, session: 7, since: 200, over: false })
        );
        assert_eq!(Stat::parse("52 (a) Z 1"), None);
    }
}
