//! Catalogs: the tools, prompts, resources and templates of upstreams, as last known.
//!
//! [`Catalog`] holds the lists of one upstream, [`MergedCatalog`] combines several. Definitions
//! stay raw JSON; merging changes only their names.
//!
//! - `naming`: upstream names and the merged names of tools and prompts
//! - `filter`, `visibility`: allow and deny lists, and what an editor sees of an upstream
//! - `list_changes`: which editors are notified when a list changes
//! - `limits`: how much an upstream's lists may contain; `list_results`: the answers to list requests
//! - `cache`: the catalog file that survives a restart
//! - `tool_traits`: what the gateway must know about a tool before it is called
//! - `header_parameters`: tools whose parameters cannot be repeated in headers
//!
//! This module uses only `protocol`.

pub mod cache;
pub mod filter;
pub mod header_parameters;
pub mod limits;
pub mod list_changes;
pub mod list_results;
pub mod naming;
pub mod tool_traits;
pub mod visibility;

use std::collections::{HashMap, HashSet};

use crate::catalog::list_results::ListResults;
use crate::catalog::naming::{NameStyle, Namespace, UpstreamName};
use crate::protocol::envelope::Request;
use crate::protocol::json::Raw;
use crate::protocol::mcp::method;

/// The complete lists of one upstream, with all pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Catalog {
    pub tools: Vec<Raw>,
    pub prompts: Vec<Raw>,
    pub resources: Vec<Raw>,
    pub templates: Vec<Raw>,
}

/// The four lists of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl ListKind {
    pub const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The list that a method requests.
    pub fn from_method(asked: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|list| list.method() == asked)
    }

    pub fn method(self) -> &'static str {
        match self {
            Self::Tools => method::TOOLS_LIST,
            Self::Prompts => method::PROMPTS_LIST,
            Self::Resources => method::RESOURCES_LIST,
            Self::Templates => method::TEMPLATES_LIST,
        }
    }

    /// The member of the result that contains the items.
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// The member of an item that identifies it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }

    /// The notification that it changed.
    pub fn changed(self) -> &'static str {
        match self {
            Self::Tools => "notifications/tools/list_changed",
            Self::Prompts => "notifications/prompts/list_changed",
            Self::Resources | Self::Templates => "notifications/resources/list_changed",
        }
    }

    /// The server capability it belongs to.
    pub fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources | Self::Templates => "resources",
        }
    }
}

impl Catalog {
    pub fn list(&self, list: ListKind) -> &[Raw] {
        match list {
            ListKind::Tools => &self.tools,
            ListKind::Prompts => &self.prompts,
            ListKind::Resources => &self.resources,
            ListKind::Templates => &self.templates,
        }
    }

    /// How many bytes all items have.
    pub fn bytes(&self) -> usize {
        let items = ListKind::ALL.into_iter().flat_map(|list| self.list(list));
        items.map(|item| item.as_bytes().len()).sum()
    }

    pub fn list_mut(&mut self, list: ListKind) -> &mut Vec<Raw> {
        match list {
            ListKind::Tools => &mut self.tools,
            ListKind::Prompts => &mut self.prompts,
            ListKind::Resources => &mut self.resources,
            ListKind::Templates => &mut self.templates,
        }
    }
}

/// The catalogs of several upstreams as one, with the origin of each merged name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedCatalog {
    catalog: Catalog,
    tools: HashMap<String, ItemOrigin>,
    prompts: HashMap<String, ItemOrigin>,
    resources: HashMap<String, UpstreamName>,
    /// The literal prefix of each template.
    templates: Vec<(String, UpstreamName)>,
    /// The prefixes of hidden templates: a URI that matches one may still be visible.
    unlisted: Vec<(String, UpstreamName)>,
    /// The upstreams in configuration order.
    order: Vec<UpstreamName>,
    collisions: Vec<Collision>,
    results: ListResults,
}

/// A URI or prefix that two upstreams offer. The first of them in the configuration owns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    pub uri: String,
    pub owner: UpstreamName,
    pub other: UpstreamName,
}

/// How many collisions are reported.
const MOST_COLLISIONS: usize = 20;
/// How many resources and templates of an upstream are compared with the others'.
const CHECKED_FOR_COLLISIONS: usize = 200;

/// The upstream and the original name behind a merged name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemOrigin {
    pub upstream: UpstreamName,
    pub name: String,
}

