//! The one reader of the members of an object.
//!
//! What others wrote is read in time proportional to its size, up to [`MAX_MEMBERS`]. An object with
//! more members, or with two of the same name, cannot be read: two parsers could choose different
//! values. It can still be passed on as it is.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// How many members an object may have to be read. Real messages have a few dozen.
pub(crate) const MAX_MEMBERS: usize = 16_384;
/// Up to this many members, comparing each with each is faster than sorting.
const FEW: usize = 16;

/// The members of an object in order, with raw values.
pub(crate) struct JsonMembers<'a>(pub(crate) Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> JsonMembers<'a> {
    /// Reads an object that is valid UTF-8.
    pub(crate) fn read(object: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(object)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| *value)
    }
}

impl<'de> Deserialize<'de> for JsonMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = JsonMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members: Vec<(Cow<'de, str>, &RawValue)> = Vec::with_capacity(4);
                while let Some(Key(key)) = map.next_key()? {
                    if members.len() == MAX_MEMBERS {
                        return Err(A::Error::custom(format_args!(
                            "an object has more than {MAX_MEMBERS} members"
                        )));
                    }
                    if members.len() < FEW && members.iter().any(|(known, _)| *known == key) {
                        return Err(duplicate(&key));
                    }
                    members.push((key, map.next_value()?));
                }
                if members.len() > FEW
                    && let Some(key) = first_duplicate(members.iter().map(|(key, _)| &**key))
                {
                    return Err(duplicate(key));
                }
                Ok(JsonMembers(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// A member's name, borrowed unless it has escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a member name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

fn duplicate<E: serde::de::Error>(key: &str) -> E {
    let start: String = key.chars().take(80).collect();
    E::custom(format_args!("duplicate member `{start}`"))
}

/// A key that occurs twice, if there is one.
fn first_duplicate<K: Ord + Copy>(keys: impl Iterator<Item = K>) -> Option<K> {
    let mut sorted: Vec<K> = keys.collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Whether a parser that ignores case would take `key` for one of `known`, which are in ASCII.
pub(crate) fn is_lookalike(key: &str, known: &[&str]) -> bool {
    // Some characters beyond ASCII, such as `ſ`, have an ASCII letter as their other case.
    let longest = 3 * known.iter().map(|known| known.len()).max().unwrap_or_default();
    if key.len() > longest || known.contains(&key) {
        return false;
    }
    match key.is_ascii() {
        true => known.iter().any(|known| key.eq_ignore_ascii_case(known)),
        false => {
            let (upper, lower) = (key.to_uppercase(), key.to_lowercase());
            known
                .iter()
                .any(|known| upper.eq_ignore_ascii_case(known) || lower.eq_ignore_ascii_case(known))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::cmp::Ordering;

    fn object(members: usize) -> String {
        let members: Vec<String> = (0..members).map(|n| format!(r#""m{n}":0"#)).collect();
        format!("{{{}}}", members.join(","))
    }

    #[test]
    fn an_object_with_too_many_members_is_not_read() {
        assert!(JsonMembers::read(&object(MAX_MEMBERS)).is_ok());
        let error = JsonMembers::read(&object(180_000)).err().unwrap();
        assert!(error.is_data() && error.to_string().contains("more than 16384"), "{error}");
    }

    #[test]
    fn a_duplicate_is_found_wherever_it_is() {
        for members in [2, FEW, FEW + 1, 1000] {
            for (one, other) in [(0, members - 1), (0, 1), (members - 2, members - 1)] {
                let text =
                    object(members).replace(&format!("\"m{other}\""), &format!("\"m{one}\""));
                let error = JsonMembers::read(&text).err().expect("a duplicate");
                assert!(error.to_string().contains(&format!("`m{one}`")), "{error}");
            }
        }
        assert!(JsonMembers::read(r#"{"a":1,"\u0061":2}"#).is_err(), "an escape hides nothing");
    }

    /// A key that counts how often it is compared.
    #[derive(Clone, Copy)]
    struct Counted<'a>(u32, &'a Cell<u64>);

    impl PartialEq for Counted<'_> {
        fn eq(&self, other: &Self) -> bool {
            self.cmp(other).is_eq()
        }
    }

    impl Eq for Counted<'_> {}

    impl PartialOrd for Counted<'_> {
        fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
            Some(self.cmp(other))
        }
    }

    impl Ord for Counted<'_> {
        fn cmp(&self, other: &Self) -> Ordering {
            self.1.set(self.1.get() + 1);
            self.0.cmp(&other.0)
        }
    }

    #[test]
    fn twice_as_many_members_take_about_twice_the_comparisons() {
        let comparisons = |keys: u32| {
            let count = Cell::new(0);
            let scattered = (0..keys).map(|n| Counted(n.wrapping_mul(2_654_435_761), &count));
            assert!(first_duplicate(scattered).is_none());
            count.get()
        };
        assert!(comparisons(16_000) <= 3 * comparisons(8_000));
    }

    #[test]
    fn a_name_in_another_case_is_a_lookalike() {
        let known = ["params", "task"];
        for key in ["Params", "PARAMS", "param\u{17f}", "tas\u{212a}"] {
            assert!(is_lookalike(key, &known), "{key}");
        }
        for key in ["params", "task", "param", "parámś", ""] {
            assert!(!is_lookalike(key, &known), "{key}");
        }
        assert!(!is_lookalike(&"P".repeat(1 << 20), &known));
    }
}
