//! Where an editor's entry was found, and the scope it belongs to.

use std::fmt;

/// An entry in a file of an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryOrigin {
    /// The editor's id, such as `cursor`.
    pub editor: String,
    pub whose: EntryScope,
    /// The editor's name for the server.
    pub name: String,
}

/// The scope of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryScope {
    /// The user's, in all projects.
    Person,
    /// The user's, only in the project in this folder.
    UserInProject(String),
    /// The project's in this folder, for everyone who works on it.
    Project(String),
}

impl EntryScope {
    /// The project's folder, if there is one.
    pub fn folder(&self) -> Option<&str> {
        match self {
            Self::Person => None,
            Self::UserInProject(folder) | Self::Project(folder) => Some(folder),
        }
    }
}

/// `cursor (github)`, or `cursor (github in app)` in a project.
impl fmt::Display for EntryOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folder = self.whose.folder().map(|folder| {
            folder.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(folder)
        });
        match (self.name.as_str(), folder) {
            ("", None) => write!(f, "{}", self.editor),
            ("", Some(folder)) => write!(f, "{} (in {folder})", self.editor),
            (name, None) => write!(f, "{} ({name})", self.editor),
            (name, Some(folder)) => write!(f, "{} ({name} in {folder})", self.editor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_entry_is_shown_with_its_folder() {
        let at = |whose, name: &str| EntryOrigin { editor: "zed".into(), whose, name: name.into() };
        for (origin, text) in [
            (at(EntryScope::Person, "a"), "zed (a)"),
            (at(EntryScope::Project("/home/me/app/".into()), "a"), "zed (a in app)"),
            (at(EntryScope::UserInProject(r"C:\src\app".into()), ""), "zed (in app)"),
        ] {
            assert_eq!(origin.to_string(), text);
        }
    }
}
