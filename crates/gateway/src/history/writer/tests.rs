//! The writer and its file, without tasks or clocks.

use super::super::call_counts::{CallEnd, CurrentTally};
use super::super::message::{IncidentOpened, IncidentQuery};
use super::*;
use evermoor_core::history::incident::{Evidence, Incident, IncidentCause, Resolution};
use evermoor_core::history::samples::{ResourceSample, SAMPLE_INTERVAL};
use tokio::sync::{oneshot, watch};

const NOON: u64 = 1_800_000_000_000;
const DAY: u64 = 86_400_000;

struct TestFolder {
    dir: tempfile::TempDir,
}

impl TestFolder {
    fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("data/history.sqlite")
    }

    fn writer(&self) -> HistoryWriter {
        HistoryWriter::new(self.path())
    }
}

fn tally() -> (Arc<Tally>, CurrentTally) {
    let (sender, receiver) = watch::channel(Arc::new(Tally::new()));
    let tally = Arc::clone(&sender.borrow());
    (tally, CurrentTally(receiver))
}

fn opened(upstream: &str, at: u64) -> HistoryMessage {
    let sign = Failure::new(Code::ConnectionLost, "The connection broke.", "Wait.");
    let (upstream, title) = (upstream.to_owned(), upstream.to_uppercase());
    HistoryMessage::IncidentOpened(IncidentOpened { upstream, title, at, sign, tally: tally().0 })
}

fn ended(upstream: &str, at: u64) -> HistoryMessage {
    HistoryMessage::IncidentEnded {
        upstream: upstream.to_owned(),
        how: Resolution::Reconnected,
        at,
    }
}

fn event(upstream: &str, at: u64, what: &str) -> HistoryMessage {
    HistoryMessage::Event { upstream: upstream.to_owned(), at, what: what.to_owned() }
}

fn ask(
    writer: &mut HistoryWriter,
    asked: IncidentQuery,
    now: u64,
) -> Result<Vec<Incident>, Failure> {
    let (answer, mut answered) = oneshot::channel();
    writer.write(vec![HistoryMessage::QueryIncidents(asked, answer)], now);
    answered.try_recv().unwrap()
}

fn all(writer: &mut HistoryWriter) -> Vec<Incident> {
    ask(writer, IncidentQuery::default(), NOON).unwrap()
}

fn sampled(app: &str, at: u64, memory: u64) -> HistoryMessage {
    let sample = ResourceSample { at, span: SAMPLE_INTERVAL, memory, load: 100, uptime: 5000 };
    HistoryMessage::Sampled { app: app.to_owned(), sample }
}

#[test]
fn an_incident_is_written_from_its_first_failure_to_its_end() {
    let (folder, evidence) =
        (TestFolder::new(), Evidence { source: "x.ips".into(), excerpt: "top".into() });
    let mut writer = folder.writer();
    let cause = IncidentCause { what: "It crashed.".into(), evidence: Some(evidence) };
    let explained =
        HistoryMessage::Explained { upstream: "a".into(), at: NOON + 4, cause: cause.clone() };
    writer.write(vec![sampled("a", NOON - 1000, 7)], NOON);
    writer.write(vec![opened("a", NOON), event("a", NOON + 1, "It was restarted.")], NOON);
    writer.write(vec![ended("a", NOON + 3), explained], NOON);
    let [incident] = &all(&mut writer)[..] else { panic!("one outage") };
    assert_eq!((incident.upstream.as_str(), incident.title.as_str()), ("a", "A"));
    assert_eq!((incident.began, incident.lasted(NOON)), (NOON, 3));
    assert_eq!(incident.end.unwrap().how, Resolution::Reconnected);
    assert_eq!(incident.sign.code, Code::ConnectionLost);
    assert_eq!(incident.cause, Some(cause), "a cause found a little later belongs to it");
    assert_eq!((incident.memory, incident.uptime), (Some(7), Some(6000)));
    assert_eq!(incident.events[0].what, "It was restarted.");
}