impl MergedCatalog {
    /// Merges catalogs in configuration order. Resources keep their URIs; if two upstreams offer the
    /// same URI, the first one owns it, whatever the other declares.
    pub fn of<'a>(catalogs: impl IntoIterator<Item = (&'a UpstreamName, &'a Catalog)>) -> Self {
        let mut merged = Self::default();
        let names = || Namespace::new(NameStyle::USUAL);
        let (mut tools, mut prompts) = (names(), names());
        for (upstream, catalog) in catalogs {
            merged.order.push(upstream.clone());
            for tool in &catalog.tools {
                let renamed = rename(&mut tools, &mut merged.tools, upstream, tool);
                merged.catalog.tools.extend(renamed);
            }
            for prompt in &catalog.prompts {
                let renamed = rename(&mut prompts, &mut merged.prompts, upstream, prompt);
                merged.catalog.prompts.extend(renamed);
            }
            for (index, resource) in catalog.resources.iter().enumerate() {
                let Some(uri) = resource.text_member("uri") else {
                    continue;
                };
                if index < CHECKED_FOR_COLLISIONS {
                    merged.note_collision(&uri, upstream);
                }
                if let std::collections::hash_map::Entry::Vacant(free) = merged.resources.entry(uri)
                {
                    free.insert(upstream.clone());
                    merged.catalog.resources.push(resource.clone());
                }
            }
            for (index, template) in catalog.templates.iter().enumerate() {
                let beginning = beginning(template);
                if index < CHECKED_FOR_COLLISIONS {
                    merged.note_collision(&beginning, upstream);
                }
                merged.templates.push((beginning, upstream.clone()));
                merged.catalog.templates.push(template.clone());
            }
        }
        merged
    }

    /// The same catalog for a client that needs other names.
    pub fn in_style(&self, style: NameStyle) -> Self {
        let mut other = self.clone();
        (other.catalog.tools, other.tools) = renamed(style, &self.catalog.tools, &self.tools);
        (other.catalog.prompts, other.prompts) =
            renamed(style, &self.catalog.prompts, &self.prompts);
        other
    }

    /// The URIs that several upstreams offer, up to a limit.
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// Notes that `other` offers what an earlier upstream owns: once for each pair.
    fn note_collision(&mut self, uri: &str, other: &UpstreamName) {
        if self.collisions.len() >= MOST_COLLISIONS {
            return;
        }
        let Some(owner) = self.owner(uri).filter(|owner| *owner != other).cloned() else { return };
        let is_known = |known: &Collision| known.owner == owner && known.other == *other;
        if !self.collisions.iter().any(is_known) {
            self.collisions.push(Collision { uri: uri.to_owned(), owner, other: other.clone() });
        }
    }

    /// Adds the templates of `upstream` that are in its catalog but were not merged.
    pub fn with_unlisted(mut self, upstream: &UpstreamName, catalog: &Catalog) -> Self {
        let unlisted = catalog.templates.iter().map(|one| (beginning(one), upstream.clone()));
        let listed: HashSet<&(String, UpstreamName)> = self.templates.iter().collect();
        let unlisted: Vec<_> = unlisted.filter(|one| !listed.contains(one)).collect();
        self.unlisted.extend(unlisted);
        self
    }

    pub fn list(&self, list: ListKind) -> &[Raw] {
        self.catalog.list(list)
    }

    /// The result of a list request.
    pub fn list_result(&self, list: ListKind) -> Raw {
        self.results.of(list, self.list(list))
    }

    pub fn tool(&self, name: &str) -> Option<&ItemOrigin> {
        self.tools.get(name)
    }

    pub fn prompt(&self, name: &str) -> Option<&ItemOrigin> {
        self.prompts.get(name)
    }

    /// The upstream that owns a resource: the first in the configuration that lists it or has a
    /// template for it. A server that declares more cannot take a resource from another.
    pub fn owner(&self, uri: &str) -> Option<&UpstreamName> {
        let listed = self.resources.get(uri);
        let made = made_from(&self.templates, uri);
        let rank = |upstream: &&UpstreamName| self.order.iter().position(|name| name == *upstream);
        let visible = listed.into_iter().chain(made).min_by_key(rank);
        visible.or_else(|| made_from(&self.unlisted, uri))
    }

    /// The upstream that answers a completion request, and the request with the upstream's own name
    /// for the prompt.
    pub fn completes(&self, request: &Request) -> Option<(UpstreamName, Request)> {
        let params = request.params.as_ref()?;
        let subject = params.member("ref")?;
        if let Some(uri) = subject.text_member("uri") {
            return Some((self.owner(&uri)?.clone(), request.clone()));
        }
        let origin = self.prompt(&subject.text_member("name")?)?;
        let subject = subject.with("name", &Raw::of(&origin.name));
        let params = Some(params.with("ref", &subject));
        Some((origin.upstream.clone(), Request { params, ..request.clone() }))
    }
}

