//! Where an editor's entry was found, and the scope it belongs to.

use std::fmt;

/// An entry in a file of an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The editor's id, such as `cursor`.
    pub editor: String,
    pub whose: Whose,
    /// The editor's name for the server.
    pub name: String,
}

/// The scope of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The user's, in all projects.
    Person,
    /// The user's, only in the project in this folder.
    PersonIn(String),
    /// The project's in this folder, for everyone who works on it.
    Project(String),
}

impl Whose {
    /// The project's folder, if there is one.
    pub fn folder(&self) -> Option<&str> {
        match self {
            Self::Person => None,
            Self::PersonIn(folder) | Self::Project(folder) => Some(folder),
        }
    }
}

/// `cursor (github)`, or `cursor (github in app)` in a project.
impl fmt::Display for Origin {
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
        let at = |whose, name: &str| Origin { editor: "zed".into(), whose, name: name.into() };
        for (origin, text) in [
            (at(Whose::Person, "a"), "zed (a)"),
            (at(Whose::Project("/home/me/app/".into()), "a"), "zed (a in app)"),
            (at(Whose::PersonIn(r"C:\src\app".into()), ""), "zed (in app)"),
        ] {
            assert_eq!(origin.to_string(), text);
        }
    }
}
