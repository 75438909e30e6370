//! Makes a connection ready for use: its lists are read, and it is subscribed to what editors want.

use std::convert::Infallible;
use std::sync::Arc;

use tokio::sync::watch;

use evermoor_core::catalog::limits::CatalogLimits;
use evermoor_core::failure::Failure;

use super::read_catalog;
use crate::upstream::subscriptions::SubscriptionSet;
use crate::upstream::transport::connection::Connected;
use crate::upstream::transport::connector::Connect;
use crate::upstream::{KnownCatalog, LiveConnection};

/// What an attempt to connect results in.
pub(super) struct Established {
    pub(super) connected: Connected,
    pub(super) known: KnownCatalog,
    pub(super) subscribed: SubscriptionSet,
}

/// Makes a connection, reads the catalog, and subscribes to what editors want.
pub(super) async fn establish(
    connector: &mut impl Connect,
    wanted: watch::Receiver<SubscriptionSet>,
    limits: CatalogLimits,
) -> Result<Established, Failure> {
    let connected = connector.connect().await?;
    let (connection, handshake) = (&connected.connection, connected.handshake.clone());
    let known = read_catalog::catalog(connection, handshake, connector.transport(), limits).await?;
    let subscribed = wanted.borrow().clone();
    connected.connection.subscribe(wanted, &connected.handshake).await;
    Ok(Established { connected, known, subscribed })
}

/// Unsubscribes a connection from what no editor wants any more, as long as it is polled.
pub(super) async fn unsubscribe_unwanted(
    ready: Arc<LiveConnection>,
    mut wanted: watch::Receiver<SubscriptionSet>,
    mut subscribed: SubscriptionSet,
) -> Infallible {
    loop {
        let now = wanted.borrow_and_update().clone();
        if now != subscribed {
            ready.connection.unsubscribe(&subscribed, &now).await;
            subscribed = now;
        }
        if wanted.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}
