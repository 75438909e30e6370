//! What an editor sees of an upstream: the upstream's filters and the editor's combined.
//!
//! Every list that an editor reads and every call that it makes is checked against a [`Visibility`], on
//! the merged endpoint and on the upstream's own. Without filters the check costs nothing.

use std::borrow::Cow;

use crate::catalog::filter::{Filter, Filters};
use crate::catalog::naming::{UpstreamName, full_name, merged_name};
use crate::catalog::{Catalog, ListKind};
use crate::protocol::envelope::Request;
use crate::protocol::json::Raw;
use crate::protocol::mcp::method;

/// The filters of an editor's configuration entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisibilityRules {
    /// The upstreams that it sees.
    pub upstreams: Filter,
    /// Tools and prompts by merged name, resources by URI.
    pub items: Filters,
}

/// What one editor sees of one upstream.
#[derive(Clone, Copy, Debug)]
pub struct Visibility<'a> {
    upstream: &'a UpstreamName,
    /// The filters of the upstream's entry.
    own: &'a Filters,
    /// The filters of the editor's entry.
    editors: Option<&'a Filters>,
}

/// The filter that hides an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    pub by: FilterOwner,
    pub list: ListKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterOwner {
    Upstream,
    Editor,
}

impl VisibilityRules {
    /// Whether nothing is hidden.
    pub fn is_open(&self) -> bool {
        self.upstreams.is_open() && self.items.is_open()
    }
}

impl<'a> Visibility<'a> {
    /// `None` if the editor does not see the upstream at all.
    pub fn of(
        rules: Option<&'a VisibilityRules>,
        upstream: &'a UpstreamName,
        own: &'a Filters,
    ) -> Option<Self> {
        if !can_see(rules, upstream) {
            return None;
        }
        let editors = rules.map(|rules| &rules.items).filter(|items| !items.is_open());
        Some(Self { upstream, own, editors })
    }

    /// Whether nothing is hidden.
    pub fn hides_nothing(&self) -> bool {
        self.editors.is_none() && self.own.is_open()
    }

    /// The filter that hides the item with the upstream's name `name`, if any.
    pub fn hides(&self, list: ListKind, name: &str) -> Option<Hidden> {
        let hidden = |by| Some(Hidden { by, list });
        if !self.own.of(list).passes(name) {
            return hidden(FilterOwner::Upstream);
        }
        let editors = self.editors.map(|editors| editors.of(list)).filter(|one| !one.is_open())?;
        let passes = match list {
            // The editor may see a shortened name; rules may use either.
            ListKind::Tools | ListKind::Prompts => {
                let (shown, whole) =
                    (merged_name(self.upstream, name), full_name(self.upstream, name));
                editors.passes_as(&[&shown, &whole])
            }
            ListKind::Resources | ListKind::Templates => editors.passes(name),
        };
        if passes { None } else { hidden(FilterOwner::Editor) }
    }

    /// The filter that hides what a request asks for. The request uses the upstream's names.
    pub fn refuses(&self, request: &Request) -> Option<Hidden> {
        if self.hides_nothing() {
            return None;
        }
        named(request).into_iter().find_map(|(list, name)| match name {
            Some(name) => self.hides(list, &name),
            // The name is ambiguous: another parser may read a hidden one.
            None => self.limits(list),
        })
    }

