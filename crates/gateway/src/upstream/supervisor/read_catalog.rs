//! Reads the catalog of an upstream: every list it offers, page by page.

use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::catalog::{Catalog, ListKind};
use evermoor_core::failure::Failure;
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::Handshake;

use super::failures::slow_lists;
use crate::upstream::transport::connection::Connection;

/// How long reading all lists of an upstream may take.
pub(super) const LISTING_LIMIT: Duration = Duration::from_secs(10);

/// No real server has more pages; one that does repeats its cursors.
const MOST_PAGES: usize = 200;

/// Reads the whole catalog, within the time limit.
pub(super) async fn catalog(
    connection: &Connection,
    handshake: &Handshake,
) -> Result<Catalog, Failure> {
    timeout(LISTING_LIMIT, read(connection, handshake)).await.unwrap_or_else(|_| Err(slow_lists()))
}

async fn read(connection: &Connection, handshake: &Handshake) -> Result<Catalog, Failure> {
    let mut catalog = Catalog::default();
    for list in ListKind::ALL.into_iter().filter(|list| handshake.offers(list.capability())) {
        match pages(connection, list).await {
            Ok(items) => *catalog.list_mut(list) = items,
            // Many servers offer resources but do not implement templates: the list is empty.
            Err(failure) if list == ListKind::Templates => {
                tracing::debug!(%failure, "no resource templates");
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(catalog)
}

async fn pages(connection: &Connection, list: ListKind) -> Result<Vec<Raw>, Failure> {
    let (mut items, mut params) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let page = connection.request(list.method(), params.take()).await?;
        items.extend(page.member(list.member()).and_then(|raw| raw.elements()).unwrap_or_default());
        match page.text_member("nextCursor") {
            Some(cursor) => params = Some(Raw::of(&serde_json::json!({ "cursor": cursor }))),
            None => break,
        }
    }
    Ok(items)
}
