//! An upstream's last known catalog, and which items its filter lists show.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, State};
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use evermoor_core::api::{CatalogEntry, CatalogListing, ToolListing};
use evermoor_core::catalog::ListKind;
use evermoor_core::catalog::filter::{Filter, Filters};
use evermoor_core::config::edit::hiding_pattern;
use evermoor_core::protocol::json::Raw;
use evermoor_core::security::foreign_text;

use crate::server::control::{ControlApi, unknown};

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
    let (catalog, filters) = (&known.catalog, &upstream.config.filters);
    let tools = catalog.tools.iter().filter_map(|raw| tool(raw, &filters.tools));
    let resources = [ListKind::Resources, ListKind::Templates].into_iter();
    let resources = resources.flat_map(|list| items(catalog.list(list), list, filters));
    Json(CatalogListing {
        tools: tools.collect(),
        prompts: items(&catalog.prompts, ListKind::Prompts, filters).collect(),
        resources: resources.collect(),
    })
    .into_response()
}

fn tool(raw: &Raw, filter: &Filter) -> Option<ToolListing> {
    let name = raw.text_member("name")?;
    let value = |key| raw.member(key).and_then(|raw| raw.read::<Value>().ok());
    let annotations = value("annotations").unwrap_or_default();
    let title = raw.text_member("title");
    let title = title.or_else(|| annotations["title"].as_str().map(str::to_owned));
    let fixed = hiding_pattern(filter, &name)
        .map(|pattern| format!("`{pattern}` in the settings hides this tool and others."));
    Some(ToolListing {
        title: title.map(|title| foreign_text::line(&title).into_owned()),
        description: description(raw),
        input_schema: value("inputSchema").unwrap_or_default(),
        annotations,
        shown: filter.passes(&name),
        fixed,
        name,
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
        Some(CatalogEntry { name, title, description, shown })
    })
}
