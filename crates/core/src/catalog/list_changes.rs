//! Which editors are notified that a list changed: exactly those whose visible list differs.
//!
//! A list changes when an upstream changes its offer, is added or removed, or when the user edits a
//! filter. All these cases are one comparison of the state before and after.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::filter::Filters;
use crate::catalog::naming::UpstreamName;
use crate::catalog::visibility::{Visibility, VisibilityRules};
use crate::catalog::{Catalog, ListKind};

/// The editors that receive a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recipients {
    Everybody,
    /// The editors in `included`, and with `others` also every editor that is not in `excluded`.
    Only {
        included: BTreeSet<String>,
        excluded: BTreeSet<String>,
        others: bool,
    },
}

/// All catalogs, and the rules of the editors that have some.
#[derive(Clone, Debug)]
pub struct CatalogSnapshot<'a> {
    pub rules: BTreeMap<&'a str, &'a VisibilityRules>,
    pub offers: BTreeMap<&'a UpstreamName, UpstreamCatalog<'a>>,
}

/// The catalog of an upstream, and the filters of its configuration entry.
#[derive(Clone, Copy, Debug)]
pub struct UpstreamCatalog<'a> {
    pub filters: &'a Filters,
    pub catalog: &'a Catalog,
}

/// A changed list of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListChange {
    pub upstream: UpstreamName,
    /// The method of the notification.
    pub notification: &'static str,
    pub audience: Recipients,
}

impl Recipients {
    pub fn includes(&self, editor: &str) -> bool {
        match self {
            Self::Everybody => true,
            Self::Only { included, excluded, others } => {
                included.contains(editor) || (*others && !excluded.contains(editor))
            }
        }
    }
}

impl<'a> CatalogSnapshot<'a> {
    /// The part of an upstream's catalog that is visible under these rules.
    fn seen(&self, rules: Option<&VisibilityRules>, upstream: &UpstreamName) -> Cow<'a, Catalog> {
        let seen = self.offers.get(upstream).and_then(|offer| {
            let window = Visibility::of(rules, upstream, offer.filters)?;
            Some(window.catalog(offer.catalog))
        });
        seen.unwrap_or_default()
    }

    fn rules_of(&self, editor: Option<&str>) -> Option<&VisibilityRules> {
        editor.and_then(|editor| self.rules.get(editor).copied())
    }
}