/// The first upstream with a template for a URI. A template must begin with a scheme: one that begins
/// with a variable would claim every URI.
fn made_from<'a>(templates: &'a [(String, UpstreamName)], uri: &str) -> Option<&'a UpstreamName> {
    let mut fits = templates
        .iter()
        .filter(|(beginning, _)| beginning.contains(':') && uri.starts_with(beginning));
    fits.next().map(|(_, upstream)| upstream)
}

/// The literal text before the first variable of a template.
fn beginning(template: &Raw) -> String {
    let form = template.text_member(ListKind::Templates.key()).unwrap_or_default();
    form.split('{').next().unwrap_or_default().to_owned()
}

/// Merged items, with their origins, under other merged names.
fn renamed(
    style: NameStyle,
    items: &[Raw],
    origins: &HashMap<String, ItemOrigin>,
) -> (Vec<Raw>, HashMap<String, ItemOrigin>) {
    let mut names = Namespace::new(style);
    let known = |item: &Raw| origins.get(&item.text_member("name")?);
    let rename = |item: &Raw| {
        let origin = known(item)?;
        let name = names.name(&origin.upstream, &origin.name);
        Some((item.with("name", &Raw::of(&name)), (name, origin.clone())))
    };
    items.iter().filter_map(rename).unzip()
}

