//! An upstream's last known catalog, and which items its filter lists show.

use std::collections::HashSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use evermoor_core::api::{CatalogEntry, CatalogListing, ToolListing};
use evermoor_core::catalog::filter::{Filter, Filters};
use evermoor_core::catalog::{Catalog, ListKind};
use evermoor_core::config::edit::hiding_pattern;
use evermoor_core::protocol::json::Raw;
use evermoor_core::security::foreign_text;

use crate::server::control::{ControlApi, unknown};
use crate::system::message_parser;

pub(crate) async fn read(
    State(control): State<Arc<ControlApi>>,
    Path(name): Path<String>,
) -> Response {
    let Some(upstream) = control.router.upstream(&name) else {
        return unknown(&control, &name);
    };
    let Some(known) = upstream.state().known else {
        return Json(CatalogListing::default()).into_response();
    };
    let (bytes, config) = (known.catalog.bytes(), Arc::clone(&upstream.config));
    let listing = move || Json(listing(&known.catalog, &config.filters)).into_response();
    message_parser::process(bytes, listing).await
}

fn listing(catalog: &Catalog, filters: &Filters) -> CatalogListing {
    let tools = catalog.tools.iter().filter_map(|raw| tool(raw, &filters.tools));
    let prompts = items(&catalog.prompts, ListKind::Prompts, filters);
    let resources = [ListKind::Resources, ListKind::Templates].into_iter();
    let resources = resources.flat_map(|list| items(catalog.list(list), list, filters));
    CatalogListing {
        tools: distinct(tools, |tool| &tool.name),
        prompts: distinct(prompts, |entry| &entry.name),
        resources: distinct(resources, |entry| &entry.name),
    }
}

/// The first item of each name, by which the page tells them apart.
fn distinct<T>(items: impl Iterator<Item = T>, name: fn(&T) -> &String) -> Vec<T> {
    let mut known = HashSet::new();
    items.filter(|item| known.insert(name(item).clone())).collect()
}

fn tool(raw: &Raw, filter: &Filter) -> Option<ToolListing> {
    let name = raw.text_member("name")?;
    let value = |key| raw.member(key).and_then(|raw| raw.read::<Value>().ok());
    let annotations = value("annotations").unwrap_or_default();
    let title = raw.text_member("title");
    let title = title.or_else(|| annotations["title"].as_str().map(str::to_owned));
    let shown_name = foreign_text::line(&name).into_owned();
    let fixed = match hiding_pattern(filter, &name) {
        Some(pattern) => Some(format!("`{pattern}` in the settings hides this tool and others.")),
        None if shown_name != name => Some("Its name has characters that cannot be shown.".into()),
        None => None,
    };
    Some(ToolListing {
        title: title.map(|title| foreign_text::line(&title).into_owned()),
        description: description(raw),
        input_schema: value("inputSchema").unwrap_or_default(),
        annotations,
        shown: filter.passes(&name),
        fixed,
        name: shown_name,
    })
}

fn description(raw: &Raw) -> Option<String> {
    raw.text_member("description").map(|text| foreign_text::lines(&text).into_owned())
}

fn items(all: &[Raw], list: ListKind, filters: &Filters) -> impl Iterator<Item = CatalogEntry> {
    let filter = filters.of(list).clone();
    all.iter().filter_map(move |raw| {
        let name = raw.text_member(list.key())?;
        // A resource has a name besides its URI; a title is better than either.
        let title = raw.text_member("title");
        let title = title.or_else(|| raw.text_member("name").filter(|other| *other != name));
        let title = title.map(|title| foreign_text::line(&title).into_owned());
        let (description, shown) = (description(raw), filter.passes(&name));
        let name = foreign_text::line(&name).into_owned();
        Some(CatalogEntry { name, title, description, shown })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_shown_as_text_and_each_one_once() {
        let named = |name: &str| Raw::of(&json!({ "name": name, "uri": name }));
        let names = ["a", "b\u{202e}\u{1b}[2J", "a"].map(named).to_vec();
        let catalog = Catalog { tools: names.clone(), resources: names, ..Catalog::default() };
        let listing = listing(&catalog, &Filters::default());
        let tools: Vec<_> =
            listing.tools.iter().map(|tool| (tool.name.as_str(), tool.fixed.is_some())).collect();
        assert_eq!(tools, [("a", false), ("b\u{fffd}", true)]);
        let resources: Vec<_> = listing.resources.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(resources, ["a", "b\u{fffd}"]);
    }
}
