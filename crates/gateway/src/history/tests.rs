//! The history as everybody sees it: told without waiting, asked with patience.

use super::*;
use evermoor_core::incident::How;

fn start(path: PathBuf) -> (History, CancellationToken, TaskTracker) {
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let (history, keep) = History::start(path, Chance::real(), tasks.clone(), stop.clone());
    tasks.spawn(keep);
    (history, stop, tasks)
}

fn failure() -> Failure {
    Failure::new(Code::ConnectionLost, "It broke.", "Wait.")
}

#[tokio::test]
async fn what_was_told_is_in_the_next_answer() {
    let folder = tempfile::tempdir().unwrap();
    let (history, ..) = start(folder.path().join("history.sqlite"));
    let mut chronicle = history.of("a");
    chronicle.is_over(How::Reconnected, SystemTime::now());
    chronicle.went_down("A", &failure(), SystemTime::now());
    history.tell("a", SystemTime::now(), "It was restarted.");
    let found = history.incidents(Asked::default()).await.unwrap();
    assert_eq!((found.len(), found[0].events.len(), found[0].end), (1, 1, None));
    chronicle.is_over(How::Reconnected, SystemTime::now());
    let found = history.incidents(Asked::default()).await.unwrap();
    assert_eq!(found[0].end.unwrap().how, How::Reconnected);
}

#[tokio::test]
async fn samples_are_kept_per_application() {
    let folder = tempfile::tempdir().unwrap();
    let (history, ..) = start(folder.path().join("history.sqlite"));
    let now = millis(SystemTime::now());
    let sample = Sample { at: now, span: 15_000, memory: 5, load: 1, uptime: 2 };
    history.sample("a", sample);
    assert_eq!(history.samples("a", 0).await.unwrap(), [sample]);
    assert_eq!(history.samples("b", 0).await.unwrap(), []);
}

#[tokio::test]
async fn a_history_that_stops_writes_what_it_was_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.sqlite");
    let (history, stop, tasks) = start(path.clone());
    let mut chronicle = history.of("a");
    chronicle.is_over(How::Reconnected, SystemTime::now());
    chronicle.went_down("A", &failure(), SystemTime::now());
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    let (history, ..) = start(path);
    let found = history.incidents(Asked::default()).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].end, None, "nobody saw its end");
}

#[tokio::test]
async fn telling_never_waits_however_much_is_told() {
    let (history, told) = History::listened();
    for number in 0..QUEUE * 2 {
        history.tell("a", SystemTime::now(), number.to_string());
    }
    assert_eq!(told.len(), QUEUE);
}
