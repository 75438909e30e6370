//! What is known of an application on one system.

/// A system Evermoor runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Os {
    MacOs,
    Linux,
    Windows,
}

/// How an application is installed and runs on one system. A path may start with `~` and, on
/// Windows, hold variables such as `%LOCALAPPDATA%`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnSystem {
    /// macOS: the id of its bundle.
    pub bundle: Option<String>,
    /// macOS: the bundle's name, in one of the folders for applications.
    pub app: Option<String>,
    pub snap: Option<String>,
    pub flatpak: Option<String>,
    /// Linux: the id of its desktop file, without the ending.
    pub desktop: Option<String>,
    /// Windows: the id of an application from the store.
    pub store: Option<String>,
    /// Programs that start it: names to look for, or paths.
    pub programs: Vec<String>,
    /// What a program gets when it is started.
    pub args: Vec<String>,
    /// An address that makes it start.
    pub url: Option<String>,
    /// Files or folders that are there if it is installed, besides what is told above.
    pub signs: Vec<String>,
    /// The names of its processes.
    pub processes: Vec<String>,
    /// What crash reports call it; the names of its processes if nothing is said.
    pub crashes: Vec<String>,
    pub logs: Vec<String>,
}

impl Os {
    /// Whether two names mean the same process. Linux cuts names off after 15 bytes, and Windows
    /// does not mind how they are written.
    pub fn same_process(self, known: &str, seen: &str) -> bool {
        match self {
            Self::Windows => known.eq_ignore_ascii_case(seen),
            Self::MacOs => known == seen,
            Self::Linux => known == seen || seen.len() == LINUX_NAME && known.starts_with(seen),
        }
    }

    /// A path as people write it, with the home folder and variables in their places. `None` if a
    /// variable is not set: then there is no such path.
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

/// The longest name of a process that Linux keeps.
const LINUX_NAME: usize = 15;

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

impl OnSystem {
    /// What crash reports may call it.
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
    fn a_path_has_the_home_folder_and_the_variables_of_its_system() {
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
    fn where_a_variable_is_not_set_there_is_no_path() {
        assert_eq!(expand(Os::Windows, r"%PROGRAMFILES%\x"), None);
        assert_eq!(expand(Os::Windows, "half %of a variable"), None);
        assert_eq!(Os::Linux.expand("~/x", |_| None), None);
    }

    #[test]
    fn a_name_that_linux_cut_off_is_still_known() {
        assert!(Os::Linux.same_process("a-very-long-program", "a-very-long-pro"));
        assert!(!Os::Linux.same_process("a-very-long-program", "a-very"));
        assert!(!Os::MacOs.same_process("a-very-long-program", "a-very-long-pro"));
    }
}
