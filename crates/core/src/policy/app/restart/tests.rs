//! Restarts as stories: what happens, what is done, and how it ends.

use super::*;
use crate::preset::Shelf;
use proptest::prelude::*;

const OLD: Run = Run { pid: 812, started: 100 };
const NEW: Run = Run { pid: 900, started: 500 };
/// The number came again, the moment did not.
const REUSED: Run = Run { pid: 812, started: 700 };

fn start() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "any moment will do to count from")]
    Instant::now()
}

fn preset(name: &str) -> Preset {
    Shelf::of_our_own().get(name).unwrap().clone()
}

/// A restart of an application, told event by event.
struct Story {
    restart: Restart,
    now: Instant,
    done: Vec<Action>,
    said: Vec<String>,
}

impl Story {
    fn of(preset: &Preset, change: impl Fn(&mut Subject<'_>)) -> Self {
        let mut subject =
            Subject { preset, old: Some(OLD), up: true, answers: true, calls: 0, ways: 2 };
        change(&mut subject);
        let now = start();
        let (restart, actions) = Restart::begin(subject, Limits::of(preset), now);
        let mut story = Self { restart, now, done: Vec::new(), said: Vec::new() };
        story.take(actions);
        story
    }

    fn pieces() -> Self {
        Self::of(&preset("pieces-os"), |_| {})
    }

    fn take(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Say(line) => self.said.push(line),
                Action::Drain
                | Action::AskToRestart
                | Action::AskToQuit
                | Action::End(_)
                | Action::Launch { .. }
                | Action::Finish(_) => self.done.push(action),
            }
        }
    }

    fn then(mut self, event: Event) -> Self {
        self.now += Duration::from_secs(1);
        let actions = self.restart.on(event, self.now);
        self.take(actions);
        self
    }

    /// Waits until the next deadline.
    fn late(mut self) -> Self {
        self.now = self.restart.deadline().expect("it is not over");
        let actions = self.restart.on(Event::Tick, self.now);
        self.take(actions);
        self
    }

    fn did(&self) -> &[Action] {
        &self.done
    }

    fn outcome(&self) -> &Outcome {
        match self.done.last() {
            Some(Action::Finish(outcome)) => outcome,
            other => panic!("it is not over: {other:?}"),
        }
    }

    fn failed(&self) -> (Stage, &Failure) {
        match self.outcome() {
            Outcome::Failed { at, failure } => (*at, failure),
            Outcome::Proven { .. } => panic!("it was proven"),
        }
    }

    fn is_proven_by(&self, run: Option<Run>) -> bool {
        matches!(self.outcome(), Outcome::Proven { run: found, .. } if *found == run)
    }
}

