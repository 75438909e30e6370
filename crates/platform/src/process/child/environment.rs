//! The environment of a child: an allow-list of variables, and those declared for the child.
//!
//! The user's environment contains secrets, and a server from a registry is not trusted. So a child
//! gets only variables that name the user, a folder or a language. Left out on purpose: proxies
//! (`HTTPS_PROXY` may contain a password), sockets that act for the user (`SSH_AUTH_SOCK`,
//! `DBUS_SESSION_BUS_ADDRESS`) and displays. A server that needs one of these declares it.
//! `XDG_RUNTIME_DIR` and the other XDG folders are included: they are paths that every program of the
//! user can open anyway, and without them `npx` and `uvx` would use a second cache.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::path;
use crate::system::System;

/// Set in every child, so that children of a gateway that was killed can be recognized.
pub const CHILD_MARKER: &str = "EVERMOOR_CHILD";

const UNIX: [&str; 18] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_DIRS",
    "XDG_CONFIG_HOME",
    "XDG_DATA_DIRS",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "__CF_USER_TEXT_ENCODING",
];

const WINDOWS: [&str; 21] = [
    "ALLUSERSPROFILE",
    "APPDATA",
    "COMMONPROGRAMFILES",
    "COMPUTERNAME",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Variables with their values.
pub type Variables = Vec<(OsString, OsString)>;

/// The variables of every child, and the home folder.
#[derive(Clone, Debug)]
pub struct ChildEnvironment {
    variables: Variables,
    home: Option<PathBuf>,
}

impl ChildEnvironment {
    /// The allowed variables of this process, with the search path of a terminal. `instance` marks the
    /// children of this gateway.
    pub async fn find(instance: &str) -> Self {
        let search = path::search_path().await;
        Self::new(System::HERE, std::env::vars_os(), &search, instance)
    }

    pub(crate) fn new(
        system: System,
        ours: impl Iterator<Item = (OsString, OsString)>,
        search: &OsStr,
        instance: &str,
    ) -> Self {
        let mut variables = allowed(system, ours);
        set(system, &mut variables, "PATH", search);
        set(system, &mut variables, CHILD_MARKER, OsStr::new(instance));
        let home = match system {
            System::MacOs | System::Linux => get(system, &variables, "HOME"),
            System::Windows => get(system, &variables, "USERPROFILE"),
        };
        let home = home.filter(|home| !home.is_empty()).map(PathBuf::from);
        Self { variables, home }
    }

    /// Whether every child gets this variable of ours.
    pub fn is_passed_on(name: &str) -> bool {
        is_allowed(System::HERE, name)
    }

    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The variables of one child, including those declared for it.
    pub(crate) fn for_child(&self, declared: &[(String, String)]) -> Variables {
        let mut variables = self.variables.clone();
        for (name, value) in declared {
            set(System::HERE, &mut variables, name, OsStr::new(value));
        }
        variables
    }
}

/// The variables of this process that a child may see.
pub fn allowed(system: System, ours: impl Iterator<Item = (OsString, OsString)>) -> Variables {
    let known = |name: &OsStr| name.to_str().is_some_and(|name| is_allowed(system, name));
    // A value that starts like this is an exported bash function, which a vulnerable shell would run.
    let function = |value: &OsStr| value.as_encoded_bytes().starts_with(b"()");
    ours.filter(|(name, value)| known(name) && !function(value)).collect()
}

fn is_allowed(system: System, name: &str) -> bool {
    match system {
        System::Windows => WINDOWS.iter().any(|known| known.eq_ignore_ascii_case(name)),
        System::MacOs | System::Linux => UNIX.contains(&name) || name.starts_with("LC_"),
    }
}

/// The value of a variable. Names are case-insensitive on Windows.
pub(super) fn get(system: System, variables: &Variables, name: &str) -> Option<OsString> {
    let found = variables.iter().find(|(known, _)| same(system, known, name));
    found.map(|(_, value)| value.clone())
}

fn set(system: System, variables: &mut Variables, name: &str, value: &OsStr) {
    variables.retain(|(known, _)| !same(system, known, name));
    variables.push((name.into(), value.to_owned()));
}

fn same(system: System, known: &OsStr, name: &str) -> bool {
    match system {
        System::Windows => known.eq_ignore_ascii_case(name),
        System::MacOs | System::Linux => known == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(given: &[(&str, &str)]) -> Variables {
        given.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn names(found: &Variables) -> Vec<&str> {
        found.iter().map(|(name, _)| name.to_str().unwrap()).collect()
    }

    #[test]
    fn folders_and_languages_are_passed_on_and_secrets_are_not() {
        let ours = variables(&[
            ("HOME", "/home/a"),
            ("GITHUB_TOKEN", "secret"),
            ("HTTPS_PROXY", "http://me:secret@proxy"),
            ("SSH_AUTH_SOCK", "/tmp/agent"),
            ("LC_ALL", "de_DE.UTF-8"),
            ("home", "/elsewhere"),
            ("TERM", "() { :; }; echo owned"),
        ]);
        assert_eq!(names(&allowed(System::Linux, ours.into_iter())), ["HOME", "LC_ALL"]);
    }

    #[test]
    fn names_are_case_insensitive_on_windows() {
        let ours = variables(&[("Path", "C:/x"), ("SystemRoot", "C:/W"), ("AWS_SECRET", "s")]);
        let environment =
            ChildEnvironment::new(System::Windows, ours.into_iter(), OsStr::new("C:/y"), "7");
        assert_eq!(names(&environment.variables), ["SystemRoot", "PATH", CHILD_MARKER]);
        let path = get(System::Windows, &environment.variables, "Path");
        assert_eq!(path.as_deref(), Some(OsStr::new("C:/y")));
    }

    #[test]
    fn declared_variables_take_precedence() {
        let ours = variables(&[("HOME", "/home/a"), ("LANG", "C")]);
        let environment =
            ChildEnvironment::new(System::HERE, ours.into_iter(), OsStr::new("/bin"), "7");
        let declared =
            [("LANG".to_owned(), "de".to_owned()), ("API_KEY".to_owned(), "k".to_owned())];
        let child = environment.for_child(&declared);
        let value = |name| get(System::HERE, &child, name).unwrap().into_string().unwrap();
        assert_eq!(
            (value("LANG"), value("API_KEY"), value("PATH")),
            ("de".into(), "k".into(), "/bin".into())
        );
        assert_eq!(value(CHILD_MARKER), "7");
    }
}
