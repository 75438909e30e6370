//! The version of the file, and the way from an older one.
//!
//! A file may say `version = 1` at its top; one that says nothing is of version 1, which is the
//! first. When the format changes in a way that older files do not follow, a [`Step`] is added to
//! [`Ladder::KNOWN`], and with it the newest version counts up. An older file then climbs step by
//! step. Steps edit the document, not a model of it, so that comments and order stay.

use serde::Deserialize;
use toml::Spanned;
use toml_edit::DocumentMut;

use super::file::{line, read};
use super::{Config, Mistake};

/// Rewrites a document of one version into the next.
pub type Step = fn(&mut DocumentMut);

/// Every step there is: the first one leads from version 1 to version 2.
#[derive(Clone, Copy, Debug)]
pub struct Ladder(pub &'static [Step]);

/// A file in the words of the newest version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// The version that the file had.
    pub from: usize,
    pub text: String,
}

const FIRST: usize = 1;

impl Ladder {
    /// Version 1 is the only one so far, so there is nothing to climb.
    pub const KNOWN: Self = Self(&[]);

    /// The version that this Evermoor writes and reads.
    pub fn newest(self) -> usize {
        FIRST + self.0.len()
    }

    /// Reads a file of any version, and gives what it became if it was of an older one.
    pub fn parse(self, text: &str) -> Result<(Config, Option<Upgraded>), Mistake> {
        let Some(upgraded) = self.climb(text)? else {
            return Ok((read(text)?, None));
        };
        // The lines of what it became are not those of the file.
        let config = read(&upgraded.text).map_err(|found| Mistake { line: None, ..found });
        Ok((config?, Some(upgraded)))
    }

    /// Brings `text` to the newest version. `None` if it is of that version already, or is no TOML:
    /// what is wrong with it is for the reader of the whole file to say.
    fn climb(self, text: &str) -> Result<Option<Upgraded>, Mistake> {
        #[derive(Deserialize)]
        struct Head {
            version: Option<Spanned<toml::Value>>,
        }
        let Ok(Head { version }) = toml::from_str(text) else {
            return Ok(None);
        };
        let from = match &version {
            Some(found) => self.read(text, found)?,
            None => FIRST,
        };
        let steps = &self.0[from - FIRST..];
        let (false, Ok(mut document)) = (steps.is_empty(), text.parse::<DocumentMut>()) else {
            return Ok(None);
        };
        for step in steps {
            step(&mut document);
        }
        let newest = i64::try_from(self.newest()).unwrap_or(i64::MAX);
        match document.get_mut("version").and_then(toml_edit::Item::as_value_mut) {
            // What stands around the number, a comment for one, is kept.
            Some(value) => {
                let decor = value.decor().clone();
                *value = newest.into();
                *value.decor_mut() = decor;
            }
            None => {
                let mut first = DocumentMut::new();
                first.insert("version", toml_edit::value(newest));
                let text = format!("{first}\n{document}");
                return Ok(Some(Upgraded { from, text }));
            }
        }
        Ok(Some(Upgraded { from, text: document.to_string() }))
    }

