//! The sentences of the status, and the generated TypeScript types.

use super::*;
use crate::history::incident::{
    AffectedCalls, Evidence, Incident, IncidentCause, IncidentEnd, Incidents, Resolution,
    TimedEvent,
};
use crate::history::samples::ResourceSample;
use crate::policy::app::state::NextStep;

fn upstream(title: &str, link: UpstreamState) -> UpstreamStatus {
    UpstreamStatus {
        name: title.to_lowercase(),
        title: title.into(),
        kind: None,
        target: "http://127.0.0.1:1/mcp".into(),
        endpoint: "http://127.0.0.1:7420/mcp/x".into(),
        link,
        tools: 0,
        hidden: 0,
        app: None,
        touched: None,
        sign_in: None,
    }
}

fn connected() -> UpstreamState {
    UpstreamState::Connected { since: 1, server: "x".into() }
}

fn down(code: Code) -> UpstreamState {
    let failure = Failure::new(code, "it happened", "do this");
    UpstreamState::Down { since: 1, retry_at: 2, attempts: 3, failure }
}

fn status(upstreams: Vec<UpstreamStatus>) -> Status {
    Status::of("0".into(), 1, "http://127.0.0.1:7420/mcp".into(), upstreams, vec![])
}

#[test]
fn one_upstream_down_is_named_in_the_sentence() {
    let status = status(vec![
        upstream("PiecesOS", down(Code::ConnectionRefused)),
        upstream("GitHub", connected()),
    ]);
    assert_eq!(status.overall, OverallState::Degraded);
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
    let status = status(vec![upstream("A", connected()), upstream("B", UpstreamState::Connecting)]);
    assert_eq!(status.overall, OverallState::Busy);
    assert_eq!(status.sentence, "Connecting to B");
}

#[test]
fn all_connected_is_healthy() {
    let all = status(vec![upstream("A", connected()), upstream("B", connected())]);
    assert_eq!(
        (all.overall, all.sentence.as_str()),
        (OverallState::Healthy, "Everything is connected")
    );
    assert_eq!(status(vec![upstream("A", connected())]).sentence, "A is connected");
    assert_eq!(status(vec![]).sentence, "No servers are set up yet");
}

#[test]
fn an_upstream_that_is_off_does_not_affect_the_overall_state() {
    let status = status(vec![upstream("A", connected()), upstream("B", UpstreamState::Off)]);
    assert_eq!(
        (status.overall, status.sentence.as_str()),
        (OverallState::Healthy, "A is connected")
    );
    assert_eq!(status.upstreams[1].word(), "Off");
    let off = self::status(vec![upstream("A", UpstreamState::Off)]);
    assert_eq!(off.sentence, "All servers are turned off");
}

#[test]
fn tools_that_are_hidden_are_counted() {
    let counted = |tools, hidden| UpstreamStatus { tools, hidden, ..upstream("A", connected()) };
    assert_eq!(counted(1, 0).tool_count(), "1 tool");
    assert_eq!(counted(30, 18).tool_count(), "12 of 30 tools shown");
}

#[test]
fn a_paused_upstream_does_not_count_as_down() {
    let paused = || UpstreamState::Paused { since: 1 };
    let summary = |links: Vec<UpstreamState>| {
        let upstreams = links.into_iter().zip(["A", "B", "C"]);
        let status = status(upstreams.map(|(link, title)| upstream(title, link)).collect());
        (status.overall, status.sentence)
    };
    let wanted = |overall, sentence: &str| (overall, sentence.to_owned());
    assert_eq!(summary(vec![paused()]), wanted(OverallState::Paused, "A is paused"));
    assert_eq!(
        summary(vec![paused(), paused()]),
        wanted(OverallState::Paused, "All 2 servers are paused")
    );
    assert_eq!(
        summary(vec![connected(), paused()]),
        wanted(OverallState::Healthy, "B is paused; everything else is connected")
    );
    assert_eq!(
        summary(vec![paused(), paused(), connected()]),
        wanted(OverallState::Healthy, "2 servers are paused; everything else is connected")
    );
    let down = summary(vec![paused(), down(Code::Timeout)]);
    assert_eq!(down, wanted(OverallState::Degraded, "B is not responding"));
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
        OverallState::decl(&config),
        UpstreamStatus::decl(&config),
        UpstreamKind::decl(&config),
        UserAction::decl(&config),
        UpstreamState::decl(&config),
        AppStatus::decl(&config),
        NextStep::decl(&config),
        RestartProgress::decl(&config),
        RestartResult::decl(&config),
        Failure::decl(&config),
        Code::decl(&config),
        EditorStatus::decl(&config),
        VisibleCounts::decl(&config),
        ErrorBody::decl(&config),
        Incidents::decl(&config),
        Incident::decl(&config),
        AffectedCalls::decl(&config),
        IncidentCause::decl(&config),
        Evidence::decl(&config),
        TimedEvent::decl(&config),
        IncidentEnd::decl(&config),
        Resolution::decl(&config),
        ResourceSample::decl(&config),
        LogLines::decl(&config),
        LogLine::decl(&config),
        LogLevel::decl(&config),
        Checks::decl(&config),
        Check::decl(&config),
        CheckState::decl(&config),
        FixResult::decl(&config),
        ConnectedClient::decl(&config),
        ClientTransport::decl(&config),
        RecentCalls::decl(&config),
        RecentCall::decl(&config),
        CallOutcome::decl(&config),
        Latency::decl(&config),
        LatencyPoint::decl(&config),
        CatalogListing::decl(&config),
        ToolListing::decl(&config),
        CatalogEntry::decl(&config),
        Timeline::decl(&config),
        TimelineSpan::decl(&config),
        TimelineState::decl(&config),
        TrialCallResult::decl(&config),
        SelfTest::decl(&config),
        Settings::decl(&config),
        TraySettings::decl(&config),
        NotificationLevel::decl(&config),
        UpstreamSettings::decl(&config),
        EditorSettings::decl(&config),
        FilterLists::decl(&config),
        SettingsChange::decl(&config),
        TrayChange::decl(&config),
        UpstreamChange::decl(&config),
        EditorChange::decl(&config),
        FilterListsChange::decl(&config),
        Setup::decl(&config),
        DetectedEditor::decl(&config),
        SetupState::decl(&config),
        EditorServerEntry::decl(&config),
        SetupPreview::decl(&config),
        SetupResult::decl(&config),
        ImportPreview::decl(&config),
        MovedServer::decl(&config),
        KeptServer::decl(&config),
        SignInStatus::decl(&config),
        SignInPage::decl(&config),
        SignInState::decl(&config),
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

/// A tray or command of one version may find a gateway of another.
#[test]
fn the_status_and_the_incidents_of_0_1_0_are_unchanged() {
    fn check<T: serde::Serialize + serde::de::DeserializeOwned>(text: &str) -> T {
        let parsed: T = serde_json::from_str(text).unwrap();
        let wanted: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_value(&parsed).unwrap(), wanted);
        parsed
    }
    let status: Status = check(include_str!("../../../../tests/fixtures/0.1.0/api/status.json"));
    assert_eq!(status.upstreams.len(), 3);
    let incidents: Incidents =
        check(include_str!("../../../../tests/fixtures/0.1.0/api/incidents.json"));
    assert_eq!(incidents.incidents[1].end.unwrap().how, Resolution::Reconnected);
}
