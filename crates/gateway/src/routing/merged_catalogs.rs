//! The merged catalog of all upstreams, for each set of filter lists that editors have.
//!
//! A catalog is merged again only when something in it changed, and once for all editors with the
//! same lists. Editors without lists share one catalog.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;

use evermoor_core::api::VisibleCounts;
use evermoor_core::catalog::list_changes;
use evermoor_core::catalog::list_changes::{CatalogSnapshot, ListChange, UpstreamCatalog};
use evermoor_core::catalog::naming::{NameStyle, UpstreamName};
use evermoor_core::catalog::visibility::{Visibility, VisibilityRules};
use evermoor_core::catalog::{Collision, ListKind, MergedCatalog};
use evermoor_core::config;

use crate::upstream::{KnownCatalog, UpstreamHandle};

/// A merged catalog under the names of one style.
type StyledCatalog = (NameStyle, Arc<MergedCatalog>);

/// The entry of an upstream, and its catalog at this moment.
type CurrentUpstream = (Arc<config::UpstreamConfig>, Option<Arc<KnownCatalog>>);

/// What editors with the same lists see.
#[derive(Clone)]
pub struct EditorCatalog {
    /// `None` if they see everything.
    pub rules: Option<Arc<VisibilityRules>>,
    /// The merged catalog of the upstreams that they see, under the usual names.
    merged: Arc<MergedCatalog>,
    /// The same in the other styles that their clients have needed so far.
    other_styles: Arc<Mutex<Vec<StyledCatalog>>>,
}

/// What every editor sees.
pub struct EditorCatalogs {
    /// What editors without lists see.
    common: EditorCatalog,
    editors: HashMap<String, EditorCatalog>,
    sources: Vec<VisibleUpstream>,
}

/// An upstream, its entry and its catalog.
struct VisibleUpstream {
    config: Arc<config::UpstreamConfig>,
    known: Option<Arc<KnownCatalog>>,
    /// How many of its tools its own lists hide.
    hidden: usize,
}

impl EditorCatalog {
    /// What these editors see of an upstream; `None` if it is hidden from them.
    pub fn visibility<'a>(
        &'a self,
        upstream: &'a config::UpstreamConfig,
    ) -> Option<Visibility<'a>> {
        Visibility::of(self.rules.as_deref(), &upstream.name, &upstream.filters)
    }

    /// `styles` are those that clients have needed before.
    fn of(
        rules: Option<Arc<VisibilityRules>>,
        sources: &[VisibleUpstream],
        styles: &[NameStyle],
    ) -> Self {
        let seen: Vec<_> = sources
            .iter()
            .filter_map(|source| {
                let (config, known) = (&source.config, source.known.as_ref()?);
                let visibility = Visibility::of(rules.as_deref(), &config.name, &config.filters)?;
                Some((&config.name, visibility.catalog(&known.catalog), &known.catalog))
            })
            .collect();
        let merged = MergedCatalog::of(seen.iter().map(|(name, seen, _)| (*name, &**seen)));
        let hiding = seen.iter().filter(|(_, seen, _)| matches!(seen, Cow::Owned(_)));
        let merged = hiding.fold(merged, |merged, (name, _, all)| merged.with_unlisted(name, all));
        let styled = styles.iter().map(|style| (*style, Arc::new(merged.in_style(*style))));
        let other_styles = Arc::new(Mutex::new(styled.collect()));
        Self { rules, merged: Arc::new(merged), other_styles }
    }

    fn styles(&self) -> Vec<NameStyle> {
        self.other_styles.lock().iter().map(|(style, _)| *style).collect()
    }

    /// The merged catalog of the upstreams that they see.
    pub fn merged(&self, names: NameStyle) -> Arc<MergedCatalog> {
        if names == NameStyle::USUAL {
            return Arc::clone(&self.merged);
        }
        let mut others = self.other_styles.lock();
        let known = others.iter().find(|(style, _)| *style == names).map(|(_, merged)| merged);
        let merged = known.cloned().unwrap_or_else(|| Arc::new(self.merged.in_style(names)));
        if known.is_none() {
            others.push((names, Arc::clone(&merged)));
        }
        merged
    }
}

impl EditorCatalogs {
    /// Whether these upstreams and editors are those that the catalogs were built with.
    pub fn is_current(
        &self,
        upstreams: &[UpstreamHandle],
        editors: &BTreeMap<String, config::EditorConfig>,
    ) -> bool {
        self.is_of(&current(upstreams)) && self.is_for(editors)
    }

    /// How many bytes the lists of all upstreams have, which determines how long they take to merge.
    pub fn bytes_of(upstreams: &[UpstreamHandle]) -> usize {
        let known = upstreams.iter().filter_map(|upstream| upstream.state().known);
        known.map(|known| known.catalog.bytes()).sum()
    }

