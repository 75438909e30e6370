//! What a preset says about an app on one OS.

/// An OS that Evermoor runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    MacOs,
    Linux,
    Windows,
}

/// How an app is installed and runs on one OS. Paths may start with `~` and, on Windows, contain
/// variables such as `%LOCALAPPDATA%`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlatformSpec {
    /// macOS: the bundle id.
    pub bundle: Option<String>,
    /// macOS: the bundle's name in an Applications folder.
    pub app: Option<String>,
    pub snap: Option<String>,
    pub flatpak: Option<String>,
    /// Linux: the name of its desktop file, without the extension.
    pub desktop: Option<String>,
    /// Windows: the id of a Store app.
    pub store: Option<String>,
    /// Programs that start it: names in the search path, or paths.
    pub programs: Vec<String>,
    /// The arguments of these programs.
    pub args: Vec<String>,
    /// An address that starts it.
    pub url: Option<String>,
    /// Other files or folders that exist if it is installed.
    pub signs: Vec<String>,
    /// The names of its processes.
    pub processes: Vec<String>,
    /// Its names in crash reports; `processes` if empty.
    pub crashes: Vec<String>,
    pub logs: Vec<String>,
}

impl Os {
    /// Expands the home folder and variables in a path. `None` if a variable is not set.
    pub fn expand(self, path: &str, env: impl Fn(&str) -> Option<String>) -> Option<String> {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        if let Some(rest) = path.strip_prefix('~').filter(|rest| rest.starts_with(['/', '\\'])) {
            let home = match self {
                Self::MacOs | Self::Linux => set("HOME")?,
                Self::Windows => set("USERPROFILE")?,
            };
            return Some(format!("{}{rest}", home.trim_end_matches(['/', '\\'])));
        }
        match self {
            Self::MacOs | Self::Linux => Some(path.to_owned()),
            Self::Windows => variables(path, set),
        }
    }
}

fn variables(path: &str, set: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut whole = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once('%') {
        let (name, after) = after.split_once('%')?;
        whole.push_str(before);
        whole.push_str(&set(name)?);
        rest = after;
    }
    whole.push_str(rest);
    Some(whole)
}

impl PlatformSpec {
    /// Its names in crash reports.
    pub fn crash_names(&self) -> &[String] {
        if self.crashes.is_empty() { &self.processes } else { &self.crashes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expand(os: Os, path: &str) -> Option<String> {
        os.expand(path, |name| match name {
            "HOME" => Some("/home/a/".into()),
            "USERPROFILE" => Some(r"C:\Users\a".into()),
            "LOCALAPPDATA" => Some(r"C:\Users\a\AppData\Local".into()),
            _ => None,
        })
    }

    #[test]
    fn the_home_folder_and_variables_are_expanded() {
        assert_eq!(expand(Os::Linux, "~/.local/x").as_deref(), Some("/home/a/.local/x"));
        assert_eq!(expand(Os::MacOs, "/opt/x").as_deref(), Some("/opt/x"));
        assert_eq!(expand(Os::Linux, "~other/x").as_deref(), Some("~other/x"));
        assert_eq!(
            expand(Os::Windows, r"%LOCALAPPDATA%\Figma\Figma.exe").as_deref(),
            Some(r"C:\Users\a\AppData\Local\Figma\Figma.exe")
        );
        assert_eq!(expand(Os::Windows, r"~\x").as_deref(), Some(r"C:\Users\a\x"));
    }

    #[test]
    fn a_path_with_an_unset_variable_does_not_exist() {
        assert_eq!(expand(Os::Windows, r"%PROGRAMFILES%\x"), None);
        assert_eq!(expand(Os::Windows, "half %of a variable"), None);
        assert_eq!(Os::Linux.expand("~/x", |_| None), None);
    }
}