#[test]
fn an_application_restarts_in_its_own_way_and_proves_it() {
    let story =
        Story::pieces().then(Event::Gone).then(Event::Seen(NEW)).then(Event::Shook(Some(NEW)));
    assert_eq!(story.done[0], Action::AskToRestart);
    assert_eq!(story.done.len(), 2);
    assert!(story.is_proven_by(Some(NEW)));
    insta::assert_snapshot!(story.said.join("\n"), @r"
    Asking PiecesOS to restart itself.
    PiecesOS has ended.
    PiecesOS runs again. Waiting for its tools.
    PiecesOS is back, after 3.0 s.
    ");
}

#[test]
fn the_old_process_still_answering_is_no_restart() {
    let story = Story::pieces()
        .then(Event::Seen(OLD))
        .then(Event::Shook(Some(OLD)))
        .then(Event::Shook(None))
        .then(Event::Shook(Some(OLD)));
    assert!(!story.restart.is_over());
    let doubts = story.said.iter().filter(|line| line.contains("from before")).count();
    assert_eq!(doubts, 1, "{:?}", story.said);
    let story = story.late();
    assert_eq!(story.did(), [Action::AskToRestart, Action::AskToQuit]);
    let story = story.then(Event::Gone).then(Event::Shook(Some(REUSED)));
    assert!(story.is_proven_by(Some(REUSED)), "the same number with another start is another run");
}

#[test]
fn another_process_of_the_application_is_no_new_run_while_the_old_one_lives() {
    let story = Story::pieces().then(Event::Seen(NEW)).late().then(Event::Seen(NEW));
    assert_eq!(story.did(), [Action::AskToRestart, Action::AskToQuit], "the steps go on");
}

#[test]
fn what_does_not_restart_itself_is_asked_to_quit_then_ended_then_ended_by_force() {
    let story = Story::pieces()
        .then(Event::Refused("404 Not Found".into()))
        .late()
        .late()
        .then(Event::Gone)
        .then(Event::Seen(NEW))
        .then(Event::Shook(Some(NEW)));
    assert_eq!(
        story.did()[..5],
        [
            Action::AskToRestart,
            Action::AskToQuit,
            Action::End(Firmness::Asked),
            Action::End(Firmness::Forced),
            Action::Launch { way: 0 },
        ]
    );
    assert!(story.is_proven_by(Some(NEW)));
    assert!(story.said[1].contains("404 Not Found."), "{:?}", story.said);
}

#[test]
fn what_ended_in_its_own_way_and_does_not_come_back_is_launched() {
    let story = Story::pieces().then(Event::Gone);
    let waited = story.restart.deadline().unwrap() - story.now;
    assert!(waited <= Duration::from_secs(8), "{waited:?}");
    let story = story.late().then(Event::Seen(NEW)).then(Event::Shook(Some(NEW)));
    assert_eq!(story.did()[..2], [Action::AskToRestart, Action::Launch { way: 0 }]);
    assert!(story.is_proven_by(Some(NEW)));
}

#[test]
fn calls_under_way_end_first_or_are_given_up_in_time() {
    let pieces = preset("pieces-os");
    let story = Story::of(&pieces, |subject| subject.calls = 2);
    assert_eq!(story.did(), [Action::Drain]);
    let story = story.then(Event::Drained);
    assert_eq!(story.did(), [Action::Drain, Action::AskToRestart]);
    let late = Story::of(&pieces, |subject| subject.calls = 2).late();
    assert_eq!(late.did(), [Action::Drain, Action::AskToRestart]);
    let hung = Story::of(&pieces, |subject| (subject.calls, subject.answers) = (2, false));
    assert_eq!(hung.did(), [Action::End(Firmness::Asked)], "its calls would never end");
}

#[test]
fn what_does_not_run_is_only_launched_and_in_another_way_if_one_fails() {
    let story =
        Story::of(&preset("pieces-os"), |subject| (subject.up, subject.old) = (false, None));
    assert_eq!(story.did(), [Action::Launch { way: 0 }]);
    let story = story.then(Event::Refused("no such snap".into()));
    assert_eq!(story.did()[1], Action::Launch { way: 1 });
    let failed = story.then(Event::Refused("no such scheme".into()));
    let (at, failure) = failed.failed();
    assert_eq!(at, Stage::Launch);
    assert!(failure.what.contains("no such scheme."), "{failure}");
    assert!(failure.remedy.contains("yourself"), "{failure}");
}

#[test]
fn who_may_hold_unsaved_work_is_never_ended_by_force() {
    let sketch = preset("sketch");
    let story = Story::of(&sketch, |_| {}).late();
    assert_eq!(story.done[0], Action::AskToQuit);
    let (at, failure) = story.failed();
    assert_eq!(at, Stage::Quit);
    assert!(failure.remedy.contains("unsaved work"), "{failure}");
    let hung = Story::of(&sketch, |subject| subject.answers = false).late();
    assert_eq!(hung.done[0], Action::AskToQuit);
    assert!(hung.done.iter().all(|action| !matches!(action, Action::End(_))));
}

#[test]
fn who_cannot_be_launched_is_not_ended() {
    let story = Story::of(&preset("pieces-os"), |subject| subject.ways = 0).late();
    assert_eq!(story.done[0], Action::AskToRestart);
    assert_eq!(story.failed().0, Stage::OwnWay);
    let figma = Story::of(&preset("figma"), |subject| subject.ways = 0);
    assert!(figma.restart.is_over());
    assert!(!figma.failed().1.remedy.is_empty());
}

#[test]
fn a_failure_says_at_which_step_and_what_to_do() {
    let not_ended = Story::pieces().late().late().late().late();
    assert_eq!(not_ended.failed().0, Stage::End);
    let not_answering = Story::pieces().then(Event::Gone).then(Event::Seen(NEW)).late();
    assert_eq!(not_answering.failed().0, Stage::Answer);
    let not_seen = Story::pieces().then(Event::Gone).late().late();
    assert_eq!(not_seen.failed().0, Stage::Launch);
}

#[test]
fn where_no_process_can_be_seen_the_old_run_must_have_gone_away() {
    let unseen = Story::of(&preset("pieces-os"), |subject| subject.old = None);
    let early = unseen.then(Event::Shook(None));
    assert!(!early.restart.is_over());
    let story = early.then(Event::Gone).then(Event::Shook(None));
    assert!(story.is_proven_by(None));
}

fn event() -> impl Strategy<Value = Event> {
    let run = prop_oneof![Just(OLD), Just(NEW), Just(REUSED)];
    prop_oneof![
        2 => Just(Event::Tick),
        1 => Just(Event::Drained),
        1 => Just(Event::Gone),
        1 => "[a-z ]{0,8}".prop_map(Event::Refused),
        2 => run.clone().prop_map(Event::Seen),
        2 => prop::option::of(run).prop_map(Event::Shook),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_it_ends_once_says_how_and_never_takes_the_old_run_for_a_new_one(
        name in prop_oneof![Just("pieces-os"), Just("sketch"), Just("figma")],
        known in any::<bool>(), up in any::<bool>(), answers in any::<bool>(),
        calls in 0_usize..3, ways in 0_usize..3,
        events in prop::collection::vec((event(), 0_u64..30), 0..40),
    ) {
        let preset = preset(name);
        let mut story = Story::of(&preset, |subject| {
            subject.old = known.then_some(OLD);
            (subject.up, subject.answers, subject.calls, subject.ways) = (up, answers, calls, ways);
        });
        let mut gone = !up;
        for (event, wait) in events {
            gone |= event == Event::Gone;
            let was_over = story.restart.is_over();
            story.now += Duration::from_secs(wait);
            let actions = story.restart.on(event.clone(), story.now);
            if was_over {
                prop_assert!(actions.is_empty(), "nothing is done after the end");
            }
            if let Some(Action::Finish(Outcome::Proven { run, .. })) = actions.last() {
                prop_assert_eq!(&event, &Event::Shook(*run));
                prop_assert!(*run != Some(OLD) || !(known && up));
                prop_assert!(gone || known && run.is_some());
            }
            story.take(actions);
        }
        // Nothing happens any more, and it still comes to an end.
        for _ in 0..10 {
            if story.restart.is_over() {
                break;
            }
            story = story.late();
        }
        prop_assert!(story.restart.is_over());
        let ends = story.done.iter().filter(|action| matches!(action, Action::Finish(_))).count();
        prop_assert_eq!(ends, 1);
        if preset.unsaved_work {
            prop_assert!(story.done.iter().all(|action| !matches!(action, Action::End(_))));
        }
        if let Outcome::Failed { failure, .. } = story.outcome() {
            prop_assert!(failure.what.ends_with('.') && failure.remedy.ends_with('.'));
        }
    }
}
