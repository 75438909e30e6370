//! The policies, and their limits under any sequence of events.

use super::*;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const IDLE: Duration = Duration::from_secs(120);

fn start() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "any starting point will do")]
    Instant::now()
}

fn restart(restart: Restart) -> Policy {
    Policy { restart, ..Policy::default() }
}

fn crash() -> Cause {
    Cause::Crashed { how: "SIGABRT".into() }
}

fn respond(policy: Restart, cause: &Cause) -> Response {
    Guard::default().ended(restart(policy), cause, MINUTE, start())
}

#[test]
fn a_crash_is_restarted_automatically_and_a_quit_is_only_offered() {
    assert_eq!(respond(Restart::OnCrash, &crash()), Response::Restart);
    assert_eq!(respond(Restart::OnCrash, &Cause::OutOfMemory), Response::Restart);
    for cause in [Cause::Quit, Cause::Unknown, Cause::Hung] {
        assert_eq!(respond(Restart::OnCrash, &cause), Response::Offer, "{cause:?}");
        assert_eq!(respond(Restart::Always, &cause), Response::Restart, "{cause:?}");
    }
    assert_eq!(respond(Restart::Ask, &crash()), Response::Offer);
    assert_eq!(respond(Restart::Never, &crash()), Response::Nothing);
}

#[test]
fn restarts_stop_after_three_in_ten_minutes_until_the_user_acts() {
    let (mut guard, t0) = (Guard::default(), start());
    let mut ended = |at: Duration| guard.ended(Policy::default(), &crash(), SECOND, t0 + at);
    let responses: Vec<Response> = (0..5).map(|n| ended(MINUTE * n)).collect();
    assert_eq!(
        responses,
        [Response::Restart, Response::Restart, Response::Restart, Response::Stop, Response::Offer]
    );
    assert_eq!(ended(MINUTE * 60), Response::Offer, "it stays stopped");
    guard.forgive();
    let again = guard.ended(Policy::default(), &crash(), SECOND, t0 + MINUTE * 61);
    assert_eq!(again, Response::Restart);
}

#[test]
fn crashes_far_apart_are_no_loop_and_a_long_run_resets_the_limit() {
    let (mut guard, t0) = (Guard::default(), start());
    for n in 0..20 {
        let now = t0 + MINUTE * 4 * n;
        assert_eq!(guard.ended(Policy::default(), &crash(), MINUTE * 3, now), Response::Restart);
    }
    for n in 0..4 {
        guard.ended(Policy::default(), &crash(), SECOND, t0 + MINUTE * 90 + SECOND * n);
    }
    assert!(guard.has_stopped());
    let later = guard.ended(Policy::default(), &crash(), RESTART_WINDOW, t0 + MINUTE * 120);
    assert_eq!(later, Response::Restart);
}

fn pressure(idle: Option<Duration>, relief: bool) -> Pressure {
    let relief = relief.then_some(MINUTE);
    Pressure { used: 2_600_000_000, alarm: 2_500_000_000, relief, idle, idle_after: IDLE }
}

const WHEN_IDLE: Policy =
    Policy { restart: Restart::OnCrash, recycle: Recycle::WhenIdle, memory_alarm: None };

#[test]
fn the_app_frees_memory_first_and_is_then_restarted_when_idle_once_an_hour() {
    let (mut guard, t0) = (Guard::default(), start());
    let mut check = |at: Duration, idle| guard.memory(WHEN_IDLE, pressure(idle, true), t0 + at);
    let idle = Some(MINUTE * 5);
    assert_eq!(check(SECOND, idle), Care::Relieve);
    assert_eq!(check(SECOND * 16, idle), Care::Wait, "freeing memory takes time");
    assert_eq!(check(SECOND * 62, None), Care::Wait, "a call is in flight");
    assert_eq!(check(SECOND * 70, Some(SECOND)), Care::Wait, "it was just used");
    assert_eq!(check(SECOND * 80, idle), Care::Recycle);
    assert_eq!(check(MINUTE * 20, idle), Care::Wait, "at most once an hour");
    assert_eq!(check(MINUTE * 32, idle), Care::Relieve);
    assert_eq!(check(MINUTE * 64, idle), Care::Relieve);
    assert_eq!(check(MINUTE * 66, idle), Care::Recycle);
}