    fn read(self, text: &str, found: &Spanned<toml::Value>) -> Result<usize, Mistake> {
        let newest = self.newest();
        let wrong = |what: String, remedy: String| Mistake {
            line: Some(line(text, found.span().start)),
            what,
            remedy,
        };
        let number = found.get_ref().as_integer().and_then(|number| usize::try_from(number).ok());
        match number {
            Some(number) if (FIRST..=newest).contains(&number) => Ok(number),
            Some(number) if number > newest => Err(wrong(
                format!(
                    "The file is of version {number}, and this Evermoor knows none after {newest}."
                ),
                "Update Evermoor, or go back to the file you had before.".into(),
            )),
            Some(_) | None => Err(wrong(
                format!("`{}` is no version of the file.", found.get_ref()),
                format!("Write version = {newest}."),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two steps that nobody needs: `servers` became `upstreams`, then `address` became `url`.
    const MADE_UP: Ladder = Ladder(&[
        |document| rename(document.as_table_mut(), "servers", "upstreams"),
        |document| {
            let upstreams = document.get_mut("upstreams").and_then(|item| item.as_table_like_mut());
            for (_, entry) in upstreams.into_iter().flat_map(|upstreams| upstreams.iter_mut()) {
                rename(entry.as_table_like_mut().unwrap(), "address", "url");
            }
        },
    ]);

    /// Comments above a key belong to the key, so they move with it.
    fn rename(table: &mut dyn toml_edit::TableLike, old: &str, new: &str) {
        let Some(key) = table.key(old) else { return };
        let key = toml_edit::Key::new(new).with_leaf_decor(key.leaf_decor().clone());
        let item = table.remove(old).unwrap();
        table.entry_format(&key).or_insert(item);
    }

    #[test]
    fn a_file_without_a_version_is_of_the_first_and_is_left_as_it_is() {
        for text in ["", "version = 1\n", "# mine\n[gateway]\nhold = 3\n"] {
            assert_eq!(Ladder::KNOWN.climb(text).unwrap(), None, "{text}");
            Config::parse(text).unwrap();
        }
    }

    #[test]
    fn a_newer_file_is_refused_with_what_to_do_even_if_its_words_are_new() {
        let found = Config::parse("[nested]\n[[unheard]]\n").unwrap_err();
        assert!(found.what.contains("unknown field"), "{found}");
        let found = Config::parse("# mine\nversion = 2\n[unheard]\n").unwrap_err();
        assert_eq!(found.line, Some(2));
        assert_eq!(
            found.to_string(),
            "The file is of version 2, and this Evermoor knows none after 1. Update Evermoor, or go \
             back to the file you had before."
        );
    }

    #[test]
    fn what_is_no_version_is_said_to_be_none() {
        for text in ["version = 0", "version = -1", "version = \"one\"", "version = 1.5"] {
            let found = Config::parse(text).unwrap_err();
            assert!(found.what.contains("is no version"), "{text}: {found}");
            assert_eq!(found.remedy, "Write version = 1.");
        }
    }

    #[test]
    fn an_older_file_climbs_every_step_and_keeps_its_comments() {
        let old = "# mine\nversion = 1 # of the file\n\n[servers.notes]\n# at home\naddress = \"http://127.0.0.1:1/mcp\" # local\n";
        let climbed = MADE_UP.climb(old).unwrap().unwrap();
        assert_eq!((climbed.from, MADE_UP.newest()), (1, 3));
        for kept in ["# mine", "version = 3 # of the file", "# at home", "[upstreams.notes]"] {
            assert!(climbed.text.contains(kept), "{kept} in {}", climbed.text);
        }
        assert!(climbed.text.contains("url = \"http://127.0.0.1:1/mcp\" # local"));
        assert_eq!(MADE_UP.climb(&climbed.text).unwrap(), None, "there is nothing left to climb");
    }

    #[test]
    fn a_mistake_in_an_older_file_is_not_blamed_on_a_line_it_does_not_stand_in() {
        let found = MADE_UP.parse("[servers.a]\naddress = \"ftp://x\"\n").unwrap_err();
        assert!(found.line.is_none() && found.what.contains("ftp://x"), "{found}");
    }

    #[test]
    fn a_file_in_the_middle_climbs_the_rest() {
        let climbed = MADE_UP.climb("version = 2\n[servers]\n[upstreams.a]\naddress = \"x\"\n");
        let climbed = climbed.unwrap().unwrap();
        assert_eq!(climbed.from, 2);
        assert!(climbed.text.contains("[servers]"), "the first step was not taken again");
    }

    #[test]
    fn an_older_file_without_a_version_gets_one_at_its_top() {
        let climbed = MADE_UP.climb("# mine\n[servers.a]\naddress = \"x\"\n").unwrap().unwrap();
        assert_eq!(climbed.text, "version = 3\n\n# mine\n[upstreams.a]\nurl = \"x\"\n");
    }
}