#[test]
fn calls_of_an_incident_count_after_its_end_too() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    let (tally, current_tally) = tally();
    let sign = Failure::new(Code::ConnectionLost, "It broke.", "Wait.");
    let open = IncidentOpened { upstream: "a".into(), title: "A".into(), at: NOON, sign, tally };
    writer.write(vec![HistoryMessage::IncidentOpened(open)], NOON);
    let mut call = current_tally.affect();
    call.held();
    writer.write(vec![ended("a", NOON + 1)], NOON);
    assert!(writer.has_open(), "a call is still in flight");
    assert_eq!(all(&mut writer)[0].calls, AffectedCalls { held: 1, ..AffectedCalls::default() });
    call.end(CallEnd::Answered);
    drop(call);
    writer.write(Vec::new(), NOON);
    assert!(!writer.has_open());
    assert_eq!(
        all(&mut writer)[0].calls,
        AffectedCalls { held: 1, answered: 1, ..AffectedCalls::default() }
    );
}

#[test]
fn the_end_of_one_incident_does_not_end_the_next_in_the_same_batch() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    writer.write(vec![opened("a", NOON), ended("a", NOON + 1), opened("a", NOON + 2)], NOON);
    assert!(writer.has_open(), "the second one lasts");
    writer.write(vec![ended("a", NOON + 3)], NOON);
    assert!(!writer.has_open());
}

#[test]
fn an_incident_left_open_by_a_killed_gateway_continues_with_its_gap_marked() {
    let folder = TestFolder::new();
    let mut killed = folder.writer();
    killed.write(vec![opened("a", NOON), opened("gone", NOON)], NOON);
    killed.write(Vec::new(), NOON + 20_000);
    drop(killed);
    let mut writer = folder.writer();
    let (tally, current_tally) = tally();
    let began = HistoryMessage::UpstreamStarted { upstream: "a".into(), tally };
    let present =
        HistoryMessage::UpstreamsChanged { upstreams: vec!["a".into()], at: NOON + 50_000 };
    writer.write(vec![began, present], NOON + 50_000);
    current_tally.affect().end(CallEnd::NotSent);
    writer.write(vec![ended("a", NOON + 60_000)], NOON + 60_000);
    let incidents = all(&mut writer);
    let [gone, a] = &incidents[..] else { panic!("two outages") };
    assert_eq!(gone.end.unwrap().how, Resolution::Removed);
    assert_eq!((a.unwatched, a.lasted(0), a.calls.not_sent), (30_000, 60_000, 1));
    assert!(a.events[0].what.starts_with("No gateway ran since about 2027-01-15"), "{a:?}");
    assert!(!writer.has_open());
}

#[test]
fn queries_filter_by_upstream_and_time() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    writer.write(vec![opened("a", NOON), ended("a", NOON + 5)], NOON);
    writer.write(vec![opened("b", NOON + 1), ended("b", NOON + 2), opened("a", NOON + 9)], NOON);
    let mut names = |upstream: Option<&str>, since| {
        let asked = IncidentQuery { upstream: upstream.map(str::to_owned), since };
        let found = ask(&mut writer, asked, NOON).unwrap();
        found.iter().map(|one| (one.upstream.clone(), one.began - NOON)).collect::<Vec<_>>()
    };
    let (a, b) = ("a".to_owned(), "b".to_owned());
    assert_eq!(names(None, None), [(a.clone(), 9), (b, 1), (a.clone(), 0)]);
    assert_eq!(names(Some("a"), Some(NOON + 5)), [(a.clone(), 9), (a.clone(), 0)]);
    assert_eq!(names(None, Some(NOON + 6)), [(a, 9)]);
}

#[test]
fn a_damaged_file_is_moved_aside_and_replaced() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    writer.write(vec![opened("a", NOON)], NOON);
    drop(writer);
    for damage in [&b"this is no database, and long enough to be looked at"[..], &[0; 9000]] {
        std::fs::write(folder.path(), damage).unwrap();
        let mut writer = folder.writer();
        writer.write(vec![opened("b", NOON)], NOON);
        assert_eq!(all(&mut writer)[0].upstream, "b");
        let aside = folder.dir.path().join("data/history.sqlite.damaged");
        assert_eq!(std::fs::read(aside).unwrap(), damage);
    }
}

