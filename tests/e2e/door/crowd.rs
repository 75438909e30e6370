//! More connections than there should be.

use evermoor_tests::Scene;
use evermoor_tests::socket::Socket;
use serde_json::json;

use super::gateway;

const STRANGERS: usize = 500;
const GUESTS: usize = 64;

#[tokio::test]
async fn of_five_hundred_silent_strangers_a_few_may_stay_and_a_healthy_client_does_not_notice() {
    let scene = Scene::new();
    let (gateway, _) = gateway(&scene).await;
    let mut known = gateway.editor("/mcp").await;
    let mut strangers = Vec::new();
    for _ in 0..STRANGERS {
        strangers.push(Socket::to(&gateway).await);
    }
    let mut newcomer = gateway.editor("/mcp").await;
    for editor in [&mut known, &mut newcomer] {
        let sum = editor.call("demo__add", &json!({ "a": 1, "b": 2 })).await;
        assert_eq!(sum["content"][0]["text"], "3");
    }
    // The newcomer was served behind all the strangers, so all but a few had to go before it.
    let (early, late) = strangers.split_at_mut(STRANGERS - GUESTS);
    for stranger in early {
        stranger.closed().await;
    }
    let staying = late.iter().filter(|stranger| stranger.is_silent()).count();
    assert!(staying <= GUESTS, "{staying}");
}
