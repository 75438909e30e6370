//! A new connection is asked for everything that editors wanted to hear of on the last one.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::json::Raw;
use evermoor_core::protocol::{Handshake, method};

use super::connection::Connection;
use crate::interests::Wanted;

/// A server that is slow about it is not kept from its calls for longer.
const LIMIT: Duration = Duration::from_secs(5);
const COURTESY: Duration = Duration::from_secs(1);

/// Asks for the log level and for every resource. What fails is a resource that is gone, or a
/// server that offers none; neither is a reason not to use the connection.
pub(super) async fn replay(connection: &Connection, handshake: &Handshake, wanted: Wanted) {
    let replayed = timeout(LIMIT, ask_for_all(connection, handshake, wanted)).await;
    if replayed.is_err() {
        tracing::debug!("not everything was subscribed to again in time");
    }
}

/// Stops what nobody wants any more. It is only a courtesy, so it must not take long.
pub(super) async fn stop(connection: &Connection, before: &Wanted, now: &Wanted) {
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