#[test]
fn damage_in_the_middle_of_the_file_is_detected() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    let many = (0..200).flat_map(|n| [opened("a", NOON + n), ended("a", NOON + n)]);
    writer.write(many.collect(), NOON);
    drop(writer);
    let mut content = std::fs::read(folder.path()).unwrap();
    let middle = content.len() / 2;
    content[8192..middle].fill(0x5a);
    std::fs::write(folder.path(), content).unwrap();
    let mut writer = folder.writer();
    writer.write(vec![opened("b", NOON)], NOON);
    let names: Vec<String> = all(&mut writer).into_iter().map(|one| one.upstream).collect();
    assert_eq!(names, ["b"]);
}

#[test]
fn an_unwritable_folder_loses_messages_and_queries_fail_with_a_reason() {
    let folder = TestFolder::new();
    std::fs::write(folder.dir.path().join("data"), "a file, not a folder").unwrap();
    let mut writer = folder.writer();
    writer.write(vec![opened("a", NOON)], NOON);
    let refused = ask(&mut writer, IncidentQuery::default(), NOON).unwrap_err();
    assert!(refused.what.starts_with("The history cannot be read"), "{refused}");
    std::fs::remove_file(folder.dir.path().join("data")).unwrap();
    writer.write(vec![opened("b", NOON)], NOON);
    assert_eq!(all(&mut writer)[0].upstream, "b", "it recovers");
}

#[test]
fn a_locked_file_loses_messages_and_recovers_later() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    writer.write(vec![opened("a", NOON)], NOON);
    let other = Connection::open(folder.path()).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    writer.write(vec![event("a", NOON, "lost")], NOON);
    other.execute_batch("COMMIT").unwrap();
    writer.write(vec![event("a", NOON, "kept")], NOON);
    let events = all(&mut writer).remove(0).events;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].what, "kept");
}

/// The size of everything that the history keeps on the disk.
fn size(folder: &TestFolder) -> u64 {
    let files = std::fs::read_dir(folder.dir.path().join("data")).unwrap().flatten();
    files.map(|file| file.metadata().unwrap().len()).sum()
}

#[test]
fn a_year_of_samples_and_incidents_stays_small() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    let (first, apps) = (NOON - 365 * DAY, ["a", "b", "c"]);
    for day in 0..365 {
        // Sparse where it is thinned to hours anyway; the last days are as dense as they are.
        let every = if day < 356 { 1_800_000 } else { SAMPLE_INTERVAL };
        let start = first + day * DAY;
        let times = (0..DAY).step_by(every.try_into().unwrap());
        let looks = times.flat_map(|at| apps.map(|app| sampled(app, start + at, at)));
        writer.write(looks.collect(), start + DAY);
        let outages = (0..10).flat_map(|n| [opened("a", start + n), ended("a", start + n + 1)]);
        writer.write(outages.collect(), start + DAY);
        assert!(size(&folder) < 50 << 20);
    }
    let mib = size(&folder) >> 20;
    assert!(mib < 16, "{mib} MiB for three applications and 3650 outages");
    let (answer, mut answered) = oneshot::channel();
    writer.write(vec![HistoryMessage::QuerySamples { app: "a".into(), since: 0, answer }], NOON);
    let kept = answered.try_recv().unwrap().unwrap();
    assert!((16_000..17_000).contains(&kept.len()), "{}", kept.len());
    assert!(kept[0].at < first + 3_600_000, "the transaction year is there");
}

#[test]
fn the_file_stays_small_when_an_upstream_fails_often() {
    let folder = TestFolder::new();
    let mut writer = folder.writer();
    let text = "x".repeat(4000);
    for round in 0..60 {
        let mut messages = Vec::new();
        for n in 0..100 {
            let at = NOON + round * 1000 + n;
            let evidence = Some(Evidence { source: "x".into(), excerpt: text.clone() });
            let cause = IncidentCause { what: "It crashed.".into(), evidence };
            messages.push(opened("a", at));
            messages.push(HistoryMessage::Explained { upstream: "a".into(), at, cause });
            messages.extend((0..20).map(|_| event("a", at, &text)));
            messages.push(ended("a", at));
        }
        writer.write(messages, NOON);
    }
    assert!(size(&folder) < 50 << 20, "{}", size(&folder));
    let newest = all(&mut writer).remove(0);
    assert_eq!(newest.began, NOON + 59 * 1000 + 99, "the newest is never the one that is missing");
}
