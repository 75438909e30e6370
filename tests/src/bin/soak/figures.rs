//! Compares the ends of the calls with the ledgers, and adds up the figures.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::Duration;

use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::oracle;
use tokio::time::Instant;

use crate::editors::{CallNonce, EndedCall, STEADY};

/// A connection may break this long after the gateway was killed: the system reports it late.
const KILL_EFFECT: Duration = Duration::from_secs(2);
/// How many more or fewer descriptors may be open at the end.
const DESCRIPTOR_TOLERANCE: usize = 2;
/// How much more memory the gateway may need at the end than after its warm-up: the heap's own fluctuation.
const MEMORY_TOLERANCE: u64 = 1_536;

/// Open descriptors, and memory in KiB.
pub(crate) type Resources = (usize, u64);

/// The result.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) faults: usize,
    pub(crate) kills: usize,
    pub(crate) takeovers: usize,
    /// Kills and takeovers after which no other gateway served in time.
    pub(crate) not_replaced: usize,
    calls: usize,
    done: usize,
    not_sent: usize,
    unknown: usize,
    refused: usize,
    /// Connections that a killed gateway broke.
    broken: usize,
    /// Answers that contradict the ledger.
    lost: Vec<String>,
    doubled: usize,
    /// Answers with the nonce of another call.
    swapped: usize,
    unanswered: Vec<String>,
    /// The slowest call to the upstream that never failed, without and with a gateway that was replaced.
    slowest_steady: Duration,
    slowest_steady_replaced: Duration,
    /// At rest: before the first fault, once the last gateway is warm, and at the end.
    pub(crate) at_start: Option<Resources>,
    pub(crate) warm: Option<Resources>,
    pub(crate) at_end: Option<Resources>,
}

/// The comparison, which keeps only what it still needs.
pub(crate) struct LedgerComparison {
    ledgers: Vec<LedgerReader>,
    /// Executions of calls that have not ended yet.
    executed: HashMap<CallNonce, usize>,
    /// Calls that ended without a definite answer and may still be executed.
    undecided: HashSet<CallNonce>,
    /// How many calls of each editor have been compared.
    compared: HashMap<usize, usize>,
    pub(crate) figures: Figures,
}

impl LedgerComparison {
    pub(crate) fn of(ledgers: impl IntoIterator<Item = PathBuf>) -> Self {
        let ledgers = ledgers.into_iter().map(|path| LedgerReader { path, read: 0 }).collect();
        Self {
            ledgers,
            executed: HashMap::new(),
            undecided: HashSet::new(),
            compared: HashMap::new(),
            figures: Figures::default(),
        }
    }

    /// Compares these calls with what was executed until now. `kills` and `takeovers` say when the gateway was
    /// replaced.
    pub(crate) fn compare(
        &mut self,
        calls: &[EndedCall],
        kills: &[Instant],
        takeovers: &[Instant],
    ) {
        // After the calls were taken, so that the ledgers have every execution of an answered call.
        for line in self.ledgers.iter_mut().flat_map(LedgerReader::new_lines) {
            if let Some(nonce) = CallNonce::parse(&line) {
                *self.executed.entry(nonce).or_default() += 1;
            }
        }
        for call in calls {
            self.add(call, kills, takeovers);
        }
        self.find_late();
    }

    fn add(&mut self, call: &EndedCall, kills: &[Instant], takeovers: &[Instant]) {
        let executions = self.executed.remove(&call.nonce).unwrap_or_default();
        self.compared.insert(call.nonce.editor, call.nonce.call + 1);
        let figures = &mut self.figures;
        figures.calls += 1;
        figures.doubled += usize::from(executions > 1);
        let during = |moments: &[Instant], earlier: Duration| {
            let from = call.began.checked_sub(earlier).unwrap_or(call.began);
            moments.iter().any(|moment| (from..call.began + call.took).contains(moment))
        };
        let nonce = call.nonce.to_string();
        let mut undecided = false;
        match &call.end {
            Ok(answer) => {
                figures.lost.extend(oracle::contradiction(&nonce, answer, executions));
                match answer.verdict {
                    Verdict::Done => {
                        figures.done += 1;
                        figures.swapped += usize::from(answer.text != nonce);
                    }
                    Verdict::NotSent { .. } => figures.not_sent += 1,
                    Verdict::Unknown { .. } => {
                        figures.unknown += 1;
                        undecided = true;
                    }
                    Verdict::Executed { .. } => {}
                    // The upstream's error, for example for a status: it may still have executed the call.
                    Verdict::Refused { .. } => {
                        figures.refused += 1;
                        undecided = true;
                    }
                }
            }
            Err(_) if during(kills, KILL_EFFECT) => {
                figures.broken += 1;
                undecided = true;
            }
            Err(why) => {
                figures.unanswered.push(format!("{nonce}: {}", why.0));
                undecided = true;
            }
        }
        if undecided && executions == 0 {
            self.undecided.insert(call.nonce.clone());
        }
        if call.nonce.upstream == STEADY {
            let replaced = during(kills, KILL_EFFECT) || during(takeovers, KILL_EFFECT);
            let slowest = match replaced {
                true => &mut figures.slowest_steady_replaced,
                false => &mut figures.slowest_steady,
            };
            *slowest = call.took.max(*slowest);
        }
    }

