//! Upstream names, and the merged names of tools and prompts.
//!
//! In the merged catalog a tool is usually named `<upstream>__<tool>`. Clients accept only letters,
//! digits, `_` and `-`, and add a prefix of their own, so a merged name has at most 46 characters. A
//! client that needs other names has a [`NameStyle`]; the lists in the configuration always use the
//! usual names. A name that does not fit is cut and ends with a hash of the full name: the same tool
//! gets the same name on every machine and after every restart, and names stay unique.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

const LONGEST_UPSTREAM: usize = 24;
const HASH_LENGTH: usize = 8;
/// What most clients put between their own prefix and the name of a tool.
const DOUBLE_UNDERSCORE: &str = "__";

/// What merged names look like to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameStyle {
    separator: &'static str,
    longest: usize,
}

/// The name of an upstream in the configuration, in paths and in tool names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UpstreamName(String);

/// The text is not a valid upstream name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid server name: use 1 to {LONGEST_UPSTREAM} lowercase letters, digits and single dashes"
)]
pub struct InvalidUpstreamName(String);

impl UpstreamName {
    pub fn parse(text: &str) -> Result<Self, InvalidUpstreamName> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let framed = text.starts_with('-') || text.ends_with('-');
        if (1..=LONGEST_UPSTREAM).contains(&text.len()) && text.chars().all(allowed) && !framed {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidUpstreamName(text.to_owned()))
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for UpstreamName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl NameStyle {
    /// The names that most clients see, and that the lists in the configuration use.
    pub const USUAL: Self = Self { separator: DOUBLE_UNDERSCORE, longest: 46 };

    /// Names with this separator and at most this many characters. `None` if names could not be told
    /// apart: an upstream's name has no underscore, so the separator must begin with one.
    pub fn new(separator: &'static str, longest: usize) -> Option<Self> {
        let shortest = LONGEST_UPSTREAM + separator.len() + HASH_LENGTH + 1;
        let distinct = separator == "_" || separator == DOUBLE_UNDERSCORE;
        (distinct && longest >= shortest).then_some(Self { separator, longest })
    }

    /// The merged name of `upstream`'s `original`, unless it is already taken.
    pub fn name(self, upstream: &UpstreamName, original: &str) -> String {
        let plain = self.full(upstream, original);
        if self.allows(&plain) { plain } else { self.hashed(upstream, original, 0) }
    }

    fn full(self, upstream: &UpstreamName, original: &str) -> String {
        format!("{upstream}{}{original}", self.separator)
    }

    fn allows(self, name: &str) -> bool {
        name.len() <= self.longest && name.chars().all(portable) && !self.is_ambiguous(name)
    }

    /// A client that needs another separator splits names at the usual one itself.
    fn is_ambiguous(self, name: &str) -> bool {
        self.separator != DOUBLE_UNDERSCORE && name.contains(DOUBLE_UNDERSCORE)
    }

    fn hashed(self, upstream: &UpstreamName, original: &str, attempt: usize) -> String {
        let mut digest = Sha256::new();
        digest.update(format!("{upstream}\0{original}"));
        if attempt > 0 {
            digest.update(attempt.to_be_bytes());
        }
        let hash: String = digest
            .finalize()
            .iter()
            .take(HASH_LENGTH / 2)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let tidy = |c| if portable(c) { c } else { '_' };
        let room = self.longest - HASH_LENGTH - 1;
        let mut head: String = self.full(upstream, original).chars().map(tidy).take(room).collect();
        if self.separator != DOUBLE_UNDERSCORE {
            while head.contains(DOUBLE_UNDERSCORE) {
                head = head.replace(DOUBLE_UNDERSCORE, "_");
            }
            head.truncate(head.trim_end_matches('_').len());
        }
        format!("{head}_{hash}")
    }
}

/// The merged names of one list, each used once.
#[derive(Debug)]
pub struct Namespace {
    style: NameStyle,
    taken: HashSet<String>,
}

impl Namespace {
    pub fn new(style: NameStyle) -> Self {
        Self { style, taken: HashSet::new() }
    }

