//! Reads what an upstream offers: every list it has, every page of each.

use evermoor_core::catalog::{Catalog, List};
use evermoor_core::failure::Failure;
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::Handshake;

use crate::upstream::transport::connection::Connection;

/// More pages than any server has; one that goes on is going round in circles.
const MOST_PAGES: usize = 200;

pub(crate) async fn catalog(
    connection: &Connection,
    handshake: &Handshake,
) -> Result<Catalog, Failure> {
    let mut catalog = Catalog::default();
    for list in List::ALL.into_iter().filter(|list| handshake.offers(list.capability())) {
        match pages(connection, list).await {
            Ok(items) => *catalog.list_mut(list) = items,
            // Many servers offer resources but know no templates: that is an empty list.
            Err(failure) if list == List::Templates => {
                tracing::debug!(%failure, "no resource templates");
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(catalog)
}

async fn pages(connection: &Connection, list: List) -> Result<Vec<Raw>, Failure> {
    let (mut items, mut params) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let page = connection.ask(list.method(), params.take()).await?;
        items.extend(page.member(list.member()).and_then(|raw| raw.elements()).unwrap_or_default());
        match page.text_member("nextCursor") {
            Some(cursor) => params = Some(Raw::of(&serde_json::json!({ "cursor": cursor }))),
            None => break,
        }
    }
    Ok(items)
}
