//! Reads the catalog of an upstream: every list it offers, page by page.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::timeout;

use evermoor_core::catalog::limits::{self, CatalogLimits, CatalogSize};
use evermoor_core::catalog::{Catalog, ListKind, header_parameters};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::protocol::json::Raw;
use evermoor_core::protocol::mcp::Handshake;
use evermoor_core::protocol::version::transport::Transport;

use super::failures::{large_lists, slow_lists};
use crate::system::{message_parser, redaction};
use crate::upstream::KnownCatalog;
use crate::upstream::transport::connection::Connection;

/// How long reading all lists of an upstream may take.
pub(super) const LISTING_LIMIT: Duration = Duration::from_secs(10);

/// Reads the whole catalog, within its limits.
pub(super) async fn catalog(
    connection: &Connection,
    handshake: Handshake,
    transport: Option<Transport>,
    limits: CatalogLimits,
) -> Result<KnownCatalog, Failure> {
    let mut size = CatalogSize::default();
    let reading = timeout(LISTING_LIMIT, read(connection, &handshake, &mut size, limits));
    let catalog = reading.await.unwrap_or_else(|_| Err(slow_lists()))?;
    let known = move || KnownCatalog::new(handshake, catalog, transport);
    Ok(message_parser::process(size.bytes(), known).await)
}

async fn read(
    connection: &Connection,
    handshake: &Handshake,
    size: &mut CatalogSize,
    limits: CatalogLimits,
) -> Result<Catalog, Failure> {
    let mut catalog = Catalog::default();
    for list in ListKind::ALL.into_iter().filter(|list| handshake.offers(list.capability())) {
        match pages(connection, list, size, limits).await {
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
        let checks_headers = list == ListKind::Tools && connection.repeats_parameters();
        let bytes = page.as_bytes().len();
        let read = move || ListPage::read(list, &page, checks_headers);
        let page = message_parser::process(bytes, read).await;
        size.add(bytes, page.found, limits).map_err(large_lists)?;
        if page.long_names > 0 {
            tracing::warn!(
                list = list.member(),
                dropped = page.long_names,
                "left out items: their names are too long"
            );
        }
        items.extend(page.items);
        let Some(cursor) = page.cursor else { return Ok(items) };
        params = Some(Raw::of(&serde_json::json!({ "cursor": cursor })));
        if !cursors.insert(cursor) {
            let list = list.member();
            tracing::warn!(list, "the list ends here: the server repeats its pages");
            return Ok(items);
        }
    }
}

/// What one page of a list contains.
struct ListPage {
    /// The items that can be used.
    items: Vec<Raw>,
    /// How many items there were, and how many of them have names that are too long.
    found: usize,
    long_names: usize,
    cursor: Option<String>,
}

impl ListPage {
    fn read(list: ListKind, page: &Raw, checks_headers: bool) -> Self {
        let items = page.member(list.member()).and_then(|raw| raw.elements());
        let mut items = items.unwrap_or_default();
        let found = items.len();
        let long_names = limits::drop_long_names(list, &mut items);
        if checks_headers {
            items.retain(is_usable);
        }
        Self { items, found, long_names, cursor: page.text_member("nextCursor") }
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
