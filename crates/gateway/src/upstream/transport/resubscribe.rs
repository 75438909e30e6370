//! Restores the subscriptions and the log level of editors on a new connection.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{Handshake, method};

use crate::upstream::subscriptions::SubscriptionSet;
use crate::upstream::transport::connection::Connection;

/// Calls wait no longer than this for a server that is slow to subscribe.
const LIMIT: Duration = Duration::from_secs(5);
const UNSUBSCRIBE_LIMIT: Duration = Duration::from_secs(1);

/// Sets the log level and subscribes to every resource. Errors are ignored: the resource is gone or
/// the server offers no subscriptions, and the connection is usable either way.
pub(crate) async fn restore(
    connection: &Connection,
    handshake: &Handshake,
    wanted: SubscriptionSet,
) {
    let restored = timeout(LIMIT, subscribe_all(connection, handshake, wanted)).await;
    if restored.is_err() {
        tracing::debug!("some subscriptions were not restored in time");
    }
}

/// Unsubscribes from what no editor wants any more. Nothing depends on it, so it must not take long.
pub(crate) async fn unsubscribe(
    connection: &Connection,
    before: &SubscriptionSet,
    now: &SubscriptionSet,
) {
    let unsubscribing = async {
        for uri in before.resources.difference(&now.resources) {
            let params = Raw::of(&serde_json::json!({ "uri": uri }));
            send(connection, method::UNSUBSCRIBE, params).await;
        }
        if let Some(level) = now.level.filter(|level| before.level.is_some_and(|old| old < *level))
        {
            let params = Raw::of(&serde_json::json!({ "level": level.as_str() }));
            send(connection, method::SET_LEVEL, params).await;
        }
    };
    let _ = timeout(UNSUBSCRIBE_LIMIT, unsubscribing).await;
}

async fn subscribe_all(connection: &Connection, handshake: &Handshake, wanted: SubscriptionSet) {
    if let Some(level) = wanted.level.filter(|_| handshake.offers("logging")) {
        let params = Raw::of(&serde_json::json!({ "level": level.as_str() }));
        send(connection, method::SET_LEVEL, params).await;
    }
    for uri in wanted.resources {
        let params = Raw::of(&serde_json::json!({ "uri": uri }));
        send(connection, method::SUBSCRIBE, params).await;
    }
}

async fn send(connection: &Connection, method: &str, params: Raw) {
    if let Err(failure) = connection.request(method, Some(params)).await {
        tracing::debug!(%failure, "a subscription was not restored");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::transport::duplex;
    use crate::upstream::transport::duplex::Outgoing;
    use evermoor_core::protocol::envelope::{Message, Response};
    use evermoor_core::protocol::log_level::LoggingLevel;
    use tokio::sync::mpsc;

    fn wanted(resources: &[&str], level: Option<LoggingLevel>) -> SubscriptionSet {
        let resources = resources.iter().map(|uri| (*uri).to_owned()).collect();
        SubscriptionSet { resources, level, ..SubscriptionSet::default() }
    }

    fn handshake() -> Handshake {
        let result = serde_json::json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "logging": {}, "resources": { "subscribe": true } },
            "serverInfo": { "name": "s", "version": "1" },
        });
        Handshake::read(&Raw::of(&result)).unwrap()
    }

    /// The requests that a server receives while `run` runs. It refuses those about `gone`.
    async fn requests(run: impl AsyncFnOnce(&Connection)) -> Vec<String> {
        let (channel, inbox, mut received, _incoming) = duplex::channel();
        let connection = Connection::Duplex(Box::new(channel));
        let (seen, mut requests) = mpsc::channel(16);
        let serve = async {
            while let Some(Outgoing { text, receipt }) = received.recv().await {
                receipt.send(Ok(()));
                let Ok(Message::Request(request)) = Message::parse(&text) else { continue };
                let params = request.params.as_ref().map_or("", |params| params.as_str());
                seen.send(format!("{} {params}", request.method)).await.unwrap();
                let answer = match params.contains("gone") {
                    true => Response::error(Some(request.id), -32002, "It is gone."),
                    false => Response::result(request.id, Raw::of(&serde_json::json!({}))),
                };
                inbox.deliver(Message::Response(answer), None);
            }
        };
        tokio::select! {
            () = run(&connection) => {}
            () = serve => {}
        }
        drop(seen);
        let mut all = Vec::new();
        while let Some(one) = requests.recv().await {
            all.push(one);
        }
        all
    }

    #[tokio::test(start_paused = true)]
    async fn all_subscriptions_are_restored_on_a_new_connection() {
        let sent = requests(async |connection| {
            let all = wanted(&["x://1", "x://gone", "x://2"], Some(LoggingLevel::Info));
            restore(connection, &handshake(), all).await;
        });
        assert_eq!(
            sent.await,
            [
                r#"logging/setLevel {"level":"info"}"#,
                r#"resources/subscribe {"uri":"x://1"}"#,
                r#"resources/subscribe {"uri":"x://2"}"#,
                r#"resources/subscribe {"uri":"x://gone"}"#,
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_no_editor_wants_any_more_is_unsubscribed() {
        let sent = requests(async |connection| {
            let before = wanted(&["x://1", "x://2"], Some(LoggingLevel::Debug));
            unsubscribe(connection, &before, &wanted(&["x://2"], Some(LoggingLevel::Error))).await;
        });
        assert_eq!(
            sent.await,
            [r#"resources/unsubscribe {"uri":"x://1"}"#, r#"logging/setLevel {"level":"error"}"#]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_never_answers_delays_the_connection_no_longer_than_the_limit() {
        let (channel, _inbox, _received, _incoming) = duplex::channel();
        let began = tokio::time::Instant::now();
        restore(&Connection::Duplex(Box::new(channel)), &handshake(), wanted(&["x://1"], None))
            .await;
        assert_eq!(began.elapsed(), LIMIT);
    }
}
