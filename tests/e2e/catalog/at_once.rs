//! Known lists are answered at once, whatever the upstream does.

use std::time::Duration;

use evermoor_tests::fakes::upstream::script::Act;
use tokio::time::Instant;

use super::*;

const LISTS: [&str; 4] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
/// How often each list is read. The machine may be busy for a moment, but not each time.
const READS: usize = 5;
const AT_ONCE: Duration = Duration::from_millis(50);

/// Reads every list, and checks that it is complete and comes at once.
async fn all_at_once(wire: &Wire, known: &[Vec<String>], state: &str) {
    for (list, expected) in LISTS.into_iter().zip(known) {
        let mut quickest = Duration::MAX;
        for _ in 0..READS {
            let began = Instant::now();
            assert_eq!(&listed(wire, list).await, expected, "{list} while {state}");
            quickest = quickest.min(began.elapsed());
        }
        assert!(quickest < AT_ONCE, "{list} takes {quickest:?} while {state}");
    }
}

#[tokio::test]
async fn every_known_list_is_answered_at_once_while_its_server_is_down_restarts_or_hangs() {
    let mut library = Library::open("keepalive_interval = 1", "").await;
    let wire = Wire::to(&library.gateway, "/mcp/notes").initialized(LATEST, json!({})).await;
    let mut known = Vec::new();
    for list in LISTS {
        known.push(listed(&wire, list).await);
    }
    assert!(known.iter().all(|list| !list.is_empty()), "{known:?}");

    library.notes.freeze();
    library.gateway.until_down("notes").await;
    all_at_once(&wire, &known, "it hangs").await;
    library.notes.thaw();
    library.gateway.until_connected("notes").await;

    library.notes.always("initialize", Act::Hang).await;
    library.gateway.control(Method::POST, "/api/upstreams/notes/reconnect").await;
    all_at_once(&wire, &known, "it restarts").await;

    library.notes.kill().await;
    library.gateway.until_down("notes").await;
    all_at_once(&wire, &known, "it is down").await;
}
