//! Malformed and unusual replies.

use evermoor_tests::editor::answer::{CallAnswer, Verdict};
use evermoor_tests::fakes::upstream::script::{Act, ScriptedReply};

use super::Play;

/// The answer to a call with this reply. The next call must succeed over the same connection.
async fn replied(reply: ScriptedReply) -> (Play, CallAnswer) {
    let mut play = Play::new().await;
    play.upstream.next(1, "tools/call", Act::Reply(reply)).await;
    let answer = play.record("strange").await;
    assert_eq!(play.upstream.ledger.executions("strange"), 1);
    play.works("after").await;
    (play, answer)
}

async fn is_malformed(reply: ScriptedReply) {
    let (play, answer) = replied(reply).await;
    assert_eq!(answer.why(), (-33020, "malformed_reply"), "{answer:?}");
    assert_eq!(play.upstream.asked("initialize").await, 1, "the connection was kept");
}

async fn is_fine(reply: ScriptedReply) {
    let (play, answer) = replied(reply).await;
    assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
    assert_eq!(play.upstream.asked("initialize").await, 1, "the connection was kept");
}

#[tokio::test]
async fn truncated_json_is_not_a_reply() {
    is_malformed(ScriptedReply::Malformed).await;
}

#[tokio::test]
async fn a_reply_with_result_and_error_is_not_a_reply() {
    is_malformed(ScriptedReply::Both).await;
}

#[tokio::test]
async fn a_reply_to_another_request_is_not_a_reply() {
    is_malformed(ScriptedReply::WrongId).await;
}

#[tokio::test]
async fn a_reply_to_another_request_on_the_stream_is_skipped() {
    is_fine(ScriptedReply::WrongIdFirst).await;
}

#[tokio::test]
async fn a_second_reply_reaches_nobody() {
    is_fine(ScriptedReply::Twice).await;
}

#[tokio::test]
async fn invalid_utf8_is_not_a_reply() {
    is_malformed(ScriptedReply::InvalidUtf8).await;
}

#[tokio::test]
async fn a_reply_with_a_nul_byte_is_not_a_reply() {
    is_malformed(ScriptedReply::Nul).await;
}

#[tokio::test]
async fn a_byte_order_mark_is_skipped() {
    is_fine(ScriptedReply::Bom).await;
}

#[tokio::test]
async fn lines_that_end_in_carriage_returns_are_read() {
    is_fine(ScriptedReply::CarriageReturns).await;
}

#[tokio::test]
async fn absurd_retry_values_change_nothing() {
    is_fine(ScriptedReply::Retry).await;
}

#[tokio::test]
async fn a_reply_in_chunks_is_read() {
    is_fine(ScriptedReply::Chunked).await;
}

#[tokio::test]
async fn a_flood_of_comments_is_skipped() {
    is_fine(ScriptedReply::Comments(40)).await;
}

#[tokio::test]
async fn a_stream_that_ends_before_its_reply_is_unknown() {
    let (_, answer) = replied(ScriptedReply::CutStream).await;
    assert_eq!(answer.why(), (-33010, "eof_before_reply"), "{answer:?}");
}

#[tokio::test]
async fn a_stream_that_ends_inside_its_reply_is_unknown() {
    let (_, answer) = replied(ScriptedReply::CutEvent).await;
    assert_eq!(answer.why(), (-33010, "eof_before_reply"), "{answer:?}");
}

#[tokio::test]
async fn a_stream_with_an_event_id_that_ends_early_is_resumed() {
    let (_, answer) = replied(ScriptedReply::Resumable).await;
    assert_eq!(answer.verdict, Verdict::Done, "{answer:?}");
}

#[tokio::test]
async fn a_stream_cut_inside_a_chunk_is_unknown() {
    use evermoor_tests::network::proxy::NetworkFault;
    let mut play = Play::new().await;
    play.upstream.next(1, "tools/call", Act::Reply(ScriptedReply::Chunked)).await;
    play.proxy.once_on("cut", NetworkFault::FinMidBody).await;
    let answer = play.record("cut").await;
    assert_eq!(answer.why(), (-33010, "eof_before_reply"), "{answer:?}");
    play.works("after").await;
}

#[tokio::test]
async fn an_oversized_reply_is_reported_as_executed() {
    is_too_large(ScriptedReply::Huge(128)).await;
}

#[tokio::test]
async fn an_oversized_event_is_reported_as_executed() {
    is_too_large(ScriptedReply::HugeEvent(128)).await;
}

async fn is_too_large(reply: ScriptedReply) {
    let (play, answer) = replied(reply).await;
    assert_bounded(&play);
    assert_eq!(answer.why(), (-33021, "reply_too_large"), "{answer:?}");
    assert_eq!(answer.details["executed"], "yes");
}

#[tokio::test]
async fn an_endless_comment_is_aborted() {
    let (play, answer) = replied(ScriptedReply::LongComment(128)).await;
    assert_bounded(&play);
    let (code, _) = answer.why();
    assert!([-33010, -33020, -33021].contains(&code), "{answer:?}");
}

/// The gateway never used more memory than twice the largest reply plus its own.
fn assert_bounded(play: &Play) {
    let status = format!("/proc/{}/status", play.gateway.process.pid());
    let Ok(status) = std::fs::read_to_string(status) else { return };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kilobytes: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(kilobytes < 80 * 1024, "the gateway grew to {kilobytes} kB");
}
