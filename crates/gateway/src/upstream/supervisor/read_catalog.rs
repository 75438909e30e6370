//! Reads the catalog of an upstream: every list it offers, page by page.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::catalog::limits::{self, CatalogLimits, CatalogSize};
use evermoor_core::catalog::{Catalog, ListKind, header_parameters};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::Handshake;

use super::failures::{large_lists, slow_lists};
use crate::system::redaction;
use crate::upstream::transport::connection::Connection;

/// How long reading all lists of an upstream may take.
pub(super) const LISTING_LIMIT: Duration = Duration::from_secs(10);

/// Reads the whole catalog, within its limits.
pub(super) async fn catalog(
    connection: &Connection,
    handshake: &Handshake,
    limits: CatalogLimits,
) -> Result<Catalog, Failure> {
    let reading = timeout(LISTING_LIMIT, read(connection, handshake, limits));
    reading.await.unwrap_or_else(|_| Err(slow_lists()))
}

async fn read(
    connection: &Connection,
    handshake: &Handshake,
    limits: CatalogLimits,
) -> Result<Catalog, Failure> {
    let mut catalog = Catalog::default();
    let mut size = CatalogSize::default();
    for list in ListKind::ALL.into_iter().filter(|list| handshake.offers(list.capability())) {
        match pages(connection, list, &mut size, limits).await {
            Ok(items) => *catalog.list_mut(list) = items,
            // Many servers offer resources but do not implement templates: the list is empty.
            Err(failure) if list == ListKind::Templates && failure.code != Code::Configuration => {
                tracing::debug!(%failure, "no resource templates");
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(catalog)
}

async fn pages(
    connection: &Connection,
    list: ListKind,
    size: &mut CatalogSize,
    limits: CatalogLimits,
) -> Result<Vec<Raw>, Failure> {
    let (mut items, mut params, mut cursors) = (Vec::new(), None, HashSet::new());
    // The limits of size and time end a list that never ends.
    loop {
        let page = connection.request(list.method(), params.take()).await?;
        let mut found: Vec<Raw> =
            page.member(list.member()).and_then(|raw| raw.elements()).unwrap_or_default();
        size.add(&page, found.len(), limits).map_err(large_lists)?;
        let dropped = limits::drop_long_names(list, &mut found);
        if dropped > 0 {
            tracing::warn!(
                list = list.member(),
                dropped,
                "left out items: their names are too long"
            );
        }
        if list == ListKind::Tools && connection.repeats_parameters() {
            found.retain(is_usable);
        }
        items.extend(found);
        let Some(cursor) = page.text_member("nextCursor") else { return Ok(items) };
        params = Some(Raw::of(&serde_json::json!({ "cursor": cursor })));
        if !cursors.insert(cursor) {
            let list = list.member();
            tracing::warn!(list, "the list ends here: the server repeats its pages");
            return Ok(items);
        }
    }
}

/// Whether a server of 2026-07-28 marks the parameters of a tool as it should.
fn is_usable(tool: &Raw) -> bool {
    let fault = header_parameters::fault(tool);
    if let Some(fault) = fault {
        let name = redaction::excerpt(tool.text_member("name").unwrap_or_default().as_bytes(), 100);
        tracing::warn!(tool = %name, fault, "left out a tool: its `x-mcp-header` is invalid");
    }
    fault.is_none()
}
