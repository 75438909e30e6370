//! A day of faults in seconds: the whole delivery of calls, on a paused clock, against servers that
//! misbehave by a seed.
//!
//! The oracle compares what editors were told with what the servers really did: nothing lost,
//! nothing executed twice, nothing swapped, and no "nobody knows" where the gateway could know. A
//! seed replays the same day, fault by fault; `SEED=n` adds one of your own.

mod day;
mod dice;
mod oracle;
mod server;

use day::Day;

/// Plays a day and judges it.
fn a_day_of_faults(seed: u64) {
    let log = Day::of(seed).play();
    oracle::judge(&log);
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
    let (one, other) = (Day::of(5).hours(2).play(), Day::of(5).hours(2).play());
    assert_eq!(one.fingerprint(), other.fingerprint());
}
