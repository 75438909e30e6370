//! Takes a person out of a text: their home folder and their name.
//!
//! A report is pasted where everybody can read it. The home folder becomes `~`, the name of any
//! folder in which a system keeps its users becomes `<user>`, and so does the name itself wherever
//! it stands as a word. Capitals do not matter, because two of the three systems ignore them.

/// What is private about a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Private {
    /// The home folder.
    pub home: Option<String>,
    /// The name that the system knows the person by.
    pub user: Option<String>,
    /// What this machine is called.
    pub machine: Option<String>,
}

const USER: &str = "<user>";
const MACHINE: &str = "<machine>";
/// The folders in which systems keep their users, in lower case.
const HOMES: [&str; 3] = ["/users/", "/home/", "\\users\\"];

impl Private {
    /// The text without what is private.
    pub fn remove_from(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if let Some(home) = real(self.home.as_deref()) {
            let home = home.trim_end_matches(['/', '\\']);
            // A path inside JSON has its backslashes doubled.
            for form in [home.replace('\\', "\\\\"), home.to_owned()] {
                text = replace(&text, &form, "~", |_, after| ends_name(after));
            }
        }
        text = without_users(&text);
        for (word, instead) in [(&self.user, USER), (&self.machine, MACHINE)] {
            if let Some(word) = real(word.as_deref()) {
                text = replace(&text, word, instead, |before, after| {
                    ends_word(before) && ends_word(after)
                });
            }
        }
        text
    }
}

/// A root folder or an empty name hides nothing, and would be found everywhere. Nor does a name that
/// is the word put in its place.
fn real(text: Option<&str>) -> Option<&str> {
    let text = text.filter(|text| text.chars().any(char::is_alphanumeric));
    text.filter(|text| ![USER, MACHINE].contains(&format!("<{}>", text.to_lowercase()).as_str()))
}

/// Replaces every occurrence that stands between characters as `fits` wants them.
fn replace(
    text: &str,
    what: &str,
    instead: &str,
    fits: impl Fn(Option<char>, Option<char>) -> bool,
) -> String {
    let (mut made, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let found = starts_with(rest, what).filter(|length| {
            // `instead` is ours: its letters do not make a word of what follows.
            let before = made.chars().next_back();
            fits(before, rest[*length..].chars().next())
        });
        match found {
            Some(length) => {
                made.push_str(instead);
                rest = &rest[length..];
            }
            None => {
                made.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    made
}

/// The length of `what` at the beginning of a text, whatever its capitals.
fn starts_with(text: &str, what: &str) -> Option<usize> {
    let mut letters = text.char_indices();
    for wanted in what.chars() {
        let (_, found) = letters.next()?;
        if !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(letters.next().map_or(text.len(), |(at, _)| at))
}

/// The names of users in paths, whoever they are.
fn without_users(text: &str) -> String {
    let (mut made, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let folder = HOMES.iter().find_map(|homes| {
            let doubled = homes.replace('\\', "\\\\");
            starts_with(rest, &doubled).or_else(|| starts_with(rest, homes))
        });
        let name = folder.map(|length| name_at(&rest[length..])).unwrap_or_default();
        match folder {
            Some(length) if name > 0 => {
                made.push_str(&rest[..length]);
                made.push_str(USER);
                rest = &rest[length + name..];
            }
            Some(_) | None => {
                made.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    made
}

/// How long the name of a folder at the beginning of a text is.
fn name_at(text: &str) -> usize {
    if text.starts_with(USER) || text.starts_with('~') {
        return 0;
    }
    text.find(|letter: char| ends_name(Some(letter))).unwrap_or(text.len())
}

/// Whether a character cannot be part of the name of a folder, as far as one can know in a text.
fn ends_name(next: Option<char>) -> bool {
    next.is_none_or(|next| next.is_whitespace() || "/\\\"'`:;,<>|()[]{}*?".contains(next))
}

fn ends_word(next: Option<char>) -> bool {
    next.is_none_or(|next| !next.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn private() -> Private {
        Private {
            home: Some("/home/ann".into()),
            user: Some("ann".into()),
            machine: Some("anns-laptop".into()),
        }
    }

    fn without(text: &str) -> String {
        private().remove_from(text)
    }

    #[test]
    fn a_home_folder_is_a_tilde() {
        assert_eq!(without("/home/ann/code/x.rs and /home/ann"), "~/code/x.rs and ~");
        assert_eq!(without("/home/anna/x"), "/home/<user>/x", "another one's is not ours");
    }

    #[test]
    fn users_of_other_systems_are_hidden_too() {
        assert_eq!(without("/Users/bob/Library/a.ips"), "/Users/<user>/Library/a.ips");
        assert_eq!(
            without(r"C:\Users\Bob\x and C:\\Users\\Bob\\y"),
            r"C:\Users\<user>\x and C:\\Users\\<user>\\y"
        );
    }

    #[test]
    fn a_home_folder_with_backslashes_is_found_in_json_too() {
        let private = Private { home: Some(r"C:\Users\Ann B".into()), ..Private::default() };
        assert_eq!(private.remove_from(r"c:\users\ann b\x"), r"~\x");
        assert_eq!(private.remove_from(r#"{"p":"C:\\Users\\Ann B\\x"}"#), r#"{"p":"~\\x"}"#);
    }

    #[test]
    fn a_name_is_hidden_where_it_is_a_word_and_left_where_it_is_a_part_of_one() {
        assert_eq!(without("Ann's channel, ann@host"), "<user>'s channel, <user>@host");
        assert_eq!(without("on Anns-Laptop.local"), "on <machine>.local");
    }

    #[test]
    fn nothing_private_means_nothing_changes() {
        let nobody = Private { home: Some("/".into()), user: Some(String::new()), machine: None };
        assert_eq!(nobody.remove_from("a / b"), "a / b");
    }

    fn words() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            Just("/home/ann".to_owned()),
            Just("/HOME/Ann/x".to_owned()),
            Just("ann".to_owned()),
            Just("/Users/ann".to_owned()),
            Just(r"C:\Users\ann".to_owned()),
            Just("channel".to_owned()),
            Just("anns-laptop".to_owned()),
            "\\PC{0,4}",
            "[ /\\\\:\"~<>]{0,2}",
        ];
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    /// Whether a word stands in a text, with nothing around it that makes it part of another.
    fn stands(text: &str, word: &str) -> bool {
        let text = text.to_lowercase();
        text.match_indices(word).any(|(at, _)| {
            ends_word(text[..at].chars().next_back())
                && ends_word(text[at + word.len()..].chars().next())
        })
    }

    proptest! {
        #[test]
        fn whatever_the_text_no_name_and_no_home_is_left(text in words()) {
            let made = without(&text);
            prop_assert!(!stands(&made, "ann"), "{made}");
            prop_assert!(!stands(&made, "anns-laptop"), "{made}");
        }

        #[test]
        fn what_was_removed_once_stays_removed(text in words()) {
            let once = without(&text);
            prop_assert_eq!(without(&once), once);
        }

        #[test]
        fn a_text_without_anything_private_stays_as_it_is(text in "[b-m0-9 .,;!?-]{0,60}") {
            prop_assert_eq!(without(&text), text);
        }
    }
}
