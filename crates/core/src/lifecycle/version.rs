//! Versions of Evermoor, ordered by Semantic Versioning, and when a newer gateway takes over.

use semver::Version;

/// Whether version `running` is older than version `ours`. False if either cannot be parsed: a
/// gateway is never replaced by an older one.
pub fn is_older(running: &str, ours: &str) -> bool {
    match (Version::parse(running), Version::parse(ours)) {
        // Two builds of one version, which differ behind a `+`, are the same.
        (Ok(running), Ok(ours)) => running.cmp_precedence(&ours).is_lt(),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Whether a program of version `ours` starts a gateway that takes over from one of version `running`.
/// `tried` is the version of the previous attempt: if that version is still running, another attempt
/// would fail as well.
pub fn should_take_over(running: &str, ours: &str, tried: Option<&str>) -> bool {
    is_older(running, ours) && tried != Some(running)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn versions_are_ordered_by_semantic_versioning() {
        let order = [
            "0.1.0",
            "0.2.0",
            "0.10.0",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1.0.0",
            "1.0.1",
            "2.0.0",
        ];
        for (index, older) in order.iter().enumerate() {
            for newer in &order[index + 1..] {
                assert!(is_older(older, newer), "{older} {newer}");
                assert!(!is_older(newer, older), "{newer} {older}");
            }
            assert!(!is_older(older, older));
        }
    }

    #[test]
    fn build_metadata_is_ignored_and_invalid_versions_are_never_older() {
        assert!(!is_older("1.0.0+a", "1.0.0+b"));
        for text in ["", "1", "1.0", "1.0.0.0", "v1.0.0", "1.0.x", "01.0.0", "1.0.0-", "1.0.0-a..b"]
        {
            assert!(Version::parse(text).is_err(), "{text}");
            assert!(!is_older(text, "9.0.0") && !is_older("0.0.1", text), "{text}");
        }
    }

    #[test]
    fn a_failed_takeover_is_not_tried_again() {
        assert!(should_take_over("0.1.0", "0.2.0", None));
        assert!(should_take_over("0.1.1", "0.2.0", Some("0.1.0")));
        assert!(!should_take_over("0.1.0", "0.2.0", Some("0.1.0")));
    }

    fn version() -> impl Strategy<Value = String> {
        let stage = prop::collection::vec("[0-9]|[1-9][0-9]{0,3}|[a-z][a-z0-9-]{0,3}", 0..3);
        ((0..4_u64), (0..4_u64), (0..4_u64), stage).prop_map(|(major, minor, patch, stage)| {
            let dash = if stage.is_empty() { "" } else { "-" };
            format!("{major}.{minor}.{patch}{dash}{}", stage.join("."))
        })
    }

    proptest! {
        #[test]
        fn of_two_versions_at_most_one_takes_over(one in version(), other in version()) {
            prop_assert!(Version::parse(&one).is_ok() && Version::parse(&other).is_ok());
            prop_assert!(!(is_older(&one, &other) && is_older(&other, &one)));
            prop_assert_eq!(is_older(&one, &other) || is_older(&other, &one), one != other);
        }

        #[test]
        fn a_launcher_never_repeats_an_attempt(ours in version(), found in prop::collection::vec(version(), 1..20)) {
            let mut tried: Option<String> = None;
            for running in &found {
                if should_take_over(running, &ours, tried.as_deref()) {
                    tried = Some(running.clone());
                    prop_assert!(!should_take_over(running, &ours, tried.as_deref()));
                }
            }
        }
    }
}
