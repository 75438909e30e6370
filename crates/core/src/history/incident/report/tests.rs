//! Tests of the report.

use super::*;
use crate::failure::{Code, Failure};
use crate::history::incident::{Evidence, IncidentCause, IncidentEnd, Resolution, TimedEvent};
use proptest::prelude::*;

const NOON: u64 = 1_763_208_000_000;

fn environment() -> ReportEnvironment {
    ReportEnvironment {
        evermoor: "0.1.0".into(),
        system: "Linux (Debian GNU/Linux 12), x86_64".into(),
        upstreams: vec![("PiecesOS".into(), "pieces-mcp 12.3.10".into())],
    }
}

fn incident(cause: Option<IncidentCause>, end: Option<IncidentEnd>) -> Incident {
    Incident {
        id: 1,
        upstream: "pieces".into(),
        title: "PiecesOS".into(),
        began: NOON,
        sign: Failure::new(Code::ConnectionLost, "The connection broke.", "Wait."),
        cause,
        memory: Some(2662 << 20),
        uptime: Some(3 * 86_400_000),
        calls: AffectedCalls { held: 3, answered: 2, unknown: 1, not_sent: 1 },
        events: vec![TimedEvent {
            at: NOON + 400,
            what: "It was restarted\nautomatically.".into(),
        }],
        end,
        unwatched: 0,
    }
}

fn crash() -> Option<IncidentCause> {
    let excerpt = "Exception: EXC_CRASH (SIGABRT)\n```\nThread 0 Crashed:".into();
    let evidence = Some(Evidence { source: "Pieces OS-2025-11-15.ips".into(), excerpt });
    Some(IncidentCause { what: "It crashed (SIGABRT).".into(), evidence })
}

#[test]
fn a_report_has_environment_totals_timeline_and_evidence() {
    let back = Some(IncidentEnd { at: NOON + 8_000, how: Resolution::Reconnected });
    let still = Incident { began: NOON + 60_000, unwatched: 5_000, ..incident(None, None) };
    let incidents = [still, incident(crash(), back)];
    let week = Some(7 * 86_400_000);
    insta::assert_snapshot!(markdown(&environment(), &incidents, week, NOON + 90_000));
}

#[test]
fn a_report_about_nothing_says_so() {
    insta::assert_snapshot!(markdown(&environment(), &[], Some(86_400_000), NOON));
}

#[test]
fn a_report_shows_what_a_server_said_as_text() {
    let said = "down ![](http://evil.example/x.png) @octocat <img src=x> \x1b[2J";
    let sign = Failure::new(Code::Refused, said, "Wait.");
    let server = format!("{said}\n# Forged heading");
    let environment =
        ReportEnvironment { upstreams: vec![("Notes".into(), server)], ..environment() };
    let incident = Incident { sign, ..incident(None, None) };
    let made = markdown(&environment, &[incident], None, NOON);
    for active in ["![](", "://evil", "@octocat", "\n# Forged", "\x1b"] {
        assert!(
            !made.contains(active) || made.contains("\\://evil") && active == "://evil",
            "{made}"
        );
    }
    assert!(!made.contains(" <img"), "{made}");
}

proptest! {
    #[test]
    fn no_text_breaks_the_markdown(words in "\\PC{0,30}", excerpt in "[`a\\n]{0,40}") {
        let cause = IncidentCause {
            what: words.clone(),
            evidence: Some(Evidence { source: words.clone(), excerpt: excerpt.clone() }),
        };
        let made = markdown(&environment(), &[incident(Some(cause), None)], None, NOON);
        let rows: Vec<&str> = made.lines().filter(|line| line.starts_with("| 2025")).collect();
        prop_assert_eq!(rows.len(), 1);
        let bars = rows[0].replace("\\|", "").matches('|').count();
        prop_assert_eq!(bars, 10, "{}", rows[0]);
        let opened = made.lines().find(|line| line.ends_with("text") && line.starts_with("```"));
        prop_assert_eq!(opened.is_some(), !excerpt.trim().is_empty(), "{}", made);
        if let Some(fence) = opened.map(|line| line.trim_end_matches("text")) {
            prop_assert_eq!(made.lines().filter(|line| *line == fence).count(), 1, "{}", made);
        }
    }
}
