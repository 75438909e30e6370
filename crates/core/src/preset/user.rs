//! The user's preset files, reloaded when they change.

use std::collections::BTreeMap;

use super::{Preset, PresetSet, UnreadablePreset};
use crate::config::ConfigError;

/// The last valid version of each of the user's preset files. While a file is invalid, for example
/// during an edit, its last valid version is used.
#[derive(Default)]
pub struct UserPresets {
    good: BTreeMap<String, Preset>,
}

impl UserPresets {
    /// Updates from all current files, each with its text or the error from reading it. A file that
    /// is not among them was deleted.
    pub fn reread(
        &mut self,
        files: impl IntoIterator<Item = (String, Result<String, ConfigError>)>,
    ) -> (PresetSet, Vec<UnreadablePreset>) {
        let ours = PresetSet::bundled();
        let mut before = std::mem::take(&mut self.good);
        let mut misread = Vec::new();
        for (name, text) in files {
            let preset = match text.and_then(|text| PresetSet::read(&name, &text, &ours)) {
                Ok(preset) => Some(preset),
                Err(mistake) => {
                    misread.push(UnreadablePreset { name: name.clone(), mistake });
                    before.remove(&name)
                }
            };
            self.good.extend(preset.map(|preset| (name, preset)));
        }
        (ours.and(self.good.values().cloned()), misread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(title: &str) -> String {
        format!(
            "title = \"{title}\"\n[find]\nports = 4000\nowner = true\n[[mcp]]\n\
             transport = \"http\"\npath = \"/mcp\"\n[linux]\nprocesses = [\"notes\"]\n"
        )
    }

    fn file(name: &str, text: &str) -> (String, Result<String, ConfigError>) {
        (name.to_owned(), Ok(text.to_owned()))
    }

    #[test]
    fn an_invalid_file_keeps_its_last_valid_version() {
        let mut own = UserPresets::default();
        let title = |presets: &PresetSet, name: &str| presets.get(name).unwrap().title.clone();
        own.reread([file("notes", &notes("One")), file("other", &notes("Other"))]);
        let (presets, misread) =
            own.reread([file("notes", "title ="), file("other", &notes("Changed"))]);
        assert_eq!(
            (title(&presets, "notes"), title(&presets, "other")),
            ("One".into(), "Changed".into())
        );
        assert_eq!((misread.len(), misread[0].name.as_str()), (1, "notes"));
        let (presets, _) = own.reread([file("notes", "title =")]);
        assert_eq!(title(&presets, "notes"), "One", "also when it is read again");
        let (presets, misread) = own.reread([file("notes", &notes("Two"))]);
        assert_eq!((title(&presets, "notes"), misread.len()), ("Two".into(), 0));
    }

    #[test]
    fn a_deleted_file_is_dropped_and_one_that_was_never_valid_is_ignored() {
        let mut own = UserPresets::default();
        own.reread([file("notes", &notes("One")), file("figma", &notes("Mine"))]);
        let (presets, misread) = own.reread([file("bad", "title =")]);
        assert_eq!(presets.get("figma").unwrap().title, "Figma", "the bundled one is back");
        assert!(presets.get("notes").is_err() && presets.get("bad").is_err());
        assert_eq!(misread.len(), 1);
        let (presets, _) = own.reread([file("notes", "title =")]);
        assert!(presets.get("notes").is_err());
    }

    #[test]
    fn a_file_that_cannot_be_read_is_reported_like_an_invalid_one() {
        let mut own = UserPresets::default();
        let mistake = ConfigError { line: None, what: "No.".into(), remedy: "Try.".into() };
        let (_, misread) = own.reread([("notes".to_owned(), Err(mistake.clone()))]);
        assert_eq!(misread, [UnreadablePreset { name: "notes".into(), mistake }]);
    }
}
