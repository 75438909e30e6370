//! Upstreams and intermediaries that answer with an HTTP error status.

use std::time::{Duration, SystemTime};

use evermoor_core::api::UpstreamState;
use evermoor_platform::clock;
use evermoor_tests::Scene;
use evermoor_tests::editor::answer::Verdict;
use evermoor_tests::fakes::upstream::script::Act;

use super::{Play, is_not_sent, timed};

#[tokio::test]
async fn each_status_500_is_relayed_until_the_server_recovers() {
    let mut play = Play::new().await;
    play.upstream.always("tools/call", Act::refuse(500)).await;
    for round in 0..50 {
        let answer = play.record(&format!("storm {round}")).await;
        assert!(matches!(answer.verdict, Verdict::Refused { .. }), "{answer:?}");
    }
    assert_eq!(play.upstream.asked("tools/call").await, 50, "nothing was repeated");
    play.upstream.behave().await;
    play.works("after the storm").await;
}

#[tokio::test]
async fn a_call_lost_by_an_intermediary_is_unknown() {
    let mut play = Play::new().await;
    for status in [502, 504] {
        play.upstream.next(1, "tools/call", Act::refuse(status)).await;
        let answer = play.record(&format!("between {status}")).await;
        assert_eq!(answer.why(), (-33010, "bad_gateway"), "{answer:?}");
        play.works(&format!("after {status}")).await;
    }
}

#[tokio::test]
async fn a_read_lost_by_an_intermediary_is_retried() {
    let mut play = Play::new().await;
    for status in [502, 504] {
        let uri = format!("note:{status}");
        play.upstream.next(2, "resources/read", Act::refuse(status)).await;
        let answer = play.editor.read(&uri).await;
        assert_eq!((&answer.verdict, answer.text.as_str()), (&Verdict::Done, uri.as_str()));
    }
}

#[tokio::test]
async fn a_read_that_is_always_lost_is_tried_three_times() {
    let mut play = Play::new().await;
    play.upstream.always("resources/read", Act::refuse(502)).await;
    let answer = play.editor.read("note:lost").await;
    assert_eq!(answer.why(), (-33010, "bad_gateway"), "{answer:?}");
    assert_eq!(play.upstream.asked("resources/read").await, 3);
}

#[tokio::test]
async fn a_429_is_retried_after_the_given_seconds() {
    let mut play = Play::new().await;
    play.upstream.next(1, "tools/call", Act::refuse_until(429, "2")).await;
    let (answer, took) = timed(play.record("patient")).await;
    assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
    assert!(took >= Duration::from_millis(1900), "{took:?}");
    assert_eq!(play.upstream.asked("tools/call").await, 2);
}

#[tokio::test]
async fn a_429_is_retried_at_the_given_date() {
    let mut play = Play::new().await;
    // An HTTP date has no fractions of a second, so three seconds ahead are at least two.
    let date = http_date(clock::now() + Duration::from_secs(3));
    play.upstream.next(1, "tools/call", Act::refuse_until(429, &date)).await;
    let (answer, took) = timed(play.record("patient")).await;
    assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
    assert!(took >= Duration::from_millis(1900), "{took:?}");
}

