//! How often calls may be sent again: a share of all calls, so that a server in trouble is not
//! buried under repetitions.

use std::time::Duration;

use tokio::time::Instant;

/// Earns a little with every call and with time, and pays for every repetition.
pub(crate) struct Budget {
    balance: f64,
    seen: Instant,
}

/// What one call earns: one repetition for every five calls.
const SHARE: f64 = 0.2;
/// What a second earns, so that the few calls of a quiet day can be repeated too.
const PER_SECOND: f64 = 1.0;
const MOST: f64 = 20.0;

impl Budget {
    pub(crate) fn new(now: Instant) -> Self {
        Self { balance: MOST / 2.0, seen: now }
    }

    /// A call was made.
    pub(crate) fn earn(&mut self, now: Instant) {
        self.pass(now);
        self.balance = (self.balance + SHARE).min(MOST);
    }

    /// Whether a call may be sent again.
    pub(crate) fn pay(&mut self, now: Instant) -> bool {
        self.pass(now);
        let affordable = self.balance >= 1.0;
        if affordable {
            self.balance -= 1.0;
        }
        affordable
    }

    fn pass(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.seen);
        self.seen = now;
        self.balance = (self.balance
            + passed.min(Duration::from_secs(60)).as_secs_f64() * PER_SECOND)
            .min(MOST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_stay_a_fifth_of_all_calls() {
        let now = Instant::now();
        let mut budget = Budget::new(now);
        while budget.pay(now) {}
        let repeated = (0..1000).filter(|_| {
            budget.earn(now);
            budget.pay(now)
        });
        assert!((190..=200).contains(&repeated.count()));
    }

    #[test]
    fn a_quiet_upstream_may_always_be_asked_again() {
        let now = Instant::now();
        let mut budget = Budget::new(now);
        while budget.pay(now) {}
        assert!(budget.pay(now + Duration::from_secs(1)));
    }
}