    /// The merged name of `upstream`'s `original`.
    pub fn name(&mut self, upstream: &UpstreamName, original: &str) -> String {
        let usual = self.style.name(upstream, original);
        // The number of names differs each time, so a name that occurs often is found at once.
        let attempts = std::iter::once(0).chain(self.taken.len()..);
        let others = attempts.map(|attempt| self.style.hashed(upstream, original, attempt));
        let mut names = std::iter::once(usual).chain(others);
        let name = names.find(|name| !self.taken.contains(name)).expect("there is always another");
        self.taken.insert(name.clone());
        name
    }
}

/// The usual merged name of `upstream`'s `original`, unless it is already taken.
pub fn merged_name(upstream: &UpstreamName, original: &str) -> String {
    NameStyle::USUAL.name(upstream, original)
}

/// The usual merged name before it is shortened and made portable.
pub fn full_name(upstream: &UpstreamName, original: &str) -> String {
    NameStyle::USUAL.full(upstream, original)
}

fn portable(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces() -> UpstreamName {
        UpstreamName::parse("pieces").unwrap()
    }

    #[test]
    fn a_plain_tool_name_follows_its_upstream_name() {
        let name = Namespace::new(NameStyle::USUAL).name(&pieces(), "ask_pieces_ltm");
        assert_eq!(name, "pieces__ask_pieces_ltm");
    }

    #[test]
    fn a_name_that_clients_refuse_is_made_portable_and_stays_unique() {
        let mut names = Namespace::new(NameStyle::USUAL);
        let (dot, slash) = (names.name(&pieces(), "a.b"), names.name(&pieces(), "a/b"));
        assert!(dot.starts_with("pieces__a_b_") && slash.starts_with("pieces__a_b_"));
        assert_ne!(dot, slash);
    }

    #[test]
    fn an_upstream_name_must_work_in_a_path_and_in_a_tool_name() {
        for bad in ["", "Pieces", "a_b", "a b", "-a", "a-", "../x", &"a".repeat(25)] {
            assert!(UpstreamName::parse(bad).is_err(), "{bad}");
        }
        assert!(UpstreamName::parse("pieces-2").is_ok());
    }

    #[test]
    fn names_stay_unique_if_a_server_names_a_tool_like_the_hashed_name_of_another() {
        let hashed = merged_name(&pieces(), "a.b");
        let imitation = hashed.strip_prefix("pieces__").unwrap();
        for order in [["a.b", imitation], [imitation, "a.b"]] {
            let mut names = Namespace::new(NameStyle::USUAL);
            assert_ne!(names.name(&pieces(), order[0]), names.name(&pieces(), order[1]));
        }
    }

    #[test]
    fn a_client_that_splits_names_at_two_underscores_sees_none_in_a_name() {
        let style = NameStyle::new("_", 46).unwrap();
        assert_eq!(style.name(&pieces(), "ask_ltm"), "pieces_ask_ltm");
        for original in ["a__b", "_a", "a__", "____"] {
            let name = style.name(&pieces(), original);
            assert!(name.starts_with("pieces_") && !name.contains("__"), "{name}");
        }
    }

    #[test]
    fn a_style_in_which_names_could_collide_is_refused() {
        for (separator, longest) in [("-", 46), ("", 46), ("___", 46), ("_", 33), ("__", 34)] {
            assert_eq!(NameStyle::new(separator, longest), None, "{separator:?} {longest}");
        }
        assert_eq!(NameStyle::new("__", 46), Some(NameStyle::USUAL));
    }

    fn style() -> impl Strategy<Value = NameStyle> {
        (prop_oneof![Just("_"), Just("__")], 35_usize..70)
            .prop_map(|(separator, longest)| NameStyle::new(separator, longest).unwrap())
    }

    proptest! {
        #[test]
        fn every_name_is_portable_short_unique_and_the_same_next_time(
            originals in prop::collection::hash_set(".{1,70}|[a_]{1,6}", 1..8),
            style in style(),
        ) {
            let originals: Vec<String> = originals.into_iter().collect();
            let upstreams = ["pieces", "pieces-2", "p"].map(|name| UpstreamName::parse(name).unwrap());
            let all = || -> Vec<String> {
                let mut names = Namespace::new(style);
                let each = |upstream| originals.iter().map(move |original| (upstream, original));
                let all = upstreams.iter().flat_map(each);
                all.map(|(upstream, original)| names.name(upstream, original)).collect()
            };
            let first = all();
            prop_assert_eq!(&first, &all());
            prop_assert_eq!(first.iter().collect::<HashSet<_>>().len(), 3 * originals.len());
            for name in first {
                prop_assert!(style.allows(&name), "{}", name);
            }
        }
    }
}
