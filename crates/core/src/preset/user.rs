//! The person's own preset files, as they come, change and go.

use std::collections::BTreeMap;

use super::{Misread, Preset, Shelf};
use crate::config::Mistake;

/// What the person's files last said. One that is being edited is broken for a moment: until it is
/// good again, what it said before holds.
#[derive(Default)]
pub struct Own {
    good: BTreeMap<String, Preset>,
}

impl Own {
    /// All presets after the files were read again, each with its text or why there is none. A file
    /// that is not among them is gone.
    pub fn reread(
        &mut self,
        files: impl IntoIterator<Item = (String, Result<String, Mistake>)>,
    ) -> (Shelf, Vec<Misread>) {
        let ours = Shelf::of_our_own();
        let mut before = std::mem::take(&mut self.good);
        let mut misread = Vec::new();
        for (name, text) in files {
            let preset = match text.and_then(|text| Shelf::read(&name, &text, &ours)) {
                Ok(preset) => Some(preset),
                Err(mistake) => {
                    misread.push(Misread { name: name.clone(), mistake });
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

    fn file(name: &str, text: &str) -> (String, Result<String, Mistake>) {
        (name.to_owned(), Ok(text.to_owned()))
    }

    #[test]
    fn a_file_that_becomes_bad_says_what_it_said_until_it_is_good_again() {
        let mut own = Own::default();
        let title = |shelf: &Shelf, name: &str| shelf.get(name).unwrap().title.clone();
        own.reread([file("notes", &notes("One")), file("other", &notes("Other"))]);
        let (shelf, misread) =
            own.reread([file("notes", "title ="), file("other", &notes("Changed"))]);
        assert_eq!(
            (title(&shelf, "notes"), title(&shelf, "other")),
            ("One".into(), "Changed".into())
        );
        assert_eq!((misread.len(), misread[0].name.as_str()), (1, "notes"));
        let (shelf, _) = own.reread([file("notes", "title =")]);
        assert_eq!(title(&shelf, "notes"), "One", "however often it is read");
        let (shelf, misread) = own.reread([file("notes", &notes("Two"))]);
        assert_eq!((title(&shelf, "notes"), misread.len()), ("Two".into(), 0));
    }

    #[test]
    fn a_file_that_is_gone_is_forgotten_and_what_was_never_good_is_nothing() {
        let mut own = Own::default();
        own.reread([file("notes", &notes("One")), file("figma", &notes("Mine"))]);
        let (shelf, misread) = own.reread([file("bad", "title =")]);
        assert_eq!(shelf.get("figma").unwrap().title, "Figma", "ours is back");
        assert!(shelf.get("notes").is_err() && shelf.get("bad").is_err());
        assert_eq!(misread.len(), 1);
        let (shelf, _) = own.reread([file("notes", "title =")]);
        assert!(shelf.get("notes").is_err());
    }

    #[test]
    fn a_text_that_cannot_be_had_is_as_one_with_a_mistake() {
        let mut own = Own::default();
        let mistake = Mistake { line: None, what: "No.".into(), remedy: "Try.".into() };
        let (_, misread) = own.reread([("notes".to_owned(), Err(mistake.clone()))]);
        assert_eq!(misread, [Misread { name: "notes".into(), mistake }]);
    }
}
