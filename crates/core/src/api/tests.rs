//! The sentences of the status, and the generated TypeScript types.

use super::*;
use crate::history::incident::{Calls, Cause, End, Event, Evidence, How, Incident, Incidents};
use crate::history::samples::Sample;
use crate::policy::app::state::Next;

fn upstream(title: &str, link: Link) -> Upstream {
    Upstream {
        name: title.to_lowercase(),
        title: title.into(),
        target: "http://127.0.0.1:1/mcp".into(),
        endpoint: "http://127.0.0.1:7420/mcp/x".into(),
        link,
        tools: 0,
        hidden: 0,
        app: None,
        touched: None,
    }
}

fn connected() -> Link {
    Link::Connected { since: 1, server: "x".into() }
}

fn down(code: Code) -> Link {
    let failure = Failure::new(code, "it happened", "do this");
    Link::Down { since: 1, retry_at: 2, attempts: 3, failure }
}

fn status(upstreams: Vec<Upstream>) -> Status {
    Status::of("0".into(), 1, "http://127.0.0.1:7420/mcp".into(), upstreams, vec![])
}

#[test]
fn one_upstream_down_is_named_in_the_sentence() {
    let status = status(vec![
        upstream("PiecesOS", down(Code::ConnectionRefused)),
        upstream("GitHub", connected()),
    ]);
    assert_eq!(status.overall, Overall::Degraded);
    assert_eq!(status.sentence, "PiecesOS is not running");
}

#[test]
fn several_upstreams_down_are_counted() {
    let status = status(vec![
        upstream("A", down(Code::ConnectionRefused)),
        upstream("B", down(Code::Timeout)),
        upstream("C", connected()),
    ]);
    assert_eq!(status.sentence, "2 of 3 servers are down");
}

#[test]
fn connecting_is_busy_and_says_to_what() {
    let status = status(vec![upstream("A", connected()), upstream("B", Link::Connecting)]);
    assert_eq!(status.overall, Overall::Busy);
    assert_eq!(status.sentence, "Connecting to B");
}

#[test]
fn all_connected_is_healthy() {
    let all = status(vec![upstream("A", connected()), upstream("B", connected())]);
    assert_eq!(
        (all.overall, all.sentence.as_str()),
        (Overall::Healthy, "All 2 servers are connected")
    );
    assert_eq!(status(vec![upstream("A", connected())]).sentence, "A is connected");
    assert_eq!(status(vec![]).sentence, "No servers are set up yet");
}

#[test]
fn an_upstream_that_is_off_does_not_affect_the_overall_state() {
    let status = status(vec![upstream("A", connected()), upstream("B", Link::Off)]);
    assert_eq!((status.overall, status.sentence.as_str()), (Overall::Healthy, "A is connected"));
    assert_eq!(status.upstreams[1].word(), "Off");
    let off = self::status(vec![upstream("A", Link::Off)]);
    assert_eq!(off.sentence, "All servers are turned off");
}

#[test]
fn tools_that_are_hidden_are_counted() {
    let counted = |tools, hidden| Upstream { tools, hidden, ..upstream("A", connected()) };
    assert_eq!(counted(1, 0).tool_count(), "1 tool");
    assert_eq!(counted(30, 18).tool_count(), "12 of 30 tools shown");
}

#[test]
fn a_paused_upstream_does_not_count_as_down() {
    let paused = || Link::Paused { since: 1 };
    let summary = |links: Vec<Link>| {
        let upstreams = links.into_iter().zip(["A", "B", "C"]);
        let status = status(upstreams.map(|(link, title)| upstream(title, link)).collect());
        (status.overall, status.sentence)
    };
    let wanted = |overall, sentence: &str| (overall, sentence.to_owned());
    assert_eq!(summary(vec![paused()]), wanted(Overall::Paused, "A is paused"));
    assert_eq!(
        summary(vec![paused(), paused()]),
        wanted(Overall::Paused, "All 2 servers are paused")
    );
    assert_eq!(
        summary(vec![connected(), paused()]),
        wanted(Overall::Healthy, "B is paused; everything else is connected")
    );
    assert_eq!(
        summary(vec![paused(), paused(), connected()]),
        wanted(Overall::Healthy, "2 servers are paused; everything else is connected")
    );
    let down = summary(vec![paused(), down(Code::Timeout)]);
    assert_eq!(down, wanted(Overall::Degraded, "B is not responding"));
}

#[test]
fn alerts_are_muted_right_after_a_wake() {
    assert_eq!(status(vec![]).muted_until, None);
    assert_eq!(status(vec![]).since_wake(Some(1_000)).muted_until, Some(46_000));
    let older = serde_json::to_value(status(vec![]).since_wake(None)).unwrap();
    let mut older = older.as_object().unwrap().clone();
    assert_eq!(older.remove("mutedUntil"), Some(serde_json::Value::Null));
    assert!(
        serde_json::from_value::<Status>(older.into()).is_ok(),
        "an older gateway omits the field"
    );
}

/// `npm run types` writes the dashboard's types from the types above. This test fails if the file
/// is out of date.
#[test]
fn the_dashboards_types_match_the_control_api() {
    let config = ts_rs::Config::default();
    let types = [
        Status::decl(&config),
        Overall::decl(&config),
        Upstream::decl(&config),
        Touched::decl(&config),
        Link::decl(&config),
        App::decl(&config),
        Next::decl(&config),
        Restart::decl(&config),
        RestartEnd::decl(&config),
        Failure::decl(&config),
        Code::decl(&config),
        Editor::decl(&config),
        Shown::decl(&config),
        Refusal::decl(&config),
        Incidents::decl(&config),
        Incident::decl(&config),
        Calls::decl(&config),
        Cause::decl(&config),
        Evidence::decl(&config),
        Event::decl(&config),
        End::decl(&config),
        How::decl(&config),
        Sample::decl(&config),
        LogLines::decl(&config),
        LogLine::decl(&config),
        LogLevel::decl(&config),
        Checks::decl(&config),
        Check::decl(&config),
        CheckState::decl(&config),
        Fixed::decl(&config),
        Attached::decl(&config),
        Wire::decl(&config),
        Activity::decl(&config),
        Call::decl(&config),
        CallOutcome::decl(&config),
        Latency::decl(&config),
        LatencyPoint::decl(&config),
        Catalog::decl(&config),
        Tool::decl(&config),
        Item::decl(&config),
        Timeline::decl(&config),
        Span::decl(&config),
        SpanState::decl(&config),
        Trial::decl(&config),
        SelfTest::decl(&config),
        Settings::decl(&config),
        TraySettings::decl(&config),
        Notifications::decl(&config),
        UpstreamSettings::decl(&config),
        EditorSettings::decl(&config),
        Lists::decl(&config),
        SettingsChange::decl(&config),
        TrayChange::decl(&config),
        UpstreamChange::decl(&config),
        EditorChange::decl(&config),
        ListsChange::decl(&config),
        Setup::decl(&config),
        Found::decl(&config),
        Connection::decl(&config),
        FoundEntry::decl(&config),
        SetupPreview::decl(&config),
        SetupDone::decl(&config),
        ImportPreview::decl(&config),
        Moves::decl(&config),
        Stays::decl(&config),
    ];
    let header = "// Generated from crates/core/src/api by `npm run types`. Do not edit.\n";
    let wanted =
        types.iter().fold(String::from(header), |file, decl| format!("{file}\nexport {decl}\n"));
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../ui/src/lib/types.ts");
    if std::env::var_os("EVERMOOR_WRITE_TYPES").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    assert_eq!(found, wanted, "ui/src/lib/types.ts is stale: run `npm run types`");
}
