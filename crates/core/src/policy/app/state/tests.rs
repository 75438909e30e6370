//! Every state with its text and next step, and the rules between them.

use super::*;
use crate::preset::PresetSet;
use proptest::prelude::*;

fn pieces() -> Preset {
    PresetSet::bundled().get("pieces-os").unwrap().clone()
}

fn ready() -> AppObservation {
    AppObservation {
        installed: Some(true),
        running: Some(Duration::from_secs(3600)),
        port: Some(39300),
        answers_mcp: true,
        version: Some("12.3.10".into()),
        conditions: vec![Some(false), Some(false)],
        ..AppObservation::default()
    }
}

fn hours(hours: u64) -> Option<Duration> {
    Some(Duration::from_secs(hours * 3600))
}

#[test]
fn every_state_has_its_own_text_and_next_step() {
    let gone = |ended| AppObservation { installed: Some(true), ended, ..AppObservation::default() };
    let cases = [
        ("paused", AppObservation { paused: true, ..ready() }),
        ("not installed", AppObservation { installed: Some(false), ..AppObservation::default() }),
        ("installed, not running", gone(None)),
        ("crashed", gone(Some(ExitCause::Crashed { how: "SIGABRT".into() }))),
        ("out of memory", gone(Some(ExitCause::OutOfMemory))),
        ("quit", gone(Some(ExitCause::Quit))),
        ("hung and exited", gone(Some(ExitCause::Hung))),
        ("exited for an unknown reason", gone(Some(ExitCause::Unknown))),
        ("launched", AppObservation { launching: true, ..gone(Some(ExitCause::Quit)) }),
        (
            "new process",
            AppObservation { running: Some(Duration::from_secs(5)), ..AppObservation::default() },
        ),
        ("off", AppObservation { running: hours(1), ..AppObservation::default() }),
        ("not ready", AppObservation { answers_mcp: false, ..ready() }),
        ("hung", AppObservation { silent: Some(Duration::from_secs(42)), ..ready() }),
        ("signed out", AppObservation { conditions: vec![Some(true), None], ..ready() }),
        (
            "long-term memory off",
            AppObservation { conditions: vec![Some(false), Some(true)], ..ready() },
        ),
        ("old", AppObservation { version: Some("11.0.2".into()), ..ready() }),
        ("new", AppObservation { version: Some("13.1.0".into()), ..ready() }),
        ("ready", ready()),
    ];
    let mut all = String::new();
    for (name, facts) in cases {
        let health = AppHealth::of(&pieces(), &facts);
        let ConditionText { what, remedy } = &health.words;
        all.push_str(&format!(
            "{name}: {} ({:?})\n  {what} {remedy}\n",
            health.state.word(),
            health.next
        ));
        for note in &health.notes {
            all.push_str(&format!("  also: {} {}\n", note.what, note.remedy));
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_newer_version_adds_a_note_and_nothing_else() {
    let health =
        AppHealth::of(&pieces(), &AppObservation { version: Some("14.0.0".into()), ..ready() });
    assert_eq!(health.state, AppHealthState::Ready);
    assert!(health.notes[0].what.contains("14.0.0"), "{:?}", health.notes);
    assert_eq!(health.failure(), None);
}

#[test]
fn an_unreported_condition_does_not_hold() {
    let unreported =
        AppHealth::of(&pieces(), &AppObservation { conditions: vec![None, None], ..ready() });
    assert_eq!(unreported.state, AppHealthState::Ready);
    let early =
        AppHealth::of(&pieces(), &AppObservation { conditions: vec![], version: None, ..ready() });
    assert_eq!(early.state, AppHealthState::Ready);
    let unknown = AppHealth::of(&pieces(), &AppObservation::default());
    assert_eq!(unknown.state, AppHealthState::NotRunning, "unknown whether it is installed");
}

#[test]
fn an_app_whose_server_is_turned_off_says_how_to_turn_it_on() {
    let figma = PresetSet::bundled().get("figma").unwrap().clone();
    let health =
        AppHealth::of(&figma, &AppObservation { running: hours(1), ..AppObservation::default() });
    assert!(health.words.remedy.contains("Dev Mode"), "{:?}", health.words);
}

fn cause() -> impl Strategy<Value = Option<ExitCause>> {
    prop_oneof![
        Just(None),
        Just(Some(ExitCause::Quit)),
        Just(Some(ExitCause::Hung)),
        Just(Some(ExitCause::OutOfMemory)),
        Just(Some(ExitCause::Unknown)),
        Just(Some(ExitCause::Crashed { how: "SIGABRT".into() })),
    ]
}

prop_compose! {
    fn facts()(
        paused in prop::bool::weighted(0.1),
        installed in any::<Option<bool>>(),
        launching in any::<bool>(),
        running in prop::option::of(0_u64..200),
        port in any::<Option<u16>>(),
        silent in prop::option::of(0_u64..60),
        answers_mcp in any::<bool>(),
        version in prop::option::of("(1[0-4]\\.[0-9]\\.[0-9]|debug|nonsense)"),
        conditions in prop::collection::vec(any::<Option<bool>>(), 0..3),
        ended in cause(),
    ) -> AppObservation {
        let seconds = |seconds: Option<u64>| seconds.map(Duration::from_secs);
        AppObservation {
            paused, installed, launching, running: seconds(running), port, silent: seconds(silent),
            answers_mcp, version, conditions, ended,
        }
    }
}

proptest! {
    #[test]
    fn every_observation_has_a_text_that_is_true(facts in facts()) {
        let health = AppHealth::of(&pieces(), &facts);
        let state = &health.state;
        prop_assert!(health.words.what.ends_with('.') && health.words.remedy.ends_with('.'));
        prop_assert!(!state.word().is_empty());
        prop_assert_eq!(health.failure().is_none(), state.is_usable());
        prop_assert_eq!(*state == AppHealthState::Paused, facts.paused);
        // Usable only if it responds to MCP, and not gone while it is running.
        let is_there = facts.running.is_some() || facts.port.is_some();
        prop_assert!(!state.is_usable() || facts.answers_mcp && facts.port.is_some());
        let gone = matches!(state, AppHealthState::NotInstalled | AppHealthState::NotRunning | AppHealthState::Ended(_));
        prop_assert!(!(gone && is_there));
        // An unsupported version keeps the app usable.
        let without = AppHealth::of(&pieces(), &AppObservation { version: None, ..facts.clone() });
        prop_assert_eq!(without.state.is_usable(), state.is_usable());
    }
}
