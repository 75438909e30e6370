//! Upstream names, and the merged names of tools and prompts.
//!
//! In the merged catalog a tool is named `<upstream>__<tool>`. Clients accept only letters, digits,
//! `_` and `-`, and add a prefix of their own, so a merged name has at most 46 characters. A name
//! that does not fit is cut and ends with a hash of the full name: the same tool gets the same name
//! on every machine and after every restart, and names stay unique.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

/// The maximum length of a merged name.
pub const MAX_NAME_LENGTH: usize = 46;
const LONGEST_UPSTREAM: usize = 24;
const SEPARATOR: &str = "__";

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

/// The merged names of one list, each used once.
#[derive(Debug, Default)]
pub struct Namespace {
    taken: HashSet<String>,
}

impl Namespace {
    /// The merged name of `upstream`'s `original`.
    pub fn name(&mut self, upstream: &UpstreamName, original: &str) -> String {
        let usual = merged_name(upstream, original);
        let name = if self.taken.contains(&usual) { hashed(upstream, original) } else { usual };
        self.taken.insert(name.clone());
        name
    }
}

/// The merged name of `upstream`'s `original`, unless it is already taken.
pub fn merged_name(upstream: &UpstreamName, original: &str) -> String {
    let plain = full_name(upstream, original);
    let fits = plain.len() <= MAX_NAME_LENGTH && plain.chars().all(portable);
    if fits { plain } else { hashed(upstream, original) }
}

/// The merged name before it is shortened and made portable.
pub fn full_name(upstream: &UpstreamName, original: &str) -> String {
    format!("{upstream}{SEPARATOR}{original}")
}

fn portable(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn hashed(upstream: &UpstreamName, original: &str) -> String {
    let digest = Sha256::digest(format!("{upstream}\0{original}"));
    let hash = format!("{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3]);
    let tidy = |c| if portable(c) { c } else { '_' };
    let room = MAX_NAME_LENGTH - hash.len() - 1;
    let head: String = full_name(upstream, original).chars().map(tidy).take(room).collect();
    format!("{head}_{hash}")
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
        let name = Namespace::default().name(&pieces(), "ask_pieces_ltm");
        assert_eq!(name, "pieces__ask_pieces_ltm");
    }

    #[test]
    fn a_name_that_clients_refuse_is_made_portable_and_stays_unique() {
        let mut names = Namespace::default();
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

    proptest! {
        #[test]
        fn every_name_is_portable_short_unique_and_the_same_next_time(
            originals in prop::collection::hash_set(".{1,70}", 1..8),
        ) {
            let originals: Vec<String> = originals.into_iter().collect();
            let all = |names: &mut Namespace| -> Vec<String> {
                originals.iter().map(|original| names.name(&pieces(), original)).collect()
            };
            let first = all(&mut Namespace::default());
            prop_assert_eq!(&first, &all(&mut Namespace::default()));
            prop_assert_eq!(first.iter().collect::<HashSet<_>>().len(), originals.len());
            for name in first {
                prop_assert!(name.len() <= MAX_NAME_LENGTH && name.chars().all(portable), "{}", name);
            }
        }
    }
}
