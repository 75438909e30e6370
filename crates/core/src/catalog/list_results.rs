//! The results of list requests. Each is made once and shared by all answers, because a list can be large
//! and many editors request it.

use std::sync::OnceLock;

use crate::catalog::ListKind;
use crate::protocol::json::Raw;

/// The results of a catalog that does not change, made when they are first requested.
#[derive(Debug, Default)]
pub struct ListResults([OnceLock<Raw>; ListKind::ALL.len()]);

impl ListResults {
    /// The result with these items, which must be those of the catalog.
    pub(crate) fn of(&self, list: ListKind, items: &[Raw]) -> Raw {
        let made = match list {
            ListKind::Tools => &self.0[0],
            ListKind::Prompts => &self.0[1],
            ListKind::Resources => &self.0[2],
            ListKind::Templates => &self.0[3],
        };
        made.get_or_init(|| list_result(list, items)).clone()
    }
}

/// A copy of a catalog may be changed, so it makes its own.
impl Clone for ListResults {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// They follow from the catalog, whether or not they were requested.
impl PartialEq for ListResults {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl Eq for ListResults {}

/// The result of a list request.
pub fn list_result(list: ListKind, items: &[Raw]) -> Raw {
    Raw::object_with_array(list.member(), items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::cache::LastKnownUpstream;
    use crate::catalog::naming::UpstreamName;
    use crate::catalog::{Catalog, MergedCatalog};
    use crate::protocol::mcp::Handshake;
    use proptest::prelude::*;

    fn catalog() -> Catalog {
        let tools = vec![Raw::of(&serde_json::json!({ "name": "echo" }))];
        Catalog { tools, ..Catalog::default() }
    }

    #[test]
    fn all_answers_share_the_bytes_of_a_list() {
        let upstream = UpstreamName::parse("a").unwrap();
        let merged = MergedCatalog::of([(&upstream, &catalog())]);
        let (one, other) =
            (merged.list_result(ListKind::Tools), merged.list_result(ListKind::Tools));
        assert!(one.is_part_of(&other));
        assert_eq!(one.as_str(), r#"{"tools":[{"name":"a__echo"}]}"#);
        assert_eq!(merged.list_result(ListKind::Templates).as_str(), r#"{"resourceTemplates":[]}"#);
        let hello = serde_json::json!({
            "protocolVersion": "2025-11-25", "serverInfo": { "name": "s", "version": "1" },
        });
        let handshake = Handshake::read(&Raw::of(&hello)).unwrap();
        let known = LastKnownUpstream::new(handshake, catalog(), None);
        let (one, other) = (known.list_result(ListKind::Tools), known.list_result(ListKind::Tools));
        assert!(one.is_part_of(&other));
    }

    #[test]
    fn a_catalog_in_another_style_has_results_of_its_own() {
        let upstream = UpstreamName::parse("a").unwrap();
        let merged = MergedCatalog::of([(&upstream, &catalog())]);
        merged.list_result(ListKind::Tools);
        let style = crate::catalog::naming::NameStyle::new("_", 46).unwrap();
        let other = merged.in_style(style).list_result(ListKind::Tools);
        assert_eq!(other.as_str(), r#"{"tools":[{"name":"a_echo"}]}"#);
    }

    proptest! {
        #[test]
        fn a_result_is_the_same_as_a_serialized_one(names in prop::collection::vec(".{0,9}", 0..5)) {
            let items: Vec<_> =
                names.iter().map(|name| Raw::of(&serde_json::json!({ "name": name }))).collect();
            let expected = Raw::of(&serde_json::json!({ "tools": items }));
            prop_assert_eq!(list_result(ListKind::Tools, &items), expected);
        }
    }
}
