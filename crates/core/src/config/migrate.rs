//! The version of the file, and migration from older versions.
//!
//! A file may have `version = 1` at its top; a file without a version has version 1. An incompatible
//! change of the format adds a [`Migration`] to [`Migrations::KNOWN`], which also raises the latest version.
//! Older files are migrated step by step. Steps edit the document, not a model of it, so that
//! comments and order are kept.

use serde::Deserialize;
use toml::Spanned;
use toml_edit::DocumentMut;

use super::tables::{line, read};
use super::{Config, ConfigError};

/// Migrates a document from one version to the next.
pub type Migration = fn(&mut DocumentMut);

/// All migrations: the first one is from version 1 to version 2.
#[derive(Clone, Copy, Debug)]
pub struct Migrations(pub &'static [Migration]);

/// A file that was migrated to the latest version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// The version before the migration.
    pub from: usize,
    pub text: String,
}

const FIRST: usize = 1;

impl Migrations {
    /// Version 1 is the only one so far, so there are no migrations.
    pub const KNOWN: Self = Self(&[]);

    /// The version that this Evermoor writes and reads.
    pub fn newest(self) -> usize {
        FIRST + self.0.len()
    }

    /// Parses a file of any version, and returns the migrated file if it had an older one.
    pub fn parse(self, text: &str) -> Result<(Config, Option<Migrated>), ConfigError> {
        let Some(upgraded) = self.migrate(text)? else {
            return Ok((read(text)?, None));
        };
        // Line numbers of the migrated text do not match the file.
        let config = read(&upgraded.text).map_err(|found| ConfigError { line: None, ..found });
        Ok((config?, Some(upgraded)))
    }

    /// Migrates `text` to the latest version. `None` if it has that version, or is not TOML: then
    /// `file::read` reports the error.
    fn migrate(self, text: &str) -> Result<Option<Migrated>, ConfigError> {
        #[derive(Deserialize)]
        struct VersionField {
            version: Option<Spanned<toml::Value>>,
        }
        let Ok(VersionField { version }) = toml::from_str(text) else {
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
            // Keeps the comment next to the number.
            Some(value) => {
                let decor = value.decor().clone();
                *value = newest.into();
                *value.decor_mut() = decor;
            }
            None => {
                let mut first = DocumentMut::new();
                first.insert("version", toml_edit::value(newest));
                let text = format!("{first}\n{document}");
                return Ok(Some(Migrated { from, text }));
            }
        }
        Ok(Some(Migrated { from, text: document.to_string() }))
    }

    fn read(self, text: &str, found: &Spanned<toml::Value>) -> Result<usize, ConfigError> {
        let newest = self.newest();
        let wrong = |what: String, remedy: String| ConfigError {
            line: Some(line(text, found.span().start)),
            what,
            remedy,
        };
        let number = found.get_ref().as_integer().and_then(|number| usize::try_from(number).ok());
        match number {
            Some(number) if (FIRST..=newest).contains(&number) => Ok(number),
            Some(number) if number > newest => Err(wrong(
                format!(
                    "The file has version {number}, but this Evermoor supports versions up to {newest}."
                ),
                "Update Evermoor, or restore your previous file.".into(),
            )),
            Some(_) | None => Err(wrong(
                format!("`{}` is not a valid file version.", found.get_ref()),
                format!("Write version = {newest}."),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two invented migrations: `servers` became `upstreams`, then `address` became `url`.
    const MADE_UP: Migrations = Migrations(&[
        |document| rename(document.as_table_mut(), "servers", "upstreams"),
        |document| {
            let upstreams = document.get_mut("upstreams").and_then(|item| item.as_table_like_mut());
            for (_, entry) in upstreams.into_iter().flat_map(|upstreams| upstreams.iter_mut()) {
                rename(entry.as_table_like_mut().unwrap(), "address", "url");
            }
        },
    ]);

    /// Renames a key together with the comments above it.
    fn rename(table: &mut dyn toml_edit::TableLike, old: &str, new: &str) {
        let Some(key) = table.key(old) else { return };
        let key = toml_edit::Key::new(new).with_leaf_decor(key.leaf_decor().clone());
        let item = table.remove(old).unwrap();
        table.entry_format(&key).or_insert(item);
    }

    #[test]
    fn a_file_without_a_version_has_version_1_and_is_unchanged() {
        for text in ["", "version = 1\n", "# mine\n[gateway]\nhold = 3\n"] {
            assert_eq!(Migrations::KNOWN.migrate(text).unwrap(), None, "{text}");
            Config::parse(text).unwrap();
        }
    }

    #[test]
    fn a_newer_file_is_refused_with_a_remedy_even_if_its_keys_are_unknown() {
        let found = Config::parse("[nested]\n[[unheard]]\n").unwrap_err();
        assert!(found.what.contains("unknown field"), "{found}");
        let found = Config::parse("# mine\nversion = 2\n[unheard]\n").unwrap_err();
        assert_eq!(found.line, Some(2));
        assert_eq!(
            found.to_string(),
            "The file has version 2, but this Evermoor supports versions up to 1. Update Evermoor, or restore \
             your previous file."
        );
    }

    #[test]
    fn an_invalid_version_is_refused() {
        for text in ["version = 0", "version = -1", "version = \"one\"", "version = 1.5"] {
            let found = Config::parse(text).unwrap_err();
            assert!(found.what.contains("is not a valid file version"), "{text}: {found}");
            assert_eq!(found.remedy, "Write version = 1.");
        }
    }

    #[test]
    fn an_older_file_is_migrated_and_keeps_its_comments() {
        let old = "# mine\nversion = 1 # of the file\n\n[servers.notes]\n# at home\naddress = \"http://127.0.0.1:1/mcp\" # local\n";
        let migrated = MADE_UP.migrate(old).unwrap().unwrap();
        assert_eq!((migrated.from, MADE_UP.newest()), (1, 3));
        for kept in ["# mine", "version = 3 # of the file", "# at home", "[upstreams.notes]"] {
            assert!(migrated.text.contains(kept), "{kept} in {}", migrated.text);
        }
        assert!(migrated.text.contains("url = \"http://127.0.0.1:1/mcp\" # local"));
        assert_eq!(MADE_UP.migrate(&migrated.text).unwrap(), None, "nothing is left to migrate");
    }

    #[test]
    fn an_error_in_a_migrated_file_has_no_line() {
        let found = MADE_UP.parse("[servers.a]\naddress = \"ftp://x\"\n").unwrap_err();
        assert!(found.line.is_none() && found.what.contains("ftp://x"), "{found}");
    }

    #[test]
    fn only_the_remaining_migrations_are_applied() {
        let migrated = MADE_UP.migrate("version = 2\n[servers]\n[upstreams.a]\naddress = \"x\"\n");
        let migrated = migrated.unwrap().unwrap();
        assert_eq!(migrated.from, 2);
        assert!(migrated.text.contains("[servers]"), "the first step was not taken again");
    }

    #[test]
    fn a_migrated_file_without_a_version_gets_one_at_its_top() {
        let migrated = MADE_UP.migrate("# mine\n[servers.a]\naddress = \"x\"\n").unwrap().unwrap();
        assert_eq!(migrated.text, "version = 3\n\n# mine\n[upstreams.a]\nurl = \"x\"\n");
    }
}
