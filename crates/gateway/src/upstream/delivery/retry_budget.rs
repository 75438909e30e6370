//! Limits retries to a share of all calls, so that a server in trouble is not overloaded by them.

use std::time::Duration;

use tokio::time::Instant;

/// A balance that every call and every second add to, and that every retry is paid from.
pub(crate) struct RetryBudget {
    balance: f64,
    updated: Instant,
}

/// What one call adds: one retry for every five calls.
const PER_CALL: f64 = 0.2;
/// What one second adds, so that calls can be retried when there are few.
const PER_SECOND: f64 = 1.0;
const MAX_BALANCE: f64 = 20.0;

impl RetryBudget {
    pub(crate) fn new(now: Instant) -> Self {
        Self { balance: MAX_BALANCE / 2.0, updated: now }
    }

    /// Adds the share of one call.
    pub(crate) fn deposit(&mut self, now: Instant) {
        self.accrue(now);
        self.balance = (self.balance + PER_CALL).min(MAX_BALANCE);
    }

    /// Pays for one retry; false if the balance is too low.
    pub(crate) fn withdraw(&mut self, now: Instant) -> bool {
        self.accrue(now);
        let affordable = self.balance >= 1.0;
        if affordable {
            self.balance -= 1.0;
        }
        affordable
    }

    fn accrue(&mut self, now: Instant) {
        let elapsed = now.saturating_duration_since(self.updated);
        self.updated = now;
        self.balance = (self.balance
            + elapsed.min(Duration::from_secs(60)).as_secs_f64() * PER_SECOND)
            .min(MAX_BALANCE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_stay_a_fifth_of_all_calls() {
        let now = Instant::now();
        let mut budget = RetryBudget::new(now);
        while budget.withdraw(now) {}
        let retried = (0..1000).filter(|_| {
            budget.deposit(now);
            budget.withdraw(now)
        });
        assert!((190..=200).contains(&retried.count()));
    }

    #[test]
    fn a_call_to_a_quiet_upstream_may_always_be_retried() {
        let now = Instant::now();
        let mut budget = RetryBudget::new(now);
        while budget.withdraw(now) {}
        assert!(budget.withdraw(now + Duration::from_secs(1)));
    }
}