    /// What is visible of these upstreams. Returns `before` if nothing changed.
    pub fn of(
        upstreams: &[UpstreamHandle],
        editors: &BTreeMap<String, config::EditorConfig>,
        before: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        let current = current(upstreams);
        let same = before.filter(|before| before.is_of(&current) && before.is_for(editors));
        if let Some(same) = same {
            return Arc::clone(same);
        }
        let sources: Vec<VisibleUpstream> = current
            .into_iter()
            .map(|(config, known)| VisibleUpstream::new(config, known))
            .collect();
        let styles = before.map(|before| before.styles()).unwrap_or_default();
        let mut distinct: Vec<EditorCatalog> = Vec::new();
        let mut by_editor = HashMap::new();
        for (name, rules) in limited(editors) {
            let existing =
                distinct.iter().find(|catalog| catalog.rules.as_deref() == Some(rules)).cloned();
            let catalog = existing.unwrap_or_else(|| {
                let catalog = EditorCatalog::of(Some(Arc::new(rules.clone())), &sources, &styles);
                distinct.push(catalog.clone());
                catalog
            });
            by_editor.insert(name.clone(), catalog);
        }
        let common = EditorCatalog::of(None, &sources, &styles);
        Arc::new(Self { common, editors: by_editor, sources })
    }

    pub fn of_editor(&self, editor: &str) -> &EditorCatalog {
        self.editors.get(editor).unwrap_or(&self.common)
    }

    /// The resources that several upstreams offer.
    pub fn collisions(&self) -> &[Collision] {
        self.common.merged.collisions()
    }

    /// How many items an editor sees.
    pub fn shown(&self, editor: &str) -> VisibleCounts {
        let merged = &self.of_editor(editor).merged;
        let count = |list| small(merged.list(list).len());
        VisibleCounts {
            tools: count(ListKind::Tools),
            prompts: count(ListKind::Prompts),
            resources: count(ListKind::Resources),
        }
    }

    /// How many tools of an upstream its own lists hide from everybody.
    pub fn hidden(&self, upstream: &UpstreamName) -> u32 {
        self.source(upstream).map_or(0, |source| small(source.hidden))
    }

    /// The configuration of an upstream that the catalogs were built with.
    pub fn config(&self, upstream: &UpstreamName) -> Option<&config::UpstreamConfig> {
        self.source(upstream).map(|source| &*source.config)
    }

    /// Whether the catalogs were built with the upstream's current configuration and catalog.
    pub fn covers(&self, upstream: &UpstreamHandle) -> bool {
        self.source(upstream.name()).is_some_and(|source| {
            let now = upstream.state().known;
            Arc::ptr_eq(&source.config, &upstream.config)
                && same(source.known.as_ref(), now.as_ref())
        })
    }

    /// Which lists changed since `before`, and for whom.
    pub fn changes_since(&self, before: &Self) -> Vec<ListChange> {
        list_changes::changes(&before.exhibition(), &self.exhibition())
    }

    fn exhibition(&self) -> CatalogSnapshot<'_> {
        let limited = self.editors.iter();
        let offered = self.sources.iter();
        CatalogSnapshot {
            rules: limited
                .filter_map(|(name, catalog)| Some((name.as_str(), catalog.rules.as_deref()?)))
                .collect(),
            offers: offered.filter_map(VisibleUpstream::offer).collect(),
        }
    }

    /// The styles of names that clients have needed so far.
    fn styles(&self) -> Vec<NameStyle> {
        let all = self.editors.values().chain([&self.common]).flat_map(EditorCatalog::styles);
        let mut distinct = Vec::new();
        for style in all {
            if !distinct.contains(&style) {
                distinct.push(style);
            }
        }
        distinct
    }

    fn source(&self, upstream: &UpstreamName) -> Option<&VisibleUpstream> {
        self.sources.iter().find(|source| source.config.name == *upstream)
    }

    fn is_of(&self, current: &[CurrentUpstream]) -> bool {
        let is_it = |(source, (config, known)): (&VisibleUpstream, &CurrentUpstream)| {
            Arc::ptr_eq(&source.config, config) && same(source.known.as_ref(), known.as_ref())
        };
        self.sources.len() == current.len() && self.sources.iter().zip(current).all(is_it)
    }

    fn is_for(&self, editors: &BTreeMap<String, config::EditorConfig>) -> bool {
        let known = |(name, rules): (&String, &VisibilityRules)| {
            self.editors.get(name).is_some_and(|catalog| catalog.rules.as_deref() == Some(rules))
        };
        limited(editors).count() == self.editors.len() && limited(editors).all(known)
    }
}

impl VisibleUpstream {
    fn new(config: Arc<config::UpstreamConfig>, known: Option<Arc<KnownCatalog>>) -> Self {
        let offered = known.as_ref().map_or(0, |known| known.catalog.tools.len());
        let shown = known.as_ref().and_then(|known| {
            let visibility = Visibility::of(None, &config.name, &config.filters)?;
            Some(visibility.catalog(&known.catalog).tools.len())
        });
        let hidden = shown.map_or(0, |shown| offered - shown);
        Self { config, known, hidden }
    }

    fn offer(&self) -> Option<(&UpstreamName, UpstreamCatalog<'_>)> {
        let (config, known) = (&*self.config, self.known.as_deref()?);
        Some((&config.name, UpstreamCatalog { filters: &config.filters, catalog: &known.catalog }))
    }
}