#[test]
fn without_permission_a_restart_is_offered_once() {
    let (mut guard, t0) = (Guard::default(), start());
    let mut check = |at: Duration| guard.memory(Policy::default(), pressure(None, false), t0 + at);
    assert_eq!(
        (check(SECOND), check(MINUTE), check(MINUTE * 90)),
        (Care::Offer, Care::Wait, Care::Wait)
    );
    guard.ended(Policy::default(), &crash(), MINUTE, t0 + MINUTE * 91);
    let next_run = guard.memory(Policy::default(), pressure(None, false), t0 + MINUTE * 99);
    assert_eq!(next_run, Care::Offer);
}

#[test]
fn memory_below_the_alarm_needs_nothing() {
    let below = Pressure { used: 1, ..pressure(Some(MINUTE), true) };
    assert_eq!(Guard::default().memory(WHEN_IDLE, below, start()), Care::Nothing);
}

#[test]
fn alerts_are_muted_right_after_a_wake() {
    let (mut guard, t0) = (Guard::default(), start());
    assert!(!guard.is_muted(t0));
    guard.woke(t0);
    assert!(guard.is_muted(t0 + SECOND * 44));
    assert!(!guard.is_muted(t0 + SECOND * 45));
}

proptest! {
    #[test]
    fn it_is_never_restarted_more_than_three_times_in_ten_minutes(
        policy in prop_oneof![Just(Restart::OnCrash), Just(Restart::Always), Just(Restart::Ask), Just(Restart::Never)],
        ends in prop::collection::vec((0_u64..200, 0_u64..400, 0_u8..4), 1..60),
    ) {
        let (mut guard, mut now, mut restarts) = (Guard::default(), start(), Vec::new());
        for (gap, lived, cause) in ends {
            let lived = Duration::from_secs(lived.min(gap));
            now += Duration::from_secs(gap);
            let cause = match cause {
                0 => Cause::Quit,
                1 => Cause::Unknown,
                _ => crash(),
            };
            let response = guard.ended(restart(policy), &cause, lived, now);
            if response == Response::Restart {
                prop_assert!(policy == Restart::Always || policy == Restart::OnCrash && cause.is_crash());
                restarts.push(now);
            }
            prop_assert_eq!(response == Response::Nothing, policy == Restart::Never);
        }
        for four in restarts.windows(MAX_RESTARTS + 1) {
            prop_assert!(four[MAX_RESTARTS] - four[0] >= RESTART_WINDOW);
        }
    }

    #[test]
    fn it_is_recycled_only_when_idle_and_at_most_once_an_hour(
        checks in prop::collection::vec((1_u64..600, any::<bool>(), prop::option::of(0_u64..400)), 1..80),
        relief in any::<bool>(),
    ) {
        let (mut guard, mut now, mut recycled) = (Guard::default(), start(), Vec::new());
        for (gap, high, idle) in checks {
            now += Duration::from_secs(gap);
            let idle = idle.map(Duration::from_secs);
            let used = if high { 3 } else { 1 };
            let effect = relief.then_some(MINUTE);
            let pressure = Pressure { used, alarm: 2, relief: effect, idle, idle_after: IDLE };
            match guard.memory(WHEN_IDLE, pressure, now) {
                Care::Recycle => {
                    prop_assert!(high && idle.is_some_and(|idle| idle >= IDLE));
                    recycled.push(now);
                }
                Care::Relieve => prop_assert!(high && relief),
                Care::Nothing => prop_assert!(!high),
                Care::Wait => prop_assert!(high),
                Care::Offer => prop_assert!(false, "it may be restarted without asking"),
            }
        }
        for two in recycled.windows(2) {
            prop_assert!(two[1] - two[0] >= RECYCLE_INTERVAL);
        }
    }
}