    /// The visible part of a catalog.
    pub fn catalog<'c>(&self, catalog: &'c Catalog) -> Cow<'c, Catalog> {
        if self.hides_nothing() {
            return Cow::Borrowed(catalog);
        }
        let mut seen = Catalog::default();
        for list in ListKind::ALL {
            let items = catalog.list(list).iter().filter(|item| self.shows(list, item));
            *seen.list_mut(list) = items.cloned().collect();
        }
        Cow::Owned(seen)
    }

    /// The visible part of a list result. All other bytes are unchanged.
    pub fn page(&self, list: ListKind, result: &Raw) -> Raw {
        let items = result.member(list.member()).and_then(|items| items.elements());
        let items = items.unwrap_or_default();
        let seen: Vec<&Raw> = items.iter().filter(|item| self.shows(list, item)).collect();
        if seen.len() == items.len() {
            return result.clone();
        }
        result.with(list.member(), &Raw::of(&seen))
    }

    /// The filter that hides some items of a list, if any.
    fn limits(&self, list: ListKind) -> Option<Hidden> {
        let editors = self.editors.is_some_and(|editors| !editors.of(list).is_open());
        match (self.own.of(list).is_open(), editors) {
            (false, _) => Some(Hidden { by: FilterOwner::Upstream, list }),
            (true, true) => Some(Hidden { by: FilterOwner::Editor, list }),
            (true, false) => None,
        }
    }

    fn shows(&self, list: ListKind, item: &Raw) -> bool {
        self.hides(list, &item.text_member(list.key()).unwrap_or_default()).is_none()
    }
}

/// The item that a request names, if any.
pub fn asked_for(request: &Request) -> Option<(ListKind, String)> {
    let (list, name) = named(request).into_iter().next()?;
    Some((list, name.unwrap_or_default()))
}

/// All items that a request names; `None` for a name that cannot be read unambiguously.
fn named(request: &Request) -> Vec<(ListKind, Option<String>)> {
    let params = request.params.as_ref();
    let member = |key| params.and_then(|params| params.text_member(key));
    match request.method.as_str() {
        method::TOOLS_CALL => vec![(ListKind::Tools, member("name"))],
        method::PROMPTS_GET => vec![(ListKind::Prompts, member("name"))],
        method::RESOURCES_READ | method::SUBSCRIBE => vec![(ListKind::Resources, member("uri"))],
        method::COMPLETE => {
            let subject = params.and_then(|params| params.member("ref"));
            let members = subject.and_then(|subject| subject.entries()).unwrap_or_default();
            let part = |(key, value): &(String, Raw)| match key.as_str() {
                "uri" => Some((ListKind::Templates, value.read().ok())),
                "name" => Some((ListKind::Prompts, value.read().ok())),
                _ => None,
            };
            let mut parts: Vec<_> = members.iter().filter_map(part).collect();
            if parts.is_empty() {
                parts = vec![(ListKind::Prompts, None), (ListKind::Templates, None)];
            }
            // If both are present, the URI takes precedence.
            parts.sort_by_key(|(list, _)| *list != ListKind::Templates);
            parts
        }
        _ => Vec::new(),
    }
}

/// Whether an editor with these rules sees the upstream.
pub fn can_see(rules: Option<&VisibilityRules>, upstream: &UpstreamName) -> bool {
    rules.is_none_or(|rules| rules.upstreams.passes(upstream.as_str()))
}

impl Hidden {
    /// Where the list is in the configuration.
    pub fn setting(self, upstream: &UpstreamName, editor: &str) -> String {
        let list = self.list.capability();
        match self.by {
            FilterOwner::Upstream => format!("`{list}` under [upstreams.{upstream}]"),
            FilterOwner::Editor => format!("`{list}` under {}", editor_heading(editor)),
        }
    }
}

