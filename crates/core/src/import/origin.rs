//! Where an entry was found, and whose it is.

use std::fmt;

/// One entry in the files of an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The editor's id, such as `cursor`.
    pub editor: String,
    pub whose: Whose,
    /// What the editor calls the server.
    pub name: String,
}

/// Whose servers they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// A person's, wherever that person works.
    Person,
    /// A person's, in the project of this folder alone.
    PersonIn(String),
    /// Of the project in this folder, for everybody who works on it.
    Project(String),
}

impl Whose {
    /// The project's folder, if they belong to one.
    pub fn folder(&self) -> Option<&str> {
        match self {
            Self::Person => None,
            Self::PersonIn(folder) | Self::Project(folder) => Some(folder),
        }
    }
}

/// `cursor (github)`, or `cursor (github in app)` for one of a project.
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
    fn an_entry_of_a_project_is_told_with_its_folder() {
        let at = |whose, name: &str| Origin { editor: "zed".into(), whose, name: name.into() };
        for (origin, said) in [
            (at(Whose::Person, "a"), "zed (a)"),
            (at(Whose::Project("/home/me/app/".into()), "a"), "zed (a in app)"),
            (at(Whose::PersonIn(r"C:\src\app".into()), ""), "zed (in app)"),
        ] {
            assert_eq!(origin.to_string(), said);
        }
    }
}
