//! The difference between two configurations, for a reload.
//!
//! An upstream whose entry did not change keeps its connection, whatever else changed in the file.

use std::collections::BTreeMap;

use super::{Config, UpstreamConfig};
use crate::catalog::naming::UpstreamName;

/// What to do with the upstreams when a new configuration replaces the old one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigDiff {
    /// Upstreams that are gone.
    pub stop: Vec<UpstreamName>,
    /// Upstreams whose entry changed.
    pub alter: Vec<UpstreamConfig>,
    /// New upstreams.
    pub start: Vec<UpstreamConfig>,
}

impl ConfigDiff {
    pub fn between(old: &Config, new: &Config) -> Self {
        let by_name = |config: &Config| -> BTreeMap<UpstreamName, UpstreamConfig> {
            let named = |upstream: &UpstreamConfig| (upstream.name.clone(), upstream.clone());
            config.upstreams.iter().map(named).collect()
        };
        let (before, after) = (by_name(old), by_name(new));
        let gone = |name: &&UpstreamName| !after.contains_key(*name);
        let other =
            |entry: &&UpstreamConfig| before.get(&entry.name).is_some_and(|old| old != *entry);
        let fresh = |entry: &&UpstreamConfig| !before.contains_key(&entry.name);
        Self {
            stop: before.keys().filter(gone).cloned().collect(),
            alter: new.upstreams.iter().filter(other).cloned().collect(),
            start: new.upstreams.iter().filter(fresh).cloned().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn config(entries: &BTreeMap<String, u16>) -> Config {
        let text = entries.iter().fold(String::new(), |text, (name, port)| {
            format!("{text}[upstreams.{name}]\nurl = \"http://127.0.0.1:{port}/mcp\"\n")
        });
        Config::parse(&text).unwrap()
    }

    fn of(entries: &[(&str, u16)]) -> Config {
        config(&entries.iter().map(|(name, port)| ((*name).to_owned(), *port)).collect())
    }

    fn names(upstreams: &[UpstreamConfig]) -> Vec<&str> {
        upstreams.iter().map(|upstream| upstream.name.as_str()).collect()
    }

    #[test]
    fn an_added_upstream_is_started_and_a_removed_one_is_stopped() {
        let change = ConfigDiff::between(&of(&[("a", 1), ("b", 2)]), &of(&[("b", 2), ("c", 3)]));
        assert_eq!(change.stop.iter().map(UpstreamName::as_str).collect::<Vec<_>>(), ["a"]);
        assert_eq!(names(&change.start), ["c"]);
    }

    #[test]
    fn a_changed_upstream_is_altered_and_the_others_are_left_alone() {
        let change = ConfigDiff::between(&of(&[("a", 1), ("b", 2)]), &of(&[("a", 1), ("b", 3)]));
        assert!(change.stop.is_empty() && change.start.is_empty(), "{change:?}");
        assert_eq!(names(&change.alter), ["b"]);
    }

    #[test]
    fn the_first_upstream_replaces_the_demo() {
        let change = ConfigDiff::between(&Config::default(), &of(&[("a", 1)]));
        assert_eq!(change.stop.iter().map(UpstreamName::as_str).collect::<Vec<_>>(), ["demo"]);
        assert_eq!(names(&change.start), ["a"]);
    }

    proptest! {
        #[test]
        fn applying_a_diff_yields_the_new_configuration_and_keeps_unchanged_upstreams(
            before in prop::collection::btree_map("[a-e]", 1_u16..4, 0..5),
            after in prop::collection::btree_map("[a-e]", 1_u16..4, 0..5),
        ) {
            let (before, after) = (config(&before), config(&after));
            let change = ConfigDiff::between(&before, &after);
            let altered = |name: &UpstreamName| change.alter.iter().any(|new| new.name == *name);
            let stays = |upstream: &&UpstreamConfig| {
                !change.stop.contains(&upstream.name) && !altered(&upstream.name)
            };
            let kept: Vec<UpstreamConfig> = before.upstreams.iter().filter(stays).cloned().collect();
            let mut result = [kept.clone(), change.alter.clone(), change.start.clone()].concat();
            result.sort_by(|a, b| a.name.cmp(&b.name));
            prop_assert_eq!(&result, &after.upstreams);
            for same in before.upstreams.iter().filter(|entry| after.upstreams.contains(entry)) {
                prop_assert!(kept.contains(same));
            }
            prop_assert_eq!(ConfigDiff::between(&after, &after), ConfigDiff::default());
        }
    }
}