/// The table header of an editor's entry in the configuration.
pub fn editor_heading(editor: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if editor.chars().all(bare) {
        format!("[editors.{editor}]")
    } else {
        format!("[editors.{editor:?}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::MergedCatalog;
    use crate::catalog::filter::Pattern;
    use crate::protocol::envelope::Id;
    use proptest::prelude::*;

    fn filter(allow: Option<&[&str]>, deny: &[&str]) -> Filter {
        let all = |texts: &[&str]| texts.iter().filter_map(|text| Pattern::new(text)).collect();
        Filter { allow: allow.map(all), deny: all(deny) }
    }

    fn tools(filter: Filter) -> Filters {
        Filters { tools: filter, ..Filters::default() }
    }

    fn notes() -> UpstreamName {
        UpstreamName::parse("notes").unwrap()
    }

    fn named(list: ListKind, names: &[&str]) -> Vec<Raw> {
        names.iter().map(|name| Raw::of(&serde_json::json!({ list.key(): name, "x": 1 }))).collect()
    }

    #[test]
    fn upstream_lists_match_original_names_and_editor_lists_match_merged_names() {
        let own = tools(filter(None, &["erase"]));
        let rules = VisibilityRules {
            items: tools(filter(Some(&["notes__read*", "notes__erase"]), &[])),
            ..VisibilityRules::default()
        };
        let (name, list) = (notes(), ListKind::Tools);
        let window = Visibility::of(Some(&rules), &name, &own).unwrap();
        assert_eq!(window.hides(list, "read_all"), None);
        assert_eq!(window.hides(list, "erase"), Some(Hidden { by: FilterOwner::Upstream, list }));
        assert_eq!(window.hides(list, "write"), Some(Hidden { by: FilterOwner::Editor, list }));
        assert_eq!(
            window.hides(list, "write").unwrap().setting(&name, "my.zed"),
            "`tools` under [editors.\"my.zed\"]"
        );
    }

    #[test]
    fn a_tool_whose_merged_name_is_cut_is_matched_by_either_name() {
        let (name, long) = (notes(), "a".repeat(60));
        let shown = merged_name(&name, &long);
        assert_ne!(shown, full_name(&name, &long));
        for deny in [shown, format!("notes__{long}"), "notes__aaa*".into()] {
            let items = tools(filter(None, &[&deny]));
            let rules = VisibilityRules { items, ..VisibilityRules::default() };
            let own = Filters::default();
            let window = Visibility::of(Some(&rules), &name, &own).unwrap();
            assert!(window.hides(ListKind::Tools, &long).is_some(), "{deny}");
        }
    }

    #[test]
    fn an_upstream_can_be_hidden_from_an_editor_entirely() {
        let rules =
            VisibilityRules { upstreams: filter(None, &["no*"]), ..VisibilityRules::default() };
        let (name, own) = (notes(), Filters::default());
        assert!(Visibility::of(Some(&rules), &name, &own).is_none());
        assert!(Visibility::of(None, &name, &own).unwrap().hides_nothing());
    }

    #[test]
    fn a_page_keeps_every_byte_except_the_hidden_items() {
        let (name, own) = (notes(), tools(filter(None, &["b"])));
        let window = Visibility::of(None, &name, &own).unwrap();
        let raw =
            |text: &'static str| Raw::parse(bytes::Bytes::from_static(text.as_bytes())).unwrap();
        let page =
            raw(r#"{ "nextCursor":"z\u0061", "tools": [ {"name":"a", "q": 1.0},{"name":"b"} ] }"#);
        assert_eq!(
            window.page(ListKind::Tools, &page).as_str(),
            r#"{ "nextCursor":"z\u0061", "tools": [{"name":"a", "q": 1.0}] }"#
        );
        let untouched = raw(r#"{"tools":[ {"name":"a"} ]}"#);
        assert_eq!(window.page(ListKind::Tools, &untouched), untouched);
    }

    #[test]
    fn every_request_that_names_something_hidden_is_refused() {
        let own = Filters {
            tools: filter(None, &["t"]),
            prompts: filter(None, &["p"]),
            resources: filter(None, &["x://*"]),
        };
        let (name, rules) = (notes(), VisibilityRules::default());
        let window = Visibility::of(Some(&rules), &name, &own).unwrap();
        let refused = |called: &str, params: serde_json::Value| {
            let request = Request::new(Id::number(1), called, Some(Raw::of(&params)));
            window.refuses(&request).map(|hidden| hidden.list)
        };
        let json = |text: &str| serde_json::from_str(text).unwrap();
        for (called, params, list) in [
            ("tools/call", r#"{"name":"t"}"#, ListKind::Tools),
            ("prompts/get", r#"{"name":"p"}"#, ListKind::Prompts),
            ("resources/read", r#"{"uri":"x://1"}"#, ListKind::Resources),
            ("resources/subscribe", r#"{"uri":"x://1"}"#, ListKind::Resources),
            ("completion/complete", r#"{"ref":{"name":"p"}}"#, ListKind::Prompts),
            ("completion/complete", r#"{"ref":{"uri":"x://{id}"}}"#, ListKind::Templates),
        ] {
            assert_eq!(refused(called, json(params)), Some(list), "{called}");
        }
        assert_eq!(refused("tools/call", json(r#"{"name":"p"}"#)), None);
        assert_eq!(refused("resources/unsubscribe", json(r#"{"uri":"x://1"}"#)), None);
        assert_eq!(refused("vendor/x", json(r#"{"name":"t"}"#)), None);
    }

    #[test]
    fn an_ambiguous_request_is_refused_if_anything_is_hidden() {
        let own = Filters {
            tools: filter(None, &["t"]),
            prompts: filter(None, &["p"]),
            ..Filters::default()
        };
        let name = notes();
        let window = Visibility::of(None, &name, &own).unwrap();
        for (called, params, refused) in [
            ("tools/call", r#"{"name":"a","name":"t"}"#, true),
            ("tools/call", r#"{"name":7}"#, true),
            ("tools/call", r#"{"n\u0061me":"t"}"#, true),
            ("prompts/get", "{}", true),
            ("resources/read", r#"{"uri":1}"#, false),
            ("completion/complete", r#"{"ref":{"uri":"x://{id}","name":"p"}}"#, true),
            ("completion/complete", r#"{"ref":{"name":"a","name":"p"}}"#, true),
            ("completion/complete", r#"{"ref":{"uri":"x://{id}","name":"a"}}"#, false),
        ] {
            let params = Raw::parse(bytes::Bytes::from_static(params.as_bytes())).unwrap();
            let request = Request::new(Id::number(1), called, Some(params.clone()));
            assert_eq!(window.refuses(&request).is_some(), refused, "{called} {params:?}");
        }
    }

    fn any_filter() -> impl Strategy<Value = Filter> {
        let patterns = || prop::collection::vec("[ab*_]{1,3}", 0..3);
        (prop::option::of(patterns()), patterns()).prop_map(|(allow, deny)| {
            let all =
                |texts: Vec<String>| texts.iter().filter_map(|text| Pattern::new(text)).collect();
            Filter { allow: allow.map(all), deny: all(deny) }
        })
    }

    fn any_filters() -> impl Strategy<Value = Filters> {
        (any_filter(), any_filter(), any_filter()).prop_map(|(tools, prompts, resources)| Filters {
            tools,
            prompts,
            resources,
        })
    }

    proptest! {
        #[test]
        fn both_endpoints_show_the_same_and_a_call_is_refused_if_and_only_if_it_is_not_listed(
            own in any_filters(),
            items in any_filters(),
            names in prop::collection::btree_set("[ab_]{1,3}", 0..6),
        ) {
            let rules = VisibilityRules { items, ..VisibilityRules::default() };
            let (name, names): (_, Vec<&str>) = (notes(), names.iter().map(String::as_str).collect());
            let window = Visibility::of(Some(&rules), &name, &own).unwrap();
            let catalog = Catalog {
                tools: named(ListKind::Tools, &names),
                prompts: named(ListKind::Prompts, &names),
                resources: named(ListKind::Resources, &names),
                templates: named(ListKind::Templates, &names),
            };
            let seen = window.catalog(&catalog);
            for list in ListKind::ALL {
                let page = Raw::of(&serde_json::json!({ list.member(): catalog.list(list) }));
                let paged = window.page(list, &page).member(list.member()).unwrap().elements();
                prop_assert_eq!(paged.unwrap(), seen.list(list));
            }
            let all = MergedCatalog::of([(&name, &*seen)]);
            for tool in &names {
                let params = Raw::of(&serde_json::json!({ "name": tool }));
                let call = Request::new(Id::number(1), method::TOOLS_CALL, Some(params));
                let listed = all.tool(&merged_name(&name, tool)).is_some();
                prop_assert_eq!(window.refuses(&call).is_none(), listed);
            }
            prop_assert!(!window.hides_nothing() || *seen == catalog);
        }
    }
}
