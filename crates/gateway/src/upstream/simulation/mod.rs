//! A day of faults in seconds: the delivery of calls, on a paused clock, against servers whose faults
//! depend on a seed.
//!
//! The oracle compares the answers that editors got with what the servers executed: no call is lost,
//! executed twice or answered with another call's result, and none that ran is reported as not sent.
//! A seed replays the same day, fault by fault; `SEED=n` runs another one.
//!
//! - `day`: one simulated day; `server`: a server in memory
//! - `oracle`: the comparison; `random`: random numbers from a seed

mod day;
mod oracle;
mod random;
mod server;

use day::Day;

/// Simulates a day and checks it.
fn a_day_of_faults(seed: u64) {
    let log = Day::of(seed).run();
    oracle::check(&log);
    println!("seed {seed}: {log}");
}

#[test]
fn nothing_is_lost_doubled_or_swapped_on_the_first_day() {
    a_day_of_faults(1);
}

#[test]
fn nothing_is_lost_doubled_or_swapped_on_the_second_day() {
    a_day_of_faults(2);
}

#[test]
fn nothing_is_lost_doubled_or_swapped_on_the_third_day() {
    a_day_of_faults(3);
}

#[test]
fn nothing_is_lost_doubled_or_swapped_on_a_day_of_your_choice() {
    let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    a_day_of_faults(seed.unwrap_or(4));
}

#[test]
fn a_seed_replays_the_same_day() {
    let (one, other) = (Day::of(5).hours(2).run(), Day::of(5).hours(2).run());
    assert_eq!(one.fingerprint(), other.fingerprint());
}
