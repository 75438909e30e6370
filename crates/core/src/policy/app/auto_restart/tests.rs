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

fn restart(restart: RestartPolicy) -> AppPolicy {
    AppPolicy { restart, ..AppPolicy::default() }
}

fn crash() -> ExitCause {
    ExitCause::Crashed { how: "SIGABRT".into() }
}

fn respond(policy: RestartPolicy, cause: &ExitCause) -> ExitResponse {
    AutoRestart::default().ended(restart(policy), cause, MINUTE, start())
}

#[test]
fn a_crash_is_restarted_automatically_and_a_quit_is_only_offered() {
    assert_eq!(respond(RestartPolicy::OnCrash, &crash()), ExitResponse::Restart);
    assert_eq!(respond(RestartPolicy::OnCrash, &ExitCause::OutOfMemory), ExitResponse::Restart);
    for cause in [ExitCause::Quit, ExitCause::Unknown, ExitCause::Hung] {
        assert_eq!(respond(RestartPolicy::OnCrash, &cause), ExitResponse::Offer, "{cause:?}");
        assert_eq!(respond(RestartPolicy::Always, &cause), ExitResponse::Restart, "{cause:?}");
    }
    assert_eq!(respond(RestartPolicy::Ask, &crash()), ExitResponse::Offer);
    assert_eq!(respond(RestartPolicy::Never, &crash()), ExitResponse::Nothing);
}

#[test]
fn restarts_stop_after_three_in_ten_minutes_until_the_user_acts() {
    let (mut auto_restart, t0) = (AutoRestart::default(), start());
    let mut ended =
        |at: Duration| auto_restart.ended(AppPolicy::default(), &crash(), SECOND, t0 + at);
    let responses: Vec<ExitResponse> = (0..5).map(|n| ended(MINUTE * n)).collect();
    assert_eq!(
        responses,
        [
            ExitResponse::Restart,
            ExitResponse::Restart,
            ExitResponse::Restart,
            ExitResponse::Stop,
            ExitResponse::Offer
        ]
    );
    assert_eq!(ended(MINUTE * 60), ExitResponse::Offer, "it stays stopped");
    auto_restart.reset();
    let again = auto_restart.ended(AppPolicy::default(), &crash(), SECOND, t0 + MINUTE * 61);
    assert_eq!(again, ExitResponse::Restart);
}

#[test]
fn crashes_far_apart_are_no_loop_and_a_long_run_resets_the_limit() {
    let (mut auto_restart, t0) = (AutoRestart::default(), start());
    for n in 0..20 {
        let now = t0 + MINUTE * 4 * n;
        assert_eq!(
            auto_restart.ended(AppPolicy::default(), &crash(), MINUTE * 3, now),
            ExitResponse::Restart
        );
    }
    for n in 0..4 {
        auto_restart.ended(AppPolicy::default(), &crash(), SECOND, t0 + MINUTE * 90 + SECOND * n);
    }
    assert!(auto_restart.has_given_up());
    let later =
        auto_restart.ended(AppPolicy::default(), &crash(), RESTART_WINDOW, t0 + MINUTE * 120);
    assert_eq!(later, ExitResponse::Restart);
}

fn pressure(idle: Option<Duration>, relief: bool) -> MemoryPressure {
    let relief = relief.then_some(MINUTE);
    MemoryPressure { used: 2_600_000_000, alarm: 2_500_000_000, relief, idle, idle_after: IDLE }
}

const WHEN_IDLE: AppPolicy = AppPolicy {
    restart: RestartPolicy::OnCrash,
    recycle: RecyclePolicy::WhenIdle,
    memory_alarm: None,
};

#[test]
fn the_app_frees_memory_first_and_is_then_restarted_when_idle_once_an_hour() {
    let (mut auto_restart, t0) = (AutoRestart::default(), start());
    let mut check =
        |at: Duration, idle| auto_restart.memory(WHEN_IDLE, pressure(idle, true), t0 + at);
    let idle = Some(MINUTE * 5);
    assert_eq!(check(SECOND, idle), MemoryAction::Relieve);
    assert_eq!(check(SECOND * 16, idle), MemoryAction::Wait, "freeing memory takes time");
    assert_eq!(check(SECOND * 62, None), MemoryAction::Wait, "a call is in flight");
    assert_eq!(check(SECOND * 70, Some(SECOND)), MemoryAction::Wait, "it was just used");
    assert_eq!(check(SECOND * 80, idle), MemoryAction::Recycle);
    assert_eq!(check(MINUTE * 20, idle), MemoryAction::Wait, "at most once an hour");
    assert_eq!(check(MINUTE * 32, idle), MemoryAction::Relieve);
    assert_eq!(check(MINUTE * 64, idle), MemoryAction::Relieve);
    assert_eq!(check(MINUTE * 66, idle), MemoryAction::Recycle);
}

