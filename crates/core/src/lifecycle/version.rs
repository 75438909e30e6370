//! Versions of Evermoor, in the order of Semantic Versioning, and who may take over from whom.

use semver::Version;

/// Whether a gateway of version `running` is to be replaced by one of version `ours`. What cannot be
/// read is left alone: nothing is ever replaced by something older.
pub fn is_older(running: &str, ours: &str) -> bool {
    match (Version::parse(running), Version::parse(ours)) {
        // Two builds of one version, which differ behind a `+`, are the same.
        (Ok(running), Ok(ours)) => running.cmp_precedence(&ours).is_lt(),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Whether somebody of version `ours` who finds a gateway of version `running` starts one that takes
/// over. `tried` is the version that was taken over from before: if a gateway of that version still
/// runs, or runs again, another attempt would lead to the same.
pub fn calls_for_takeover(running: &str, ours: &str, tried: Option<&str>) -> bool {
    is_older(running, ours) && tried != Some(running)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn versions_come_in_the_order_of_semantic_versioning() {
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
        for (place, older) in order.iter().enumerate() {
            for newer in &order[place + 1..] {
                assert!(is_older(older, newer), "{older} {newer}");
                assert!(!is_older(newer, older), "{newer} {older}");
            }
            assert!(!is_older(older, older));
        }
    }

    #[test]
    fn builds_of_one_version_are_the_same_and_what_is_no_version_is_left_alone() {
        assert!(!is_older("1.0.0+a", "1.0.0+b"));
        for text in ["", "1", "1.0", "1.0.0.0", "v1.0.0", "1.0.x", "01.0.0", "1.0.0-", "1.0.0-a..b"]
        {
            assert!(Version::parse(text).is_err(), "{text}");
            assert!(!is_older(text, "9.0.0") && !is_older("0.0.1", text), "{text}");
        }
    }

    #[test]
    fn an_attempt_that_led_to_nothing_is_not_made_again() {
        assert!(calls_for_takeover("0.1.0", "0.2.0", None));
        assert!(calls_for_takeover("0.1.1", "0.2.0", Some("0.1.0")));
        assert!(!calls_for_takeover("0.1.0", "0.2.0", Some("0.1.0")));
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
        fn a_launcher_comes_to_rest(ours in version(), found in prop::collection::vec(version(), 1..20)) {
            let mut tried: Option<String> = None;
            for running in &found {
                if calls_for_takeover(running, &ours, tried.as_deref()) {
                    tried = Some(running.clone());
                    prop_assert!(!calls_for_takeover(running, &ours, tried.as_deref()));
                }
            }
        }
    }
}