/// The notifications that are due when `after` replaces `before`.
pub fn changes(before: &CatalogSnapshot<'_>, after: &CatalogSnapshot<'_>) -> Vec<ListChange> {
    let named: BTreeSet<&str> = before.rules.keys().chain(after.rules.keys()).copied().collect();
    let upstreams: BTreeSet<&UpstreamName> =
        before.offers.keys().chain(after.offers.keys()).copied().collect();
    let mut changes = Vec::new();
    for upstream in upstreams {
        let differing = |editor: Option<&str>| {
            let old = before.seen(before.rules_of(editor), upstream);
            let new = after.seen(after.rules_of(editor), upstream);
            let lists = ListKind::ALL.into_iter().filter(|list| old.list(*list) != new.list(*list));
            lists.map(ListKind::changed).collect::<BTreeSet<_>>()
        };
        let others = differing(None);
        let by_name: Vec<(&str, BTreeSet<_>)> =
            named.iter().map(|editor| (*editor, differing(Some(editor)))).collect();
        let all: BTreeSet<&str> =
            by_name.iter().flat_map(|(_, lists)| lists).chain(&others).copied().collect();
        for notification in all {
            let (included, excluded): (Vec<_>, Vec<_>) =
                by_name.iter().partition(|(_, lists)| lists.contains(notification));
            let names =
                |some: Vec<&(&str, _)>| some.iter().map(|(name, _)| (*name).to_owned()).collect();
            let audience = match excluded.is_empty() && others.contains(notification) {
                true => Recipients::Everybody,
                false => Recipients::Only {
                    included: names(included),
                    excluded: names(excluded),
                    others: others.contains(notification),
                },
            };
            changes.push(ListChange { upstream: upstream.clone(), notification, audience });
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::filter::{Filter, Pattern};
    use crate::protocol::json::Raw;
    use proptest::prelude::*;

    /// A snapshot that owns its catalogs.
    #[derive(Clone, Debug, Default)]
    struct OwnedSnapshot {
        rules: BTreeMap<String, VisibilityRules>,
        offers: BTreeMap<UpstreamName, (Filters, Catalog)>,
    }

    impl OwnedSnapshot {
        fn borrow(&self) -> CatalogSnapshot<'_> {
            let offer = |(filters, catalog)| UpstreamCatalog { filters, catalog };
            CatalogSnapshot {
                rules: self.rules.iter().map(|(name, rules)| (name.as_str(), rules)).collect(),
                offers: self.offers.iter().map(|(name, (f, c))| (name, offer((f, c)))).collect(),
            }
        }
    }

    fn name(text: &str) -> UpstreamName {
        UpstreamName::parse(text).unwrap()
    }

    fn catalog(tools: &[&str], resources: &[&str]) -> Catalog {
        let items = |list: ListKind, names: &[&str]| {
            names.iter().map(|name| Raw::of(&serde_json::json!({ list.key(): name }))).collect()
        };
        let templates = items(ListKind::Templates, resources);
        let (tools, resources) =
            (items(ListKind::Tools, tools), items(ListKind::Resources, resources));
        Catalog { tools, resources, templates, ..Catalog::default() }
    }

    fn denying(tools: &[&str]) -> VisibilityRules {
        let deny = tools.iter().filter_map(|text| Pattern::new(text)).collect();
        let items = Filters { tools: Filter { allow: None, deny }, ..Filters::default() };
        VisibilityRules { items, ..VisibilityRules::default() }
    }

    fn snapshot(tools: &[&str], resources: &[&str]) -> OwnedSnapshot {
        let offer = (Filters::default(), catalog(tools, resources));
        OwnedSnapshot { offers: BTreeMap::from([(name("a"), offer)]), ..OwnedSnapshot::default() }
    }

    fn recipients(
        before: &OwnedSnapshot,
        after: &OwnedSnapshot,
    ) -> Vec<(&'static str, Recipients)> {
        let changes = changes(&before.borrow(), &after.borrow());
        changes.into_iter().map(|one| (one.notification, one.audience)).collect()
    }

    #[test]
    fn only_lists_that_differ_are_notified_and_templates_count_as_resources() {
        assert_eq!(recipients(&snapshot(&["x"], &[]), &snapshot(&["x"], &[])), []);
        assert_eq!(
            recipients(&snapshot(&["x"], &[]), &snapshot(&["x"], &["r://1"])),
            [("notifications/resources/list_changed", Recipients::Everybody)]
        );
    }

    #[test]
    fn adding_or_removing_an_upstream_changes_its_lists() {
        let tools = [("notifications/tools/list_changed", Recipients::Everybody)];
        assert_eq!(recipients(&OwnedSnapshot::default(), &snapshot(&["x"], &[])), tools);
        assert_eq!(recipients(&snapshot(&["x"], &[]), &OwnedSnapshot::default()), tools);
    }

    #[test]
    fn a_filter_for_one_editor_notifies_only_that_editor() {
        let (before, mut after) = (snapshot(&["x", "y"], &[]), snapshot(&["x", "y"], &[]));
        after.rules.insert("cursor".into(), denying(&["a__x"]));
        after.rules.insert("zed".into(), denying(&["a__nothing"]));
        let changes = recipients(&before, &after);
        assert_eq!(changes.len(), 1);
        let audience = &changes[0].1;
        assert!(audience.includes("cursor"));
        assert!(!audience.includes("zed") && !audience.includes("somebody"));
    }

    #[test]
    fn a_change_of_a_hidden_tool_does_not_notify_the_editor_it_is_hidden_from() {
        let (mut before, mut after) = (snapshot(&["x"], &[]), snapshot(&["x", "secret"], &[]));
        before.rules.insert("cursor".into(), denying(&["*secret"]));
        after.rules.clone_from(&before.rules);
        let changes = recipients(&before, &after);
        assert!(!changes[0].1.includes("cursor") && changes[0].1.includes("somebody"));
    }

    fn any_snapshot() -> impl Strategy<Value = OwnedSnapshot> {
        let pattern = prop::sample::select(vec!["a__x", "b__*", "*__y", "*"]);
        let rules =
            (prop::collection::vec(pattern, 0..2), any::<bool>()).prop_map(|(deny, blind)| {
                let upstreams =
                    blind.then(|| Filter { allow: None, deny: vec![Pattern::new("b").unwrap()] });
                VisibilityRules { upstreams: upstreams.unwrap_or_default(), ..denying(&deny) }
            });
        let tools = prop::collection::btree_set(prop::sample::select(vec!["x", "y", "z"]), 0..3);
        let offer = (tools, any::<bool>()).prop_map(|(tools, hides)| {
            let filters = if hides { denying(&["z"]).items } else { Filters::default() };
            (filters, catalog(&tools.into_iter().collect::<Vec<_>>(), &[]))
        });
        let offers = prop::collection::btree_map("[ab]".prop_map(|text| name(&text)), offer, 0..3);
        (prop::collection::btree_map("[pq]", rules, 0..3), offers)
            .prop_map(|(rules, offers)| OwnedSnapshot { rules, offers })
    }

    proptest! {
        #[test]
        fn an_editor_is_notified_if_and_only_if_its_visible_list_differs(
            before in any_snapshot(),
            after in any_snapshot(),
        ) {
            let (old, new) = (before.borrow(), after.borrow());
            let changes = changes(&old, &new);
            for editor in ["p", "q", "other"] {
                for upstream in [name("a"), name("b")] {
                    let seen = |snapshot: &CatalogSnapshot<'_>| snapshot.seen(snapshot.rules_of(Some(editor)), &upstream).into_owned();
                    let notified = changes.iter().any(|change| {
                        change.upstream == upstream && change.audience.includes(editor)
                    });
                    prop_assert_eq!(notified, seen(&old) != seen(&new), "{} {}", editor, upstream);
                }
            }
        }
    }
}
