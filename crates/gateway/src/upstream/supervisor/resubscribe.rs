//! A new connection is asked for everything that editors wanted to hear of on the last one.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::{Handshake, method};

use crate::upstream::subscriptions::Wanted;
use crate::upstream::transport::connection::Connection;

/// A server that is slow about it is not kept from its calls for longer.
const LIMIT: Duration = Duration::from_secs(5);
const COURTESY: Duration = Duration::from_secs(1);

/// Asks for the log level and for every resource. What fails is a resource that is gone, or a
/// server that offers none; neither is a reason not to use the connection.
pub(crate) async fn replay(connection: &Connection, handshake: &Handshake, wanted: Wanted) {
    let replayed = timeout(LIMIT, ask_for_all(connection, handshake, wanted)).await;
    if replayed.is_err() {
        tracing::debug!("not everything was subscribed to again in time");
    }
}

/// Stops what nobody wants any more. It is only a courtesy, so it must not take long.
pub(crate) async fn stop(connection: &Connection, before: &Wanted, now: &Wanted) {
    let stopping = async {
        for uri in before.resources.difference(&now.resources) {
            let params = Raw::of(&serde_json::json!({ "uri": uri }));
            ask(connection, method::UNSUBSCRIBE, params).await;
        }
        if let Some(level) = now.level.filter(|level| before.level.is_some_and(|old| old < *level))
        {
            let params = Raw::of(&serde_json::json!({ "level": level.as_str() }));
            ask(connection, method::SET_LEVEL, params).await;
        }
    };
    let _ = timeout(COURTESY, stopping).await;
}

async fn ask_for_all(connection: &Connection, handshake: &Handshake, wanted: Wanted) {
    if let Some(level) = wanted.level.filter(|_| handshake.offers("logging")) {
        let params = Raw::of(&serde_json::json!({ "level": level.as_str() }));
        ask(connection, method::SET_LEVEL, params).await;
    }
    for uri in wanted.resources {
        let params = Raw::of(&serde_json::json!({ "uri": uri }));
        ask(connection, method::SUBSCRIBE, params).await;
    }
}

async fn ask(connection: &Connection, called: &str, params: Raw) {
    if let Err(failure) = connection.ask(called, Some(params)).await {
        tracing::debug!(%failure, "not asked for again");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::transport::duplex;
    use crate::upstream::transport::duplex::Outgoing;
    use evermoor_core::protocol::envelope::{Message, Response};
    use evermoor_core::protocol::log_level::Level;
    use tokio::sync::mpsc;

    fn wanted(resources: &[&str], level: Option<Level>) -> Wanted {
        let resources = resources.iter().map(|uri| (*uri).to_owned()).collect();
        Wanted { resources, level, ..Wanted::default() }
    }

    fn handshake() -> Handshake {
        let result = serde_json::json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "logging": {}, "resources": { "subscribe": true } },
            "serverInfo": { "name": "s", "version": "1" },
        });
        Handshake::read(&Raw::of(&result)).unwrap()
    }

    /// What a server is asked for while `asking` runs; it refuses what it is asked about `gone`.
    async fn heard(asking: impl AsyncFnOnce(&Connection)) -> Vec<String> {
        let (channel, inbox, mut received, _incoming) = duplex::channel();
        let connection = Connection::Duplex(Box::new(channel));
        let (told, mut heard) = mpsc::channel(16);
        let serve = async {
            while let Some(Outgoing { text, fate }) = received.recv().await {
                fate.send(Ok(()));
                let Ok(Message::Request(request)) = Message::parse(&text) else { continue };
                let params = request.params.as_ref().map_or("", |params| params.as_str());
                told.send(format!("{} {params}", request.method)).await.unwrap();
                let answer = match params.contains("gone") {
                    true => Response::error(Some(request.id), -32002, "It is gone."),
                    false => Response::result(request.id, Raw::of(&serde_json::json!({}))),
                };
                inbox.deliver(Message::Response(answer));
            }
        };
        tokio::select! {
            () = asking(&connection) => {}
            () = serve => {}
        }
        drop(told);
        let mut all = Vec::new();
        while let Some(one) = heard.recv().await {
            all.push(one);
        }
        all
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_connection_is_asked_for_all_that_the_last_one_was() {
        let asked = heard(async |connection| {
            let all = wanted(&["x://1", "x://gone", "x://2"], Some(Level::Info));
            replay(connection, &handshake(), all).await;
        });
        assert_eq!(
            asked.await,
            [
                r#"logging/setLevel {"level":"info"}"#,
                r#"resources/subscribe {"uri":"x://1"}"#,
                r#"resources/subscribe {"uri":"x://2"}"#,
                r#"resources/subscribe {"uri":"x://gone"}"#,
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_wants_any_more_is_given_up() {
        let asked = heard(async |connection| {
            let before = wanted(&["x://1", "x://2"], Some(Level::Debug));
            stop(connection, &before, &wanted(&["x://2"], Some(Level::Error))).await;
        });
        assert_eq!(
            asked.await,
            [r#"resources/unsubscribe {"uri":"x://1"}"#, r#"logging/setLevel {"level":"error"}"#]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_answers_nothing_keeps_the_connection_waiting_no_longer_than_the_limit() {
        let (channel, _inbox, _received, _incoming) = duplex::channel();
        let began = tokio::time::Instant::now();
        replay(&Connection::Duplex(Box::new(channel)), &handshake(), wanted(&["x://1"], None))
            .await;
        assert_eq!(began.elapsed(), LIMIT);
    }
}
