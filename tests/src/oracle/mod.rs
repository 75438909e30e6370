//! The oracle: compares the editors' answers with what was executed.
//!
//! An answer is a promise: *done* means executed once and answered with its own nonce, *not sent*
//! means never executed, *unknown* means at most once. A call that must not be repeated is never
//! executed twice, whatever the answer.
//!
//! - [`ledger`]: the executions of a fake upstream
//! - [`faults`]: faults of an upstream and its network, chosen at random
//! - [`random`]: repeatable random numbers for fault schedules
//! - [`measure`]: memory and CPU time of a process
//! - [`stall_meter`]: how long a gateway does nothing but one thing
//!
//! Depends on [`editor`](crate::editor) for its answers, on [`gateway`](crate::gateway), on [`scene`](crate::scene), and for the faults on
//! [`fakes`](crate::fakes) and [`network`](crate::network).

pub mod faults;
pub mod ledger;
pub mod measure;
pub mod random;
pub mod stall_meter;

use std::collections::HashMap;
use std::time::Duration;

use crate::editor::answer::{CallAnswer, Verdict};

/// A call and its answer.
#[derive(Clone, Debug)]
pub struct RecordedCall {
    pub nonce: String,
    pub answer: CallAnswer,
    pub took: Duration,
}

/// How many calls ended in which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    pub calls: usize,
    pub done: usize,
    pub not_sent: usize,
    pub unknown: usize,
    pub refused: usize,
    /// The unknown calls that were executed.
    pub unknown_executed: usize,
    pub doubled: usize,
}

/// Why an answer is wrong, if it is.
pub fn contradiction(nonce: &str, answer: &CallAnswer, executions: usize) -> Option<String> {
    let details = &answer.details;
    let matches_details = |sent: bool, executed: &str, again: bool| {
        details["sent"] == sent
            && details["executed"] == executed
            && details["safeToRetry"] == again
    };
    let honest = executions <= 1
        && match &answer.verdict {
            Verdict::Done => executions == 1 && answer.text == nonce,
            Verdict::Refused { .. } => true,
            Verdict::NotSent { .. } => executions == 0 && matches_details(false, "no", true),
            Verdict::Unknown { .. } => matches_details(true, "unknown", false),
            Verdict::Executed { .. } => executions == 1 && matches_details(true, "yes", false),
        };
    (!honest).then(|| format!("{nonce} was executed {executions} times, but told: {answer:?}"))
}

/// Checks a whole history against a ledger and reports every wrong answer.
pub fn check(
    history: &[RecordedCall],
    ledger: &HashMap<String, usize>,
) -> Result<OutcomeCounts, Vec<String>> {
    let mut tally = OutcomeCounts { calls: history.len(), ..OutcomeCounts::default() };
    let mut contradictions = Vec::new();
    for call in history {
        let executions = ledger.get(&call.nonce).copied().unwrap_or_default();
        contradictions.extend(contradiction(&call.nonce, &call.answer, executions));
        let counted = match call.answer.verdict {
            Verdict::Done | Verdict::Executed { .. } => &mut tally.done,
            Verdict::Refused { .. } => &mut tally.refused,
            Verdict::NotSent { .. } => &mut tally.not_sent,
            Verdict::Unknown { .. } => &mut tally.unknown,
        };
        *counted += 1;
        if matches!(call.answer.verdict, Verdict::Unknown { .. }) && executions > 0 {
            tally.unknown_executed += 1;
        }
        tally.doubled += usize::from(executions > 1);
    }
    if contradictions.is_empty() { Ok(tally) } else { Err(contradictions) }
}