#[test]
fn without_permission_a_restart_is_offered_once() {
    let (mut auto_restart, t0) = (AutoRestart::default(), start());
    let mut check =
        |at: Duration| auto_restart.memory(AppPolicy::default(), pressure(None, false), t0 + at);
    assert_eq!(
        (check(SECOND), check(MINUTE), check(MINUTE * 90)),
        (MemoryAction::Offer, MemoryAction::Wait, MemoryAction::Wait)
    );
    auto_restart.ended(AppPolicy::default(), &crash(), MINUTE, t0 + MINUTE * 91);
    let next_run =
        auto_restart.memory(AppPolicy::default(), pressure(None, false), t0 + MINUTE * 99);
    assert_eq!(next_run, MemoryAction::Offer);
}

#[test]
fn memory_below_the_alarm_needs_nothing() {
    let below = MemoryPressure { used: 1, ..pressure(Some(MINUTE), true) };
    assert_eq!(AutoRestart::default().memory(WHEN_IDLE, below, start()), MemoryAction::Nothing);
}

#[test]
fn alerts_are_muted_right_after_a_wake() {
    let (mut auto_restart, t0) = (AutoRestart::default(), start());
    assert!(!auto_restart.is_muted(t0));
    auto_restart.woke(t0);
    assert!(auto_restart.is_muted(t0 + SECOND * 44));
    assert!(!auto_restart.is_muted(t0 + SECOND * 45));
}

proptest! {
    #[test]
    fn it_is_never_restarted_more_than_three_times_in_ten_minutes(
        policy in prop_oneof![Just(RestartPolicy::OnCrash), Just(RestartPolicy::Always), Just(RestartPolicy::Ask), Just(RestartPolicy::Never)],
        ends in prop::collection::vec((0_u64..200, 0_u64..400, 0_u8..4), 1..60),
    ) {
        let (mut auto_restart, mut now, mut restarts) = (AutoRestart::default(), start(), Vec::new());
        for (gap, lived, cause) in ends {
            let lived = Duration::from_secs(lived.min(gap));
            now += Duration::from_secs(gap);
            let cause = match cause {
                0 => ExitCause::Quit,
                1 => ExitCause::Unknown,
                _ => crash(),
            };
            let response = auto_restart.ended(restart(policy), &cause, lived, now);
            if response == ExitResponse::Restart {
                prop_assert!(policy == RestartPolicy::Always || policy == RestartPolicy::OnCrash && cause.is_crash());
                restarts.push(now);
            }
            prop_assert_eq!(response == ExitResponse::Nothing, policy == RestartPolicy::Never);
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
        let (mut auto_restart, mut now, mut recycled) = (AutoRestart::default(), start(), Vec::new());
        for (gap, high, idle) in checks {
            now += Duration::from_secs(gap);
            let idle = idle.map(Duration::from_secs);
            let used = if high { 3 } else { 1 };
            let effect = relief.then_some(MINUTE);
            let pressure = MemoryPressure { used, alarm: 2, relief: effect, idle, idle_after: IDLE };
            match auto_restart.memory(WHEN_IDLE, pressure, now) {
                MemoryAction::Recycle => {
                    prop_assert!(high && idle.is_some_and(|idle| idle >= IDLE));
                    recycled.push(now);
                }
                MemoryAction::Relieve => prop_assert!(high && relief),
                MemoryAction::Nothing => prop_assert!(!high),
                MemoryAction::Wait => prop_assert!(high),
                MemoryAction::Offer => prop_assert!(false, "it may be restarted without asking"),
            }
        }
        for two in recycled.windows(2) {
            prop_assert!(two[1] - two[0] >= RECYCLE_INTERVAL);
        }
    }
}

#[test]
fn restarts_count_across_gateways() {
    let (policy, began, wall) = (restart(RestartPolicy::OnCrash), start() + MINUTE * 30, 1_800_000);
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap();
    let mut record = RestartRecord::default();
    let mut crash_at = |time: Duration| {
        let (now, wall) = (began + time, wall + millis(time));
        let mut gateway = AutoRestart::from_record(&record, now, wall);
        let response = gateway.ended(policy, &crash(), MINUTE, now);
        record = gateway.record(now, wall);
        response
    };
    for minute in 0..3 {
        assert_eq!(crash_at(MINUTE * minute), ExitResponse::Restart);
    }
    assert_eq!(crash_at(MINUTE * 9), ExitResponse::Stop);
    assert_eq!(crash_at(MINUTE * 25), ExitResponse::Offer, "it stays stopped until the user acts");
}

#[test]
fn restarts_of_an_earlier_gateway_are_forgotten_after_the_window() {
    let record = RestartRecord { restarts: vec![0, 1, 2], stopped: false };
    let wall = u64::try_from((RESTART_WINDOW + SECOND).as_millis()).unwrap();
    let now = start() + RESTART_WINDOW * 2;
    let mut gateway = AutoRestart::from_record(&record, now, wall);
    let response = gateway.ended(restart(RestartPolicy::OnCrash), &crash(), MINUTE, now);
    assert_eq!(response, ExitResponse::Restart);
}
