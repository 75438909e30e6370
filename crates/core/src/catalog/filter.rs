//! Allow and deny lists of name patterns.
//!
//! In a pattern, `*` matches any run of characters, including none. Nothing else is special, and
//! patterns are case-sensitive. Deny wins over allow. If there is an allow list, only names that it
//! matches pass.

use crate::catalog::ListKind;

/// A name, possibly with `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// An allow list and a deny list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// What may pass; `None` means everything.
    pub allow: Option<Vec<Pattern>>,
    /// What never passes.
    pub deny: Vec<Pattern>,
}

/// One filter per kind of item.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    pub tools: Filter,
    pub prompts: Filter,
    /// Matches URIs, and the URI templates of templates.
    pub resources: Filter,
}

const ANY: u8 = b'*';

impl Pattern {
    /// `None` if the text is empty.
    pub fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes linear time: between two stars, the first position where a part fits is as good as any.
    pub fn matches(&self, name: &str) -> bool {
        let Some((start, rest)) = self.0.split_once('*') else { return self.0 == name };
        let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
        let between = name.strip_prefix(start).and_then(|name| name.strip_suffix(end));
        let Some(mut between) = between else { return false };
        middle.split('*').all(|part| match between.find(part) {
            Some(at) => {
                between = &between[at + part.len()..];
                true
            }
            None => false,
        })
    }

    /// Whether a name with this beginning can match.
    pub fn can_begin(&self, beginning: &str) -> bool {
        self.positions(beginning).contains(&true)
    }

    /// The positions in the pattern that are reachable after reading `text`, which must be short: it
    /// takes time for each of its bytes and each of the pattern's.
    fn positions(&self, text: &str) -> Vec<bool> {
        let pattern = self.0.as_bytes();
        let mut here = vec![false; pattern.len() + 1];
        here[0] = true;
        skip_any(pattern, &mut here);
        for byte in text.bytes() {
            let mut next = vec![false; here.len()];
            for (position, wanted) in
                pattern.iter().enumerate().filter(|(position, _)| here[*position])
            {
                match *wanted {
                    ANY => next[position] = true,
                    wanted => next[position + 1] |= wanted == byte,
                }
            }
            skip_any(pattern, &mut next);
            here = next;
        }
        here
    }
}

/// A `*` may match nothing: a position before it also reaches the position after it.
fn skip_any(pattern: &[u8], here: &mut [bool]) {
    for (position, wanted) in pattern.iter().enumerate() {
        here[position + 1] |= here[position] && *wanted == ANY;
    }
}

impl Filter {
    pub fn passes(&self, name: &str) -> bool {
        self.passes_as(&[name])
    }

    /// Whether an item with several names passes.
    pub fn passes_as(&self, names: &[&str]) -> bool {
        let matches = |pattern: &Pattern| names.iter().any(|name| pattern.matches(name));
        self.allow.as_ref().is_none_or(|allow| allow.iter().any(matches))
            && !self.deny.iter().any(matches)
    }

    /// Whether everything passes.
    pub fn is_open(&self) -> bool {
        self.allow.is_none() && self.deny.is_empty()
    }

    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.allow.iter().flatten().chain(&self.deny)
    }
}

impl Filters {
    pub fn of(&self, list: ListKind) -> &Filter {
        match list {
            ListKind::Tools => &self.tools,
            ListKind::Prompts => &self.prompts,
            ListKind::Resources | ListKind::Templates => &self.resources,
        }
    }

    pub fn is_open(&self) -> bool {
        ListKind::ALL.into_iter().all(|list| self.of(list).is_open())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text).unwrap()
    }

    fn filter(allow: Option<&[&str]>, deny: &[&str]) -> Filter {
        let all = |texts: &[&str]| texts.iter().map(|text| pattern(text)).collect();
        Filter { allow: allow.map(all), deny: all(deny) }
    }

    #[test]
    fn a_star_stands_for_any_run_of_characters() {
        for (text, name, wanted) in [
            ("search", "search", true),
            ("search", "search_all", false),
            ("search", "Search", false),
            ("search_*", "search_", true),
            ("search_*", "search_notes", true),
            ("*_all", "delete_all", true),
            ("*_all", "delete_all_now", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("*", "", true),
            ("é*", "école", true),
            ("a.c", "abc", false),
        ] {
            assert_eq!(pattern(text).matches(name), wanted, "{text} {name}");
        }
        assert_eq!(Pattern::new(""), None);
    }

    #[test]
    fn deny_wins_over_allow() {
        let both = filter(Some(&["read_*", "write"]), &["read_secret*"]);
        let passing =
            ["read_notes", "read_secrets", "write", "erase"].map(|name| both.passes(name));
        assert_eq!(passing, [true, false, true, false]);
        assert!(!filter(Some(&[]), &[]).passes("x"), "nothing is allowed");
        assert!(Filter::default().passes("x") && Filter::default().is_open());
    }

    #[test]
    fn a_pattern_with_many_stars_is_fast() {
        let hostile = pattern(&"*a".repeat(60));
        assert!(!hostile.matches(&("a".repeat(59) + &"b".repeat(20_000_000))));
    }

    #[test]
    fn a_pattern_knows_how_matching_names_can_begin() {
        assert!(pattern("notes__*").can_begin("notes__"));
        assert!(pattern("*__delete_*").can_begin("notes__"));
        assert!(pattern("no*").can_begin("notes__"));
        assert!(!pattern("delete_*").can_begin("notes__"));
        assert!(!pattern("notes").can_begin("notes__"));
    }

    /// A simple reference implementation.
    fn means(pattern: &[char], name: &[char]) -> bool {
        match (pattern.split_first(), name.split_first()) {
            (None, None) => true,
            (Some(('*', rest)), _) => {
                means(rest, name)
                    || name.split_first().is_some_and(|(_, name)| means(pattern, name))
            }
            (Some((wanted, rest)), Some((found, name))) => wanted == found && means(rest, name),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn a_pattern_matches_what_it_means(text in "[ab*é]{1,8}", name in "[abé]{0,10}") {
            let (letters, found): (Vec<char>, Vec<char>) = (text.chars().collect(), name.chars().collect());
            prop_assert_eq!(pattern(&text).matches(&name), means(&letters, &found));
        }

        #[test]
        fn every_prefix_of_a_match_can_begin_one(text in "[ab*]{1,8}", name in "[ab]{0,10}", cut in 0_usize..10) {
            if pattern(&text).matches(&name) {
                prop_assert!(pattern(&text).can_begin(&name[..cut.min(name.len())]));
            }
        }

        #[test]
        fn a_filter_lets_pass_what_is_allowed_and_not_denied(
            allow in prop::option::of(prop::collection::vec("[ab*]{1,4}", 0..3)),
            deny in prop::collection::vec("[ab*]{1,4}", 0..3),
            name in "[ab]{0,5}",
        ) {
            let patterns = |texts: &[String]| texts.iter().map(|text| pattern(text)).collect::<Vec<_>>();
            let filter = Filter { allow: allow.as_deref().map(patterns), deny: patterns(&deny) };
            let any = |texts: &[String]| texts.iter().any(|text| pattern(text).matches(&name));
            let wanted = allow.as_deref().is_none_or(any) && !any(&deny);
            prop_assert_eq!(filter.passes(&name), wanted);
            prop_assert!(!filter.is_open() || wanted);
        }
    }
}
