//! Resolves the paths in the table: pure functions of the system and the environment.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use evermoor_platform::system::System;

use crate::format::tree::Tree;

/// A path in the table, with placeholders in braces for folders that differ between machines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathTemplate {
    macos: String,
    linux: String,
    windows: String,
}

impl PathTemplate {
    pub(crate) fn same_everywhere(text: &str) -> Self {
        Self { macos: text.to_owned(), linux: text.to_owned(), windows: text.to_owned() }
    }

    pub(crate) fn read(tree: &Tree) -> Self {
        let on = |system: &str| tree.get(system).and_then(Tree::as_text).map(str::to_owned);
        match (tree.as_text(), on("macos"), on("linux"), on("windows")) {
            (None, Some(macos), Some(linux), Some(windows)) => Self { macos, linux, windows },
            (text, ..) => {
                Self::same_everywhere(text.expect("a path is a text, or a text for each system"))
            }
        }
    }
}

/// The folders of one user on one machine.
#[derive(Clone, Debug)]
pub struct UserFolders {
    pub system: System,
    pub home: PathBuf,
    /// The project folder, for the servers of a project.
    pub project: PathBuf,
    variables: HashMap<String, OsString>,
}

impl UserFolders {
    /// The folders of the user who runs this program; `None` if there is no home folder.
    pub fn here() -> Option<Self> {
        let project = std::env::current_dir().unwrap_or_default();
        Self::on(System::HERE, project, vars())
    }

    /// The folders that an environment names.
    pub fn on(
        system: System,
        project: PathBuf,
        variables: HashMap<String, OsString>,
    ) -> Option<Self> {
        let name = match system {
            System::MacOs | System::Linux => "HOME",
            System::Windows => "USERPROFILE",
        };
        let home = PathBuf::from(variables.get(name).filter(|home| !home.is_empty())?);
        Some(Self { system, home, project, variables })
    }

    /// The same with another search path for programs.
    pub fn with_search_path(mut self, path: OsString) -> Self {
        self.variables.insert("PATH".to_owned(), path);
        self
    }

    fn variable(&self, name: &str) -> Option<PathBuf> {
        let value = self.variables.get(name).map(PathBuf::from);
        value.filter(|value| !value.as_os_str().is_empty())
    }

    /// The path on this machine.
    pub fn find(&self, template: &PathTemplate) -> PathBuf {
        let text = match self.system {
            System::MacOs => &template.macos,
            System::Linux => &template.linux,
            System::Windows => &template.windows,
        };
        let Some((name, rest)) = text.strip_prefix('{').and_then(|text| text.split_once('}'))
        else {
            return PathBuf::from(text);
        };
        let start = match name.split_once('|') {
            Some((variable, other)) => self.variable(variable).unwrap_or_else(|| self.named(other)),
            None => self.named(name),
        };
        self.below(start, rest)
    }

    /// A path in the project folder.
    pub fn in_project(&self, path: &str) -> PathBuf {
        self.below(self.project.clone(), path)
    }

    pub(crate) fn below(&self, start: PathBuf, rest: &str) -> PathBuf {
        rest.split('/').filter(|part| !part.is_empty()).fold(start, |path, part| path.join(part))
    }

    fn named(&self, name: &str) -> PathBuf {
        let (name, rest) = name.split_once('/').unwrap_or((name, ""));
        let appdata = || {
            self.variable("APPDATA").unwrap_or_else(|| self.home.join("AppData").join("Roaming"))
        };
        let xdg = || {
            let set = self.variable("XDG_CONFIG_HOME").filter(|path| self.system.is_absolute(path));
            set.unwrap_or_else(|| self.home.join(".config"))
        };
        let start = match (name, self.system) {
            ("appdata", _) | ("support", System::Windows) => appdata(),
            ("support", System::MacOs) => self.home.join("Library").join("Application Support"),
            ("xdg", _) | ("support", System::Linux) => xdg(),
            _ => self.home.clone(),
        };
        self.below(start, rest)
    }

    /// Finds a program on the search path.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let endings: &[&str] = match self.system {
            System::MacOs | System::Linux => &[""],
            System::Windows => &[".exe", ".cmd", ".bat"],
        };
        let path = self.variables.get("PATH")?;
        let files = |folder: PathBuf| {
            endings.iter().map(move |ending| folder.join(format!("{name}{ending}")))
        };
        std::env::split_paths(path)
            .filter(|folder| self.system.is_absolute(folder))
            .flat_map(files)
            .find(|file| is_executable(file))
    }
}

fn is_executable(file: &Path) -> bool {
    evermoor_platform::fs::private::is_program(file)
}

fn vars() -> HashMap<String, OsString> {
    let named = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
    std::env::vars_os().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::client;

    fn on(system: System, variables: &[(&str, &str)]) -> UserFolders {
        let variables =
            variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value)));
        UserFolders::on(system, "/project".into(), variables.collect()).unwrap()
    }

    fn shown(folders: &UserFolders, id: &str) -> String {
        let template = client(id).unwrap().file.as_ref().unwrap();
        folders.find(template).to_string_lossy().replace('\\', "/")
    }

    #[test]
    fn paths_follow_the_conventions_of_each_system() {
        let mac = on(System::MacOs, &[("HOME", "/Users/a")]);
        let linux = on(System::Linux, &[("HOME", "/home/a"), ("XDG_CONFIG_HOME", "/cfg")]);
        let windows = on(System::Windows, &[("USERPROFILE", "C:/U/a"), ("APPDATA", "C:/U/a/R")]);
        assert_eq!(shown(&mac, "zed"), "/Users/a/.config/zed/settings.json");
        assert_eq!(shown(&linux, "zed"), "/cfg/zed/settings.json");
        assert_eq!(shown(&windows, "zed"), "C:/U/a/R/Zed/settings.json");
        assert_eq!(
            shown(&mac, "claude-desktop"),
            "/Users/a/Library/Application Support/Claude/claude_desktop_config.json"
        );
        assert_eq!(shown(&linux, "vscode"), "/cfg/Code/User/mcp.json");
        assert_eq!(shown(&windows, "goose"), "C:/U/a/R/Block/goose/config/config.yaml");
        assert_eq!(shown(&windows, "cursor"), "C:/U/a/.cursor/mcp.json");
    }

    #[test]
    fn an_environment_variable_overrides_a_folder() {
        let bare = on(System::Linux, &[("HOME", "/home/a"), ("CODEX_HOME", "")]);
        let moved = on(System::Linux, &[("HOME", "/home/a"), ("CODEX_HOME", "/elsewhere")]);
        assert_eq!(shown(&bare, "codex"), "/home/a/.codex/config.toml");
        assert_eq!(shown(&moved, "codex"), "/elsewhere/config.toml");
        assert_eq!(shown(&bare, "claude-code"), "/home/a/.claude.json");
    }
}