fn current(upstreams: &[UpstreamHandle]) -> Vec<CurrentUpstream> {
    let one = |upstream: &UpstreamHandle| (Arc::clone(&upstream.config), upstream.state().known);
    upstreams.iter().map(one).collect()
}

/// The editors with lists that hide something.
fn limited(
    editors: &BTreeMap<String, config::EditorConfig>,
) -> impl Iterator<Item = (&String, &VisibilityRules)> {
    let rules = editors.iter().map(|(name, editor)| (name, &editor.rules));
    rules.filter(|(_, rules)| !rules.is_open())
}

fn same<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use evermoor_core::catalog::Catalog;
    use evermoor_core::config::Config;
    use evermoor_core::protocol::json::Raw;
    use evermoor_core::protocol::mcp::Handshake;
    use tokio::sync::watch;
    use tokio_util::sync::CancellationToken;
    use tokio_util::task::TaskTracker;

    const UPSTREAM: &str = "[upstreams.a]\nurl = \"http://127.0.0.1:1/mcp\"\n";

    fn config(lists: &str) -> Config {
        Config::parse(&format!("{UPSTREAM}{lists}")).unwrap()
    }

    impl UpstreamHandle {
        /// Upstreams that never answer and have a cached catalog of two tools.
        pub(crate) fn remembered(config: &Config) -> Vec<Self> {
            let _ = rustls::crypto::ring::default_provider().install_default();
            let raw = |text: &'static str| Raw::parse(Bytes::from_static(text.as_bytes())).unwrap();
            let handshake = raw(
                r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}"#,
            );
            let tools = vec![raw(r#"{"name":"x"}"#), raw(r#"{"name":"y"}"#)];
            let catalog = Catalog { tools, ..Catalog::default() };
            let known = KnownCatalog::new(Handshake::read(&handshake).unwrap(), catalog, None);
            let context = crate::upstream::UpstreamContext {
                settings: watch::channel(config.gateway.clone()).1,
                changed: Arc::default(),
                wakes: watch::channel(0).1,
                clock: crate::system::clock::ClockAndRandom::real(),
                tasks: TaskTracker::new(),
                notification_log: crate::upstream::notification_log::NotificationLog::default(),
                upstream_subscriptions: crate::upstream::subscriptions::Subscriptions::default(),
                history: crate::history::History::disabled(),
                apps: Default::default(),
                secrets: crate::config::secrets::Secrets::system_default(),
                sign_ins: crate::upstream::SignIns::unused(),
                budgets: Default::default(),
            };
            let start = |upstream: &config::UpstreamConfig| {
                let (known, stop) = (Some(Arc::new(known.clone())), CancellationToken::new());
                Self::start(upstream.clone(), known, false, &context, stop)
            };
            config.upstreams.iter().map(start).collect()
        }
    }

    #[tokio::test]
    async fn editors_without_lists_share_one_catalog() {
        let config = config("[editors.p]\n");
        let editor_catalogs =
            EditorCatalogs::of(&UpstreamHandle::remembered(&config), &config.editors, None);
        let merged = |editor| &editor_catalogs.of_editor(editor).merged;
        assert!(Arc::ptr_eq(merged("p"), merged("anybody")));
        assert!(editor_catalogs.of_editor("p").rules.is_none(), "an entry that hides nothing");
        assert_eq!(editor_catalogs.shown("p").tools, 2);
    }

    #[tokio::test]
    async fn editors_with_the_same_lists_share_a_catalog() {
        let lists = "[editors.p]\ntools.deny = [\"a__x\"]\n[editors.q]\ntools.deny = [\"a__x\"]\n\
                     [editors.r]\nupstreams.deny = [\"a\"]\n";
        let config = config(lists);
        let editor_catalogs =
            EditorCatalogs::of(&UpstreamHandle::remembered(&config), &config.editors, None);
        let merged = |editor| &editor_catalogs.of_editor(editor).merged;
        assert!(Arc::ptr_eq(merged("p"), merged("q")));
        let shown = ["p", "r", "anybody"].map(|editor| editor_catalogs.shown(editor).tools);
        assert_eq!(shown, [1, 0, 2]);
    }

    #[tokio::test]
    async fn catalogs_are_merged_again_only_when_something_changed() {
        let lists = "[editors.p]\ntools.deny = [\"a__x\"]\n";
        let (first, moved) = (config(lists), config(&format!("# a line more\n{lists}")));
        let other = config("[editors.p]\ntools.deny = [\"a__y\"]\n");
        let upstreams = UpstreamHandle::remembered(&first);
        let editor_catalogs = EditorCatalogs::of(&upstreams, &first.editors, None);
        let again = EditorCatalogs::of(&upstreams, &moved.editors, Some(&editor_catalogs));
        assert!(Arc::ptr_eq(&editor_catalogs, &again));
        let changed = EditorCatalogs::of(&upstreams, &other.editors, Some(&editor_catalogs));
        assert!(!Arc::ptr_eq(&editor_catalogs, &changed));
        let changes = changed.changes_since(&editor_catalogs);
        assert_eq!(changes.len(), 1);
        assert!(changes[0].audience.includes("p") && !changes[0].audience.includes("anybody"));
    }
}
