//! Removes the user's home folder, user name and machine name from a text.
//!
//! Reports are pasted in public. The home folder becomes `~`, the name of any user's home folder
//! becomes `<user>`, and so does the user name wherever it is a whole word. Case is ignored, as
//! macOS and Windows do in paths.

/// The names to remove.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateNames {
    /// The home folder.
    pub home: Option<String>,
    /// The user name.
    pub user: Option<String>,
    /// The machine name.
    pub machine: Option<String>,
}

const USER: &str = "<user>";
const MACHINE: &str = "<machine>";
/// The parents of home folders, in lower case.
const HOMES: [&str; 3] = ["/users/", "/home/", "\\users\\"];

impl PrivateNames {
    /// The text without these names.
    pub fn remove_from(&self, text: &str) -> String {
        let mut text = text.to_owned();
        if let Some(home) = real(self.home.as_deref()) {
            let home = home.trim_end_matches(['/', '\\']);
            // In JSON, backslashes are doubled.
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

/// Ignores a root folder or an empty name, which would match everywhere, and a name that equals its
/// placeholder.
fn real(text: Option<&str>) -> Option<&str> {
    let text = text.filter(|text| text.chars().any(char::is_alphanumeric));
    text.filter(|text| ![USER, MACHINE].contains(&format!("<{}>", text.to_lowercase()).as_str()))
}

/// Replaces every occurrence whose neighbouring characters satisfy `fits`.
fn replace(
    text: &str,
    what: &str,
    instead: &str,
    fits: impl Fn(Option<char>, Option<char>) -> bool,
) -> String {
    let (mut made, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(first) = rest.chars().next() {
        let found = starts_with(rest, what).filter(|length| {
            // The last character of a placeholder counts as the end of a word.
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

/// The length of `what` at the start of a text, ignoring case.
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

/// Replaces the user names in paths of home folders.
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

/// The length of the folder name at the start of a text.
fn name_at(text: &str) -> usize {
    if text.starts_with(USER) || text.starts_with('~') {
        return 0;
    }
    text.find(|letter: char| ends_name(Some(letter))).unwrap_or(text.len())
}

/// Whether a folder name ends before this character.
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

    fn private() -> PrivateNames {
        PrivateNames {
            home: Some("/home/ann".into()),
            user: Some("ann".into()),
            machine: Some("anns-laptop".into()),
        }
    }

    fn without(text: &str) -> String {
        private().remove_from(text)
    }

    #[test]
    fn the_home_folder_becomes_a_tilde() {
        assert_eq!(without("/home/ann/code/x.rs and /home/ann"), "~/code/x.rs and ~");
        assert_eq!(without("/home/anna/x"), "/home/<user>/x", "another user's home folder");
    }

    #[test]
    fn user_names_in_paths_of_other_systems_are_removed() {
        assert_eq!(without("/Users/bob/Library/a.ips"), "/Users/<user>/Library/a.ips");
        assert_eq!(
            without(r"C:\Users\Bob\x and C:\\Users\\Bob\\y"),
            r"C:\Users\<user>\x and C:\\Users\\<user>\\y"
        );
    }

    #[test]
    fn a_home_folder_with_backslashes_is_found_in_json() {
        let private =
            PrivateNames { home: Some(r"C:\Users\Ann B".into()), ..PrivateNames::default() };
        assert_eq!(private.remove_from(r"c:\users\ann b\x"), r"~\x");
        assert_eq!(private.remove_from(r#"{"p":"C:\\Users\\Ann B\\x"}"#), r#"{"p":"~\\x"}"#);
    }

    #[test]
    fn a_name_is_removed_only_where_it_is_a_whole_word() {
        assert_eq!(without("Ann's channel, ann@host"), "<user>'s channel, <user>@host");
        assert_eq!(without("on Anns-Laptop.local"), "on <machine>.local");
    }

    #[test]
    fn a_root_home_and_an_empty_name_change_nothing() {
        let nobody =
            PrivateNames { home: Some("/".into()), user: Some(String::new()), machine: None };
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

    /// Whether a text contains a whole word.
    fn stands(text: &str, word: &str) -> bool {
        let text = text.to_lowercase();
        text.match_indices(word).any(|(at, _)| {
            ends_word(text[..at].chars().next_back())
                && ends_word(text[at + word.len()..].chars().next())
        })
    }

    proptest! {
        #[test]
        fn no_name_is_left_in_any_text(text in words()) {
            let made = without(&text);
            prop_assert!(!stands(&made, "ann"), "{made}");
            prop_assert!(!stands(&made, "anns-laptop"), "{made}");
        }

        #[test]
        fn anonymizing_twice_changes_nothing(text in words()) {
            let once = without(&text);
            prop_assert_eq!(without(&once), once);
        }

        #[test]
        fn a_text_without_names_is_unchanged(text in "[b-m0-9 .,;!?-]{0,60}") {
            prop_assert_eq!(without(&text), text);
        }
    }
}