#[tokio::test]
async fn a_retry_delay_longer_than_the_hold_is_reported_at_once() {
    let mut play = Play::with("hold = 15", "").await;
    play.upstream.always("tools/call", Act::refuse_until(429, "99999")).await;
    let (answer, took) = timed(play.record("too long")).await;
    assert!(is_not_sent(&answer), "{answer:?}");
    let wait = answer.details["retryAfterMs"].as_u64();
    assert!(wait.is_some_and(|wait| (1..=60_000).contains(&wait)), "{answer:?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert_eq!(play.upstream.asked("tools/call").await, 1);
}

#[tokio::test]
async fn an_unreadable_retry_delay_becomes_a_short_one() {
    let mut play = Play::new().await;
    for garbage in ["soon", "-1", "1e9", "Thu, 32 Foo 2026"] {
        play.upstream.next(1, "tools/call", Act::refuse_until(429, garbage)).await;
        play.works(garbage).await;
    }
}

#[tokio::test]
async fn a_call_refused_with_503_is_relayed_and_not_repeated() {
    let mut play = Play::new().await;
    play.upstream.always("tools/call", Act::refuse_until(503, "1")).await;
    let answer = play.record("unlikely").await;
    assert!(matches!(answer.verdict, Verdict::Refused { .. }), "{answer:?}");
    assert!(answer.text.contains("503"), "{answer:?}");
    assert_eq!(answer.details["executed"], "unlikely", "{answer:?}");
    assert_eq!(play.upstream.asked("tools/call").await, 1);
    play.upstream.behave().await;
    play.works("after").await;
}

#[tokio::test]
async fn a_read_refused_with_503_is_retried_after_the_delay() {
    let mut play = Play::new().await;
    play.upstream.next(2, "resources/read", Act::refuse_until(503, "1")).await;
    let (answer, took) = timed(play.editor.read("note:later")).await;
    assert_eq!(
        (&answer.verdict, answer.text.as_str()),
        (&Verdict::Done, "note:later"),
        "{answer:?}"
    );
    assert!(took >= Duration::from_millis(1900), "{took:?}");
}

#[tokio::test]
async fn a_call_that_needs_credentials_is_not_executed_and_not_retried() {
    let mut play = Play::new().await;
    play.upstream.always("tools/call", Act::refuse(401)).await;
    let answer = play.record("who are you").await;
    assert_eq!(answer.why(), (-33004, "auth_required"), "{answer:?}");
    assert!(play.upstream.asked("tools/call").await <= 2);
    play.upstream.behave().await;
    play.works("after").await;
}

#[tokio::test]
async fn an_upstream_that_needs_credentials_from_the_start_is_shown_as_such() {
    let mut play = Play::with("hold = 1", "").await;
    play.upstream.always("initialize", Act::refuse(401)).await;
    play.upstream.always("tools/call", Act::refuse(404)).await;
    let answer = play.record("who are you").await;
    assert!(is_not_sent(&answer), "{answer:?}");
    let down = play.gateway.until_down("notes").await;
    assert_eq!(down.word(), "Needs sign-in");
}

#[tokio::test]
async fn a_configured_header_that_was_refused_is_named() {
    let scene = Scene::new();
    let upstream = scene.upstream("notes").await;
    upstream.always("initialize", Act::refuse(401)).await;
    upstream.always("server/discover", Act::refuse(401)).await;
    let secret = scene.path("secret");
    std::fs::write(&secret, "expired").unwrap();
    let headers = format!("headers = {{ X-Api-Key = '${{file:{}}}' }}\n", secret.display());
    let gateway = scene.gateway_to("hold = 1", "notes", &upstream.url, &headers).await;
    let down = gateway.until_down("notes").await;
    assert_eq!(down.word(), "Needs sign-in");
    let UpstreamState::Down { failure, .. } = down.link else { panic!("it is down") };
    assert!(failure.what.contains("refused the configured header `x-api-key`"), "{failure}");
    assert!(!failure.to_string().contains("expired"), "{failure}");
}

#[tokio::test]
async fn any_other_refusal_is_the_upstreams_answer_and_the_connection_stays() {
    let mut play = Play::new().await;
    for status in [400, 403, 405, 422, 501] {
        play.upstream.next(1, "tools/call", Act::refuse(status)).await;
        let answer = play.record(&format!("status {status}")).await;
        assert!(matches!(answer.verdict, Verdict::Refused { .. }), "{answer:?}");
        assert!(answer.text.contains(&status.to_string()), "{answer:?}");
    }
    assert_eq!(play.upstream.asked("initialize").await, 1);
}

/// A date in HTTP format.
fn http_date(time: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(time).to_string();
    let (date, clock) = text.trim_end_matches('Z').split_once('T').unwrap();
    let numbers: Vec<usize> = date.split('-').map(|part| part.parse().unwrap()).collect();
    let months =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let days = time.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs() / 86_400;
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let weekday = weekdays[usize::try_from(days % 7).unwrap()];
    let (year, month, day) = (numbers[0], months[numbers[1] - 1], numbers[2]);
    format!("{weekday}, {day:02} {month} {year} {clock} GMT")
}
