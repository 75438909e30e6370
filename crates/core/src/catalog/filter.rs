//! Allow and deny lists: which names a person wants to be seen.
//!
//! A pattern is a name in which `*` stands for any run of characters, also for none. Nothing else
//! is special, and capitals count. What is denied is hidden, whatever is allowed; if anything is
//! allowed by name, nothing else is seen.

use crate::catalog::List;

/// A name, or several names in one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// What passes and what does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// All that passes; `None` lets everything pass.
    pub allow: Option<Vec<Pattern>>,
    /// What does not pass all the same.
    pub deny: Vec<Pattern>,
}

/// A filter for each kind of thing that an upstream offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    pub tools: Filter,
    pub prompts: Filter,
    /// By address; a template by its form.
    pub resources: Filter,
}

const ANY: u8 = b'*';

impl Pattern {
    /// `None` if the text is empty, which is no name.
    pub fn new(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn matches(&self, name: &str) -> bool {
        self.places(name).last() == Some(&true)
    }

    /// Whether a name that begins so can match.
    pub fn can_begin(&self, beginning: &str) -> bool {
        self.places(beginning).contains(&true)
    }

    /// At which places of the pattern one can be after reading `text`: the last is its end. Each
    /// byte is looked at once per place, so no pattern takes long.
    fn places(&self, text: &str) -> Vec<bool> {
        let pattern = self.0.as_bytes();
        let mut here = vec![false; pattern.len() + 1];
        here[0] = true;
        skip_any(pattern, &mut here);
        for byte in text.bytes() {
            let mut next = vec![false; here.len()];
            for (place, wanted) in pattern.iter().enumerate().filter(|(place, _)| here[*place]) {
                match *wanted {
                    ANY => next[place] = true,
                    wanted => next[place + 1] |= wanted == byte,
                }
            }
            skip_any(pattern, &mut next);
            here = next;
        }
        here
    }
}

/// Whoever is before a `*` is also behind it.
fn skip_any(pattern: &[u8], here: &mut [bool]) {
    for (place, wanted) in pattern.iter().enumerate() {
        here[place + 1] |= here[place] && *wanted == ANY;
    }
}

impl Filter {
    pub fn passes(&self, name: &str) -> bool {
        self.passes_as(&[name])
    }

    /// Whether something passes that has several names.
    pub fn passes_as(&self, names: &[&str]) -> bool {
        let matches = |pattern: &Pattern| names.iter().any(|name| pattern.matches(name));
        self.allow.as_ref().is_none_or(|allow| allow.iter().any(matches))
            && !self.deny.iter().any(matches)
    }

    /// Whether everything passes, so that nothing has to be looked at.
    pub fn is_open(&self) -> bool {
        self.allow.is_none() && self.deny.is_empty()
    }

    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.allow.iter().flatten().chain(&self.deny)
    }
}

impl Filters {
    pub fn of(&self, list: List) -> &Filter {
        match list {
            List::Tools => &self.tools,
            List::Prompts => &self.prompts,
            List::Resources | List::Templates => &self.resources,
        }
    }

    pub fn is_open(&self) -> bool {
        List::ALL.into_iter().all(|list| self.of(list).is_open())
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
    fn what_is_denied_is_hidden_whatever_is_allowed() {
        let both = filter(Some(&["read_*", "write"]), &["read_secret*"]);
        let passing =
            ["read_notes", "read_secrets", "write", "erase"].map(|name| both.passes(name));
        assert_eq!(passing, [true, false, true, false]);
        assert!(!filter(Some(&[]), &[]).passes("x"), "nothing is allowed");
        assert!(Filter::default().passes("x") && Filter::default().is_open());
    }

    #[test]
    fn a_pattern_that_takes_for_ever_elsewhere_does_not_here() {
        let hostile = pattern(&"*a".repeat(60));
        assert!(!hostile.matches(&("a".repeat(59) + &"b".repeat(2_000))));
    }

    #[test]
    fn a_pattern_knows_with_what_its_names_can_begin() {
        assert!(pattern("notes__*").can_begin("notes__"));
        assert!(pattern("*__delete_*").can_begin("notes__"));
        assert!(pattern("no*").can_begin("notes__"));
        assert!(!pattern("delete_*").can_begin("notes__"));
        assert!(!pattern("notes").can_begin("notes__"));
    }

    /// What a pattern means, in the shortest words.
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
        fn what_matches_can_begin_as_it_begins(text in "[ab*]{1,8}", name in "[ab]{0,10}", cut in 0_usize..10) {
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