    /// Executions of calls that had ended: allowed once, if the end left it open.
    fn find_late(&mut self) {
        let (compared, undecided) = (&self.compared, &mut self.undecided);
        let figures = &mut self.figures;
        self.executed.retain(|nonce, executions| {
            if compared.get(&nonce.editor).is_none_or(|next| nonce.call >= *next) {
                return true;
            }
            if *executions > 1 || !undecided.remove(nonce) {
                figures.doubled += 1;
                figures.lost.push(format!("{nonce} was executed after its answer"));
            }
            false
        });
    }

    /// Editors that gave up, and calls that did not end.
    pub(crate) fn add_unanswered(&mut self, number: usize, what: &str) {
        self.figures.unanswered.extend((0..number).map(|_| what.to_owned()));
    }
}

/// A ledger that is read as it grows.
struct LedgerReader {
    path: PathBuf,
    read: u64,
}

impl LedgerReader {
    /// The whole lines since the last time.
    fn new_lines(&mut self) -> Vec<String> {
        let mut text = String::new();
        let reading = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(self.read))?;
            file.read_to_string(&mut text)
        });
        // Nothing was executed yet.
        if reading.is_err() {
            return Vec::new();
        }
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        self.read += whole as u64;
        text[..whole].lines().map(str::to_owned).collect()
    }
}

impl Figures {
    /// Whether every promise held.
    pub(crate) fn are_good(&self) -> bool {
        self.lost.is_empty()
            && self.unanswered.is_empty()
            && self.doubled + self.swapped + self.not_replaced == 0
            && self.done > 0
            && self.has_no_leak()
    }

    /// Whether the gateway needs no more at the end than before. True where the system does not tell.
    fn has_no_leak(&self) -> bool {
        let descriptors = |before: Option<Resources>| {
            let both = before.zip(self.at_end);
            both.is_none_or(|(before, end)| before.0.abs_diff(end.0) <= DESCRIPTOR_TOLERANCE)
        };
        let memory = self.warm.zip(self.at_end);
        descriptors(self.at_start)
            && descriptors(self.warm)
            && memory.is_none_or(|(warm, end)| end.1 <= warm.1 + MEMORY_TOLERANCE)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for lost in self.lost.iter().take(20) {
            writeln!(f, "LOST: {lost}")?;
        }
        for unanswered in self.unanswered.iter().take(20) {
            writeln!(f, "UNANSWERED: {unanswered}")?;
        }
        let Self { calls, done, not_sent, unknown, refused, broken, .. } = self;
        writeln!(
            f,
            "calls {calls}: done {done}, not sent {not_sent}, unknown {unknown}, refused by the server {refused}, \
             broken with a killed gateway {broken}"
        )?;
        let Self { faults, kills, takeovers, not_replaced, .. } = self;
        writeln!(
            f,
            "faults {faults}, of which gateways killed {kills} and taken over {takeovers}, not replaced {not_replaced}"
        )?;
        let (lost, unanswered) = (self.lost.len(), self.unanswered.len());
        let (doubled, swapped) = (self.doubled, self.swapped);
        writeln!(f, "lost {lost}, doubled {doubled}, swapped {swapped}, unanswered {unanswered}")?;
        if let (Some(start), Some(warm), Some(end)) = (self.at_start, self.warm, self.at_end) {
            writeln!(f, "descriptors {} at start, {} warm, {} at end", start.0, warm.0, end.0)?;
            writeln!(
                f,
                "memory {} KiB at start, {} KiB warm, {} KiB at end",
                start.1, warm.1, end.1
            )?;
        }
        write!(
            f,
            "slowest call to the server that never failed: {:?}; {:?} while the gateway was replaced",
            self.slowest_steady, self.slowest_steady_replaced
        )
    }
}
