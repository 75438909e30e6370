//! The history through its handle: messages never wait, queries do.

use super::*;
use evermoor_core::history::incident::Resolution;
use evermoor_platform::clock;

fn start(path: PathBuf) -> (History, CancellationToken, TaskTracker) {
    start_with(path, WriteLease::new(true))
}

fn start_with(path: PathBuf, lease: WriteLease) -> (History, CancellationToken, TaskTracker) {
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let (history, keep) =
        History::start(path, lease, ClockAndRandom::real(), tasks.clone(), stop.clone());
    tasks.spawn(keep);
    (history, stop, tasks)
}

fn failure() -> Failure {
    Failure::new(Code::ConnectionLost, "It broke.", "Wait.")
}

#[tokio::test]
async fn an_answer_includes_everything_sent_before() {
    let folder = tempfile::tempdir().unwrap();
    let (history, ..) = start(folder.path().join("history.sqlite"));
    let mut recorder = history.of("a");
    recorder.is_over(Resolution::Reconnected, clock::now());
    recorder.went_down("A", &failure(), clock::now());
    history.add_event("a", clock::now(), "It was restarted.");
    let found = history.incidents(IncidentQuery::default()).await.unwrap();
    assert_eq!((found.len(), found[0].events.len(), found[0].end), (1, 1, None));
    recorder.is_over(Resolution::Reconnected, clock::now());
    let found = history.incidents(IncidentQuery::default()).await.unwrap();
    assert_eq!(found[0].end.unwrap().how, Resolution::Reconnected);
}

#[tokio::test]
async fn samples_are_kept_per_application() {
    let folder = tempfile::tempdir().unwrap();
    let (history, ..) = start(folder.path().join("history.sqlite"));
    let now = millis(clock::now());
    let sample = ResourceSample { at: now, span: 15_000, memory: 5, load: 1, uptime: 2 };
    history.sample("a", sample);
    assert_eq!(history.samples("a", 0).await.unwrap(), [sample]);
    assert_eq!(history.samples("b", 0).await.unwrap(), []);
}

#[tokio::test]
async fn everything_sent_is_written_before_the_history_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.sqlite");
    let (history, stop, tasks) = start(path.clone());
    let mut recorder = history.of("a");
    recorder.is_over(Resolution::Reconnected, clock::now());
    recorder.went_down("A", &failure(), clock::now());
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    let (history, ..) = start(path);
    let found = history.incidents(IncidentQuery::default()).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].end, None, "its end was not observed");
}

#[tokio::test]
async fn messages_without_the_lease_are_written_when_it_returns() {
    let folder = tempfile::tempdir().unwrap();
    let lease = WriteLease::new(true);
    let (history, ..) = start_with(folder.path().join("history.sqlite"), lease.clone());
    let mut recorder = history.of("a");
    recorder.is_over(Resolution::Reconnected, clock::now());
    assert_eq!(history.incidents(IncidentQuery::default()).await.unwrap(), []);
    lease.release().await;
    recorder.went_down("A", &failure(), clock::now());
    let found = history.incidents(IncidentQuery::default()).await.unwrap();
    assert_eq!(found, [], "reads work, writes wait");
    lease.grant();
    let mut found = Vec::new();
    while found.is_empty() {
        found = history.incidents(IncidentQuery::default()).await.unwrap();
    }
    assert_eq!((found.len(), found[0].end), (1, None));
}

#[tokio::test]
async fn a_successor_continues_an_incident_and_the_old_gateway_writes_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.sqlite");
    let (lease, next_pen) = (WriteLease::new(true), WriteLease::new(false));
    let (old, stop, tasks) = start_with(path.clone(), lease.clone());
    let mut before = old.of("a");
    before.is_over(Resolution::Reconnected, clock::now());
    before.went_down("A", &failure(), clock::now());
    let began = old.incidents(IncidentQuery::default()).await.unwrap().remove(0);
    let (new, ..) = start_with(path, next_pen.clone());
    let mut after = new.of("a");
    lease.release().await;
    next_pen.grant();
    before.is_over(Resolution::Reconnected, clock::now());
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    let lasts = new.incidents(IncidentQuery::default()).await.unwrap().remove(0);
    assert_eq!(lasts, began, "it was watched without a gap, and it has not ended");
    after.is_over(Resolution::Reconnected, clock::now());
    let over = new.incidents(IncidentQuery::default()).await.unwrap();
    assert_eq!((over.len(), over[0].end.unwrap().how), (1, Resolution::Reconnected));
}

#[tokio::test]
async fn sending_never_waits() {
    let (history, received) = History::observed();
    for number in 0..QUEUE_CAPACITY * 2 {
        history.add_event("a", clock::now(), number.to_string());
    }
    assert_eq!(received.len(), QUEUE_CAPACITY);
}
