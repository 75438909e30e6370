//! Every state with its text and next step, and the rules between them.

use super::*;
use crate::preset::Shelf;
use proptest::prelude::*;

fn pieces() -> Preset {
    Shelf::of_our_own().get("pieces-os").unwrap().clone()
}

fn ready() -> Facts {
    Facts {
        installed: Some(true),
        running: Some(Duration::from_secs(3600)),
        port: Some(39300),
        serves: true,
        version: Some("12.3.10".into()),
        told: vec![Some(false), Some(false)],
        ..Facts::default()
    }
}

fn hours(hours: u64) -> Option<Duration> {
    Some(Duration::from_secs(hours * 3600))
}

#[test]
fn every_state_has_its_own_text_and_next_step() {
    let gone = |ended| Facts { installed: Some(true), ended, ..Facts::default() };
    let cases = [
        ("paused", Facts { paused: true, ..ready() }),
        ("not installed", Facts { installed: Some(false), ..Facts::default() }),
        ("installed, not running", gone(None)),
        ("crashed", gone(Some(Cause::Crashed { how: "SIGABRT".into() }))),
        ("out of memory", gone(Some(Cause::OutOfMemory))),
        ("quit", gone(Some(Cause::Quit))),
        ("hung and exited", gone(Some(Cause::Hung))),
        ("exited for an unknown reason", gone(Some(Cause::Unknown))),
        ("launched", Facts { launching: true, ..gone(Some(Cause::Quit)) }),
        ("new process", Facts { running: Some(Duration::from_secs(5)), ..Facts::default() }),
        ("off", Facts { running: hours(1), ..Facts::default() }),
        ("not ready", Facts { serves: false, ..ready() }),
        ("hung", Facts { silent: Some(Duration::from_secs(42)), ..ready() }),
        ("signed out", Facts { told: vec![Some(true), None], ..ready() }),
        ("long-term memory off", Facts { told: vec![Some(false), Some(true)], ..ready() }),
        ("old", Facts { version: Some("11.0.2".into()), ..ready() }),
        ("new", Facts { version: Some("13.1.0".into()), ..ready() }),
        ("ready", ready()),
    ];
    let mut all = String::new();
    for (name, facts) in cases {
        let standing = Standing::of(&pieces(), &facts);
        let Words { what, remedy } = &standing.words;
        all.push_str(&format!(
            "{name}: {} ({:?})\n  {what} {remedy}\n",
            standing.state.word(),
            standing.next
        ));
        for note in &standing.notes {
            all.push_str(&format!("  also: {} {}\n", note.what, note.remedy));
        }
    }
    insta::assert_snapshot!(all);
}

#[test]
fn a_newer_version_adds_a_note_and_nothing_else() {
    let standing = Standing::of(&pieces(), &Facts { version: Some("14.0.0".into()), ..ready() });
    assert_eq!(standing.state, State::Ready);
    assert!(standing.notes[0].what.contains("14.0.0"), "{:?}", standing.notes);
    assert_eq!(standing.failure(), None);
}

#[test]
fn an_unreported_condition_does_not_hold() {
    let unreported = Standing::of(&pieces(), &Facts { told: vec![None, None], ..ready() });
    assert_eq!(unreported.state, State::Ready);
    let early = Standing::of(&pieces(), &Facts { told: vec![], version: None, ..ready() });
    assert_eq!(early.state, State::Ready);
    let unknown = Standing::of(&pieces(), &Facts::default());
    assert_eq!(unknown.state, State::NotRunning, "unknown whether it is installed");
}

#[test]
fn an_app_whose_server_is_turned_off_says_how_to_turn_it_on() {
    let figma = Shelf::of_our_own().get("figma").unwrap().clone();
    let standing = Standing::of(&figma, &Facts { running: hours(1), ..Facts::default() });
    assert!(standing.words.remedy.contains("Dev Mode"), "{:?}", standing.words);
}

fn cause() -> impl Strategy<Value = Option<Cause>> {
    prop_oneof![
        Just(None),
        Just(Some(Cause::Quit)),
        Just(Some(Cause::Hung)),
        Just(Some(Cause::OutOfMemory)),
        Just(Some(Cause::Unknown)),
        Just(Some(Cause::Crashed { how: "SIGABRT".into() })),
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
        serves in any::<bool>(),
        version in prop::option::of("(1[0-4]\\.[0-9]\\.[0-9]|debug|nonsense)"),
        told in prop::collection::vec(any::<Option<bool>>(), 0..3),
        ended in cause(),
    ) -> Facts {
        let seconds = |seconds: Option<u64>| seconds.map(Duration::from_secs);
        Facts {
            paused, installed, launching, running: seconds(running), port, silent: seconds(silent),
            serves, version, told, ended,
        }
    }
}

proptest! {
    #[test]
    fn every_observation_has_a_text_that_is_true(facts in facts()) {
        let standing = Standing::of(&pieces(), &facts);
        let state = &standing.state;
        prop_assert!(standing.words.what.ends_with('.') && standing.words.remedy.ends_with('.'));
        prop_assert!(!state.word().is_empty());
        prop_assert_eq!(standing.failure().is_none(), state.is_usable());
        prop_assert_eq!(*state == State::Paused, facts.paused);
        // Usable only if it responds to MCP, and not gone while it is running.
        let is_there = facts.running.is_some() || facts.port.is_some();
        prop_assert!(!state.is_usable() || facts.serves && facts.port.is_some());
        let gone = matches!(state, State::NotInstalled | State::NotRunning | State::Ended(_));
        prop_assert!(!(gone && is_there));
        // An unsupported version keeps the app usable.
        let without = Standing::of(&pieces(), &Facts { version: None, ..facts.clone() });
        prop_assert_eq!(without.state.is_usable(), state.is_usable());
    }
}
