//! Guessing tokens and sessions is rate-limited; valid ones are not affected.

use evermoor_tests::Scene;
use http::StatusCode;

use super::{gateway, post};

#[tokio::test]
async fn after_twenty_wrong_tokens_further_ones_get_429_and_a_valid_one_works() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    for number in 0..30 {
        let wrong = format!("Bearer guess-{number}");
        let answer = post(&gateway, "/mcp", &[("authorization", &wrong)]).await;
        let wanted =
            if number < 20 { StatusCode::UNAUTHORIZED } else { StatusCode::TOO_MANY_REQUESTS };
        assert_eq!(answer.status(), wanted, "{number}");
        assert_eq!(answer.headers().contains_key("retry-after"), number >= 20);
        let right = post(&gateway, "/mcp", &[("authorization", &bearer)]).await;
        assert_eq!(right.status(), StatusCode::BAD_REQUEST, "it is let in, without a session");
    }
    let none = post(&gateway, "/mcp", &[]).await;
    assert_eq!(none.status(), StatusCode::UNAUTHORIZED, "whoever shows none guesses nothing");
}

#[tokio::test]
async fn guessing_sessions_is_answered_with_404_then_429_and_a_valid_session_keeps_working() {
    let scene = Scene::new();
    let (gateway, bearer) = gateway(&scene).await;
    let mut editor = gateway.editor("/mcp").await;
    let mut statuses = Vec::new();
    for number in 0..400 {
        let guess = format!("guess-{number}");
        let headers = [("authorization", bearer.as_str()), ("mcp-session-id", &guess)];
        statuses.push(post(&gateway, "/mcp", &headers).await.status());
    }
    let refused = statuses.iter().position(|status| *status != StatusCode::NOT_FOUND).unwrap();
    let rest = &statuses[refused..];
    assert!(rest.iter().all(|status| *status == StatusCode::TOO_MANY_REQUESTS), "{statuses:?}");
    editor.ask("ping", &serde_json::json!({})).await;
    let other = gateway.add_editor("other").await;
    let bearer = format!("Bearer {other}");
    let headers = [("authorization", bearer.as_str()), ("mcp-session-id", "guess")];
    assert_eq!(post(&gateway, "/mcp", &headers).await.status(), StatusCode::NOT_FOUND);
}