fn rename(
    names: &mut Namespace,
    origins: &mut HashMap<String, ItemOrigin>,
    upstream: &UpstreamName,
    item: &Raw,
) -> Option<Raw> {
    let original = item.text_member("name")?;
    let shown = names.name(upstream, &original);
    let renamed = item.with("name", &Raw::of(&shown));
    origins.insert(shown, ItemOrigin { upstream: upstream.clone(), name: original });
    Some(renamed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &'static str) -> Raw {
        Raw::parse(bytes::Bytes::from_static(text.as_bytes())).unwrap()
    }

    fn name(text: &str) -> UpstreamName {
        UpstreamName::parse(text).unwrap()
    }

    #[test]
    fn a_merged_tool_differs_from_its_original_in_its_name_only() {
        let (files, echo) =
            (name("files"), raw(r#"{"z":1,"name":"echo","inputSchema":{"b":1,"a":2}}"#));
        let catalog = Catalog { tools: vec![echo], ..Catalog::default() };
        let merged = MergedCatalog::of([(&files, &catalog)]);
        assert_eq!(
            merged.list_result(ListKind::Tools).as_str(),
            r#"{"tools":[{"z":1,"name":"files__echo","inputSchema":{"b":1,"a":2}}]}"#
        );
        let origin = merged.tool("files__echo").unwrap();
        assert_eq!((origin.upstream.as_str(), origin.name.as_str()), ("files", "echo"));
    }

    #[test]
    fn a_catalog_in_another_style_leads_to_the_same_tools_and_prompts() {
        let tools =
            ["echo", "a__b", "_c"].map(|name| Raw::of(&serde_json::json!({ "name": name })));
        let catalog = Catalog {
            tools: tools.to_vec(),
            prompts: vec![raw(r#"{"name":"greet","z":[ ]}"#)],
            resources: vec![raw(r#"{"uri":"x://1"}"#)],
            ..Catalog::default()
        };
        let usual = MergedCatalog::of([(&name("a"), &catalog), (&name("a-b"), &catalog)]);
        let merged = usual.in_style(NameStyle::new("_", 46).unwrap());
        assert_eq!(merged.list(ListKind::Tools).len(), 6);
        for (item, before) in merged.list(ListKind::Tools).iter().zip(usual.list(ListKind::Tools)) {
            let (shown, usually) =
                (item.text_member("name").unwrap(), before.text_member("name").unwrap());
            assert!(!shown.contains("__"), "{shown}");
            assert_eq!(merged.tool(&shown), usual.tool(&usually));
        }
        assert_eq!(merged.tool("a_echo").unwrap().name, "echo");
        assert_eq!(merged.tool("a__echo"), None);
        assert_eq!(merged.list(ListKind::Prompts)[0].as_str(), r#"{"name":"a_greet","z":[ ]}"#);
        assert_eq!(merged.owner("x://1"), Some(&name("a")));
        let params = raw(r#"{"ref":{"type":"ref/prompt","name":"a-b_greet"}}"#);
        let id = crate::protocol::envelope::Id::number(1);
        let request = Request::new(id, "completion/complete", Some(params));
        let (upstream, own) = merged.completes(&request).unwrap();
        assert_eq!(upstream, name("a-b"));
        assert_eq!(own.params.unwrap().as_str(), r#"{"ref":{"type":"ref/prompt","name":"greet"}}"#);
    }

    #[test]
    fn tools_of_the_same_name_stay_apart() {
        let catalog = Catalog { tools: vec![raw(r#"{"name":"echo"}"#)], ..Catalog::default() };
        let merged = MergedCatalog::of([(&name("a"), &catalog), (&name("b"), &catalog)]);
        assert_eq!(merged.tool("a__echo").unwrap().upstream, name("a"));
        assert_eq!(merged.tool("b__echo").unwrap().upstream, name("b"));
    }

    #[test]
    fn a_resource_keeps_its_uri_and_belongs_to_the_first_upstream_that_offers_it() {
        let catalog = Catalog { resources: vec![raw(r#"{"uri":"x://1"}"#)], ..Catalog::default() };
        let merged = MergedCatalog::of([(&name("a"), &catalog), (&name("b"), &catalog)]);
        assert_eq!(merged.list(ListKind::Resources).len(), 1);
        assert_eq!(merged.owner("x://1"), Some(&name("a")));
    }

    #[test]
    fn an_unlisted_resource_belongs_to_the_first_upstream_with_a_template_for_it() {
        let with = |form: &str| Catalog {
            templates: vec![Raw::of(&serde_json::json!({ "uriTemplate": form }))],
            ..Catalog::default()
        };
        let (a, b, all) = (with("x://notes/{id}"), with("x://{id}"), with("{anything}"));
        let merged = MergedCatalog::of([(&name("0"), &all), (&name("a"), &a), (&name("b"), &b)]);
        assert_eq!(merged.owner("x://notes/7"), Some(&name("a")));
        assert_eq!(merged.owner("x://7"), Some(&name("b")));
        assert_eq!(merged.owner("y://7"), None, "a template without a scheme claims nothing");
    }

    #[test]
    fn a_server_cannot_take_a_resource_by_declaring_more() {
        let template = |form: &str| Raw::of(&serde_json::json!({ "uriTemplate": form }));
        let notes = Catalog { templates: vec![template("notes://{id}")], ..Catalog::default() };
        let taker = Catalog {
            resources: vec![raw(r#"{"uri":"notes://secret"}"#)],
            templates: vec![template("notes://secret{id}"), template("notes://{a}/{b}")],
            ..Catalog::default()
        };
        let merged = MergedCatalog::of([(&name("notes"), &notes), (&name("taker"), &taker)]);
        for uri in ["notes://secret", "notes://secret7", "notes://a/b"] {
            assert_eq!(merged.owner(uri), Some(&name("notes")), "{uri}");
        }
        let expected =
            Collision { uri: "notes://secret".into(), owner: name("notes"), other: name("taker") };
        assert_eq!(merged.collisions(), [expected], "once for the two servers");
    }

    #[test]
    fn a_hidden_template_still_routes_to_its_upstream_if_no_visible_one_matches() {
        let template = |form: &str| Raw::of(&serde_json::json!({ "uriTemplate": form }));
        let with = |forms: &[&str]| Catalog {
            templates: forms.iter().map(|form| template(form)).collect(),
            ..Catalog::default()
        };
        let (shown, whole, other) =
            (with(&[]), with(&["x://{id}", "z://{id}"]), with(&["x://{id}"]));
        let (a, b) = (name("a"), name("b"));
        let merged = MergedCatalog::of([(&a, &shown), (&b, &other)]).with_unlisted(&a, &whole);
        assert_eq!(merged.owner("x://1"), Some(&b), "whose template is shown");
        assert_eq!(merged.owner("z://1"), Some(&a));
        assert_eq!(merged.list(ListKind::Templates).len(), 1);
    }

    #[test]
    fn a_completion_goes_to_the_prompts_upstream_under_its_original_name() {
        let catalog = Catalog { prompts: vec![raw(r#"{"name":"greet"}"#)], ..Catalog::default() };
        let merged = MergedCatalog::of([(&name("a"), &catalog)]);
        let params = raw(r#"{"ref":{"type":"ref/prompt","name":"a__greet"},"argument":{}}"#);
        let request = Request::new(
            crate::protocol::envelope::Id::number(1),
            "completion/complete",
            Some(params),
        );
        let (upstream, asked) = merged.completes(&request).unwrap();
        assert_eq!(upstream, name("a"));
        assert_eq!(
            asked.params.unwrap().as_str(),
            r#"{"ref":{"type":"ref/prompt","name":"greet"},"argument":{}}"#
        );
    }
}
