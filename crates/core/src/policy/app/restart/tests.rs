//! Restarts event by event: what is done, and how they end.

use std::time::Instant;

use super::*;
use crate::preset::PresetSet;
use proptest::prelude::*;

const OLD: AppRun = AppRun { pid: 812, started: 100 };
const NEW: AppRun = AppRun { pid: 900, started: 500 };
/// The same process id, reused by a later run.
const REUSED: AppRun = AppRun { pid: 812, started: 700 };

fn start() -> Instant {
    #[expect(clippy::disallowed_methods, reason = "any starting point will do")]
    Instant::now()
}

fn preset(name: &str) -> Preset {
    PresetSet::bundled().get(name).unwrap().clone()
}

/// A restart, driven event by event.
struct Driver {
    restart: RestartMachine,
    now: Instant,
    done: Vec<RestartAction>,
    progress: Vec<String>,
}

impl Driver {
    fn of(preset: &Preset, change: impl Fn(&mut RestartTarget<'_>)) -> Self {
        let mut subject = RestartTarget {
            preset,
            old: Some(OLD),
            up: true,
            answers: true,
            calls: 0,
            launch_methods: 2,
        };
        change(&mut subject);
        let now = start();
        let (restart, actions) = RestartMachine::begin(subject, RestartDeadlines::of(preset), now);
        let mut driver = Self { restart, now, done: Vec::new(), progress: Vec::new() };
        driver.take(actions);
        driver
    }

    fn pieces() -> Self {
        Self::of(&preset("pieces-os"), |_| {})
    }

    fn take(&mut self, actions: Vec<RestartAction>) {
        for action in actions {
            match action {
                RestartAction::Progress(line) => self.progress.push(line),
                RestartAction::Drain
                | RestartAction::AskToRestart
                | RestartAction::AskToQuit
                | RestartAction::End(_)
                | RestartAction::Launch { .. }
                | RestartAction::Finish(_) => self.done.push(action),
            }
        }
    }

    fn then(mut self, event: RestartEvent) -> Self {
        self.now += Duration::from_secs(1);
        let actions = self.restart.on(event, self.now);
        self.take(actions);
        self
    }

    /// Waits for the next deadline.
    fn time_out(mut self) -> Self {
        self.now = self.restart.deadline().expect("it is not over");
        let actions = self.restart.on(RestartEvent::Tick, self.now);
        self.take(actions);
        self
    }

    fn did(&self) -> &[RestartAction] {
        &self.done
    }

    fn outcome(&self) -> &RestartOutcome {
        match self.done.last() {
            Some(RestartAction::Finish(outcome)) => outcome,
            other => panic!("it is not over: {other:?}"),
        }
    }

    fn failed(&self) -> (RestartStage, &Failure) {
        match self.outcome() {
            RestartOutcome::Failed { at, failure } => (*at, failure),
            RestartOutcome::Restarted { .. } => panic!("it was proven"),
        }
    }

    fn is_proven_by(&self, run: Option<AppRun>) -> bool {
        matches!(self.outcome(), RestartOutcome::Restarted { run: found, .. } if *found == run)
    }
}

#[test]
fn an_app_that_restarts_itself_is_proven_by_a_handshake() {
    let driver = Driver::pieces()
        .then(RestartEvent::Gone)
        .then(RestartEvent::Seen(NEW))
        .then(RestartEvent::HandshakeCompleted(Some(NEW)));
    assert_eq!(driver.done[0], RestartAction::AskToRestart);
    assert_eq!(driver.done.len(), 2);
    assert!(driver.is_proven_by(Some(NEW)));
    insta::assert_snapshot!(driver.progress.join("\n"), @r"
    Asking PiecesOS to restart itself.
    PiecesOS exited.
    PiecesOS is running again. Waiting for its tools.
    PiecesOS is back after 3.0 s.
    ");
}

#[test]
fn a_handshake_with_the_old_process_is_no_restart() {
    let driver = Driver::pieces()
        .then(RestartEvent::Seen(OLD))
        .then(RestartEvent::HandshakeCompleted(Some(OLD)))
        .then(RestartEvent::HandshakeCompleted(None))
        .then(RestartEvent::HandshakeCompleted(Some(OLD)));
    assert!(!driver.restart.is_over());
    let reports = driver.progress.iter().filter(|line| line.contains("The old")).count();
    assert_eq!(reports, 1, "{:?}", driver.progress);
    let driver = driver.time_out();
    assert_eq!(driver.did(), [RestartAction::AskToRestart, RestartAction::AskToQuit]);
    let driver =
        driver.then(RestartEvent::Gone).then(RestartEvent::HandshakeCompleted(Some(REUSED)));
    assert!(
        driver.is_proven_by(Some(REUSED)),
        "the same pid with another start time is another run"
    );
}

#[test]
fn another_process_is_no_new_run_while_the_old_one_lives() {
    let driver =
        Driver::pieces().then(RestartEvent::Seen(NEW)).time_out().then(RestartEvent::Seen(NEW));
    assert_eq!(
        driver.did(),
        [RestartAction::AskToRestart, RestartAction::AskToQuit],
        "the steps go on"
    );
}

#[test]
fn an_app_that_does_not_restart_itself_is_asked_to_quit_then_stopped_then_killed() {
    let driver = Driver::pieces()
        .then(RestartEvent::Refused("404 Not Found".into()))
        .time_out()
        .time_out()
        .then(RestartEvent::Gone)
        .then(RestartEvent::Seen(NEW))
        .then(RestartEvent::HandshakeCompleted(Some(NEW)));
    assert_eq!(
        driver.did()[..5],
        [
            RestartAction::AskToRestart,
            RestartAction::AskToQuit,
            RestartAction::End(StopMode::Graceful),
            RestartAction::End(StopMode::Forced),
            RestartAction::Launch { way: 0 },
        ]
    );
    assert!(driver.is_proven_by(Some(NEW)));
    assert!(driver.progress[1].contains("404 Not Found."), "{:?}", driver.progress);
}

#[test]
fn an_app_that_exits_to_restart_itself_and_stays_away_is_launched() {
    let driver = Driver::pieces().then(RestartEvent::Gone);
    let waited = driver.restart.deadline().unwrap() - driver.now;
    assert!(waited <= Duration::from_secs(8), "{waited:?}");
    let driver = driver
        .time_out()
        .then(RestartEvent::Seen(NEW))
        .then(RestartEvent::HandshakeCompleted(Some(NEW)));
    assert_eq!(driver.did()[..2], [RestartAction::AskToRestart, RestartAction::Launch { way: 0 }]);
    assert!(driver.is_proven_by(Some(NEW)));
}

#[test]
fn calls_in_flight_may_finish_until_a_deadline() {
    let pieces = preset("pieces-os");
    let driver = Driver::of(&pieces, |subject| subject.calls = 2);
    assert_eq!(driver.did(), [RestartAction::Drain]);
    let driver = driver.then(RestartEvent::Drained);
    assert_eq!(driver.did(), [RestartAction::Drain, RestartAction::AskToRestart]);
    let late = Driver::of(&pieces, |subject| subject.calls = 2).time_out();
    assert_eq!(late.did(), [RestartAction::Drain, RestartAction::AskToRestart]);
    let hung = Driver::of(&pieces, |subject| (subject.calls, subject.answers) = (2, false));
    assert_eq!(
        hung.did(),
        [RestartAction::End(StopMode::Graceful)],
        "its calls would never finish"
    );
}

#[test]
fn an_app_that_is_not_running_is_only_launched_and_every_way_is_tried() {
    let driver =
        Driver::of(&preset("pieces-os"), |subject| (subject.up, subject.old) = (false, None));
    assert_eq!(driver.did(), [RestartAction::Launch { way: 0 }]);
    let driver = driver.then(RestartEvent::Refused("no such snap".into()));
    assert_eq!(driver.did()[1], RestartAction::Launch { way: 1 });
    let failed = driver.then(RestartEvent::Refused("no such scheme".into()));
    let (at, failure) = failed.failed();
    assert_eq!(at, RestartStage::Launch);
    assert!(failure.what.contains("no such scheme."), "{failure}");
    assert!(failure.remedy.contains("yourself"), "{failure}");
}

#[test]
fn an_app_that_may_hold_unsaved_work_is_never_killed() {
    let sketch = preset("sketch");
    let driver = Driver::of(&sketch, |_| {}).time_out();
    assert_eq!(driver.done[0], RestartAction::AskToQuit);
    let (at, failure) = driver.failed();
    assert_eq!(at, RestartStage::Quit);
    assert!(failure.remedy.contains("unsaved work"), "{failure}");
    let hung = Driver::of(&sketch, |subject| subject.answers = false).time_out();
    assert_eq!(hung.done[0], RestartAction::AskToQuit);
    assert!(hung.done.iter().all(|action| !matches!(action, RestartAction::End(_))));
}

#[test]
fn an_app_that_cannot_be_launched_is_not_stopped() {
    let driver = Driver::of(&preset("pieces-os"), |subject| subject.launch_methods = 0).time_out();
    assert_eq!(driver.done[0], RestartAction::AskToRestart);
    assert_eq!(driver.failed().0, RestartStage::SelfRestart);
    let figma = Driver::of(&preset("figma"), |subject| subject.launch_methods = 0);
    assert!(figma.restart.is_over());
    assert!(!figma.failed().1.remedy.is_empty());
}

#[test]
fn a_failure_names_its_stage() {
    let not_stopped = Driver::pieces().time_out().time_out().time_out().time_out();
    assert_eq!(not_stopped.failed().0, RestartStage::End);
    let not_answering =
        Driver::pieces().then(RestartEvent::Gone).then(RestartEvent::Seen(NEW)).time_out();
    assert_eq!(not_answering.failed().0, RestartStage::Answer);
    let not_seen = Driver::pieces().then(RestartEvent::Gone).time_out().time_out();
    assert_eq!(not_seen.failed().0, RestartStage::Launch);
}

#[test]
fn where_no_process_can_be_seen_the_old_run_must_have_exited() {
    let unseen = Driver::of(&preset("pieces-os"), |subject| subject.old = None);
    let early = unseen.then(RestartEvent::HandshakeCompleted(None));
    assert!(!early.restart.is_over());
    let driver = early.then(RestartEvent::Gone).then(RestartEvent::HandshakeCompleted(None));
    assert!(driver.is_proven_by(None));
}

fn event() -> impl Strategy<Value = RestartEvent> {
    let run = prop_oneof![Just(OLD), Just(NEW), Just(REUSED)];
    prop_oneof![
        2 => Just(RestartEvent::Tick),
        1 => Just(RestartEvent::Drained),
        1 => Just(RestartEvent::Gone),
        1 => "[a-z ]{0,8}".prop_map(RestartEvent::Refused),
        2 => run.clone().prop_map(RestartEvent::Seen),
        2 => prop::option::of(run).prop_map(RestartEvent::HandshakeCompleted),
    ]
}

proptest! {
    #[test]
    fn every_restart_ends_once_with_a_reason_and_is_never_proven_by_the_old_run(
        name in prop_oneof![Just("pieces-os"), Just("sketch"), Just("figma")],
        known in any::<bool>(), up in any::<bool>(), answers in any::<bool>(),
        calls in 0_usize..3, launch_methods in 0_usize..3,
        events in prop::collection::vec((event(), 0_u64..30), 0..40),
    ) {
        let preset = preset(name);
        let mut driver = Driver::of(&preset, |subject| {
            subject.old = known.then_some(OLD);
            (subject.up, subject.answers, subject.calls, subject.launch_methods) = (up, answers, calls, launch_methods);
        });
        let mut gone = !up;
        for (event, wait) in events {
            gone |= event == RestartEvent::Gone;
            let was_over = driver.restart.is_over();
            driver.now += Duration::from_secs(wait);
            let actions = driver.restart.on(event.clone(), driver.now);
            if was_over {
                prop_assert!(actions.is_empty(), "no actions after the end");
            }
            if let Some(RestartAction::Finish(RestartOutcome::Restarted { run, .. })) = actions.last() {
                prop_assert_eq!(&event, &RestartEvent::HandshakeCompleted(*run));
                prop_assert!(*run != Some(OLD) || !(known && up));
                prop_assert!(gone || known && run.is_some());
            }
            driver.take(actions);
        }
        // Without further events it still ends.
        for _ in 0..10 {
            if driver.restart.is_over() {
                break;
            }
            driver = driver.time_out();
        }
        prop_assert!(driver.restart.is_over());
        let ends = driver.done.iter().filter(|action| matches!(action, RestartAction::Finish(_))).count();
        prop_assert_eq!(ends, 1);
        if preset.unsaved_work {
            prop_assert!(driver.done.iter().all(|action| !matches!(action, RestartAction::End(_))));
        }
        if let RestartOutcome::Failed { failure, .. } = driver.outcome() {
            prop_assert!(failure.what.ends_with('.') && failure.remedy.ends_with('.'));
        }
    }
}
