//! Finds a program without a shell, with errors that name the file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::SpawnError;
use super::environment::{Variables, get};
use crate::system::System;

/// Where to look for a program.
pub(super) struct Search<'a> {
    /// The working folder, which a relative path is relative to.
    pub(super) folder: Option<&'a Path>,
    /// The folders of the search path.
    pub(super) path: &'a [PathBuf],
    pub(super) variables: &'a Variables,
}

/// What a path refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathKind {
    Nothing,
    /// A folder, or a file that is not executable.
    NotExecutable,
    Program,
}

/// What Windows can start. A file without an extension is never started: npm installs a shell script
/// `npx` next to `npx.cmd`.
const WINDOWS_EXTENSIONS: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// Replaces a leading `~` with the home folder, as a shell does.
pub(crate) fn expand(system: System, text: &str, home: Option<&Path>) -> String {
    let rest = text.strip_prefix('~').filter(|rest| match system {
        System::Windows => rest.is_empty() || rest.starts_with(['/', '\\']),
        System::MacOs | System::Linux => rest.is_empty() || rest.starts_with('/'),
    });
    match (rest, home.and_then(Path::to_str)) {
        (Some(rest), Some(home)) => format!("{}{rest}", home.trim_end_matches(['/', '\\'])),
        _ => text.to_owned(),
    }
}

/// The full path of a program.
pub(super) fn find(
    system: System,
    program: &str,
    search: &Search<'_>,
    kind: impl Fn(&Path) -> PathKind,
) -> Result<PathBuf, SpawnError> {
    let is_path = match system {
        System::Windows => program.contains(['/', '\\']),
        System::MacOs | System::Linux => program.contains('/'),
    };
    if is_path {
        let named = match search.folder {
            Some(folder) => folder.join(program),
            None => PathBuf::from(program),
        };
        let found = candidates(system, &named, search).into_iter().map(|path| (kind(&path), path));
        let best = found.max_by_key(|(kind, _)| *kind != PathKind::Nothing);
        return match best {
            Some((PathKind::Program, path)) => Ok(path),
            Some((PathKind::NotExecutable, path)) => Err(SpawnError::NotExecutable { path }),
            Some((PathKind::Nothing, _)) | None => Err(SpawnError::NoFile { path: named }),
        };
    }
    let mut unfit = None;
    for folder in search.path.iter().filter(|folder| system.is_absolute(folder)) {
        for path in candidates(system, &folder.join(program), search) {
            match kind(&path) {
                PathKind::Program => return Ok(path),
                PathKind::NotExecutable => unfit = unfit.or(Some(path)),
                PathKind::Nothing => {}
            }
        }
    }
    Err(match unfit {
        Some(path) => SpawnError::NotExecutable { path },
        None => SpawnError::NotOnPath { program: program.to_owned() },
    })
}

/// The files that `path` may refer to.
fn candidates(system: System, path: &Path, search: &Search<'_>) -> Vec<PathBuf> {
    if system != System::Windows {
        return vec![path.to_owned()];
    }
    let can_start =
        |ending: &str| WINDOWS_EXTENSIONS.iter().any(|known| known.eq_ignore_ascii_case(ending));
    let given = path.extension().and_then(OsStr::to_str).map(|ending| format!(".{ending}"));
    if given.is_some_and(|ending| can_start(&ending)) {
        return vec![path.to_owned()];
    }
    let wanted = get(system, search.variables, "PATHEXT").and_then(|list| list.into_string().ok());
    let wanted = wanted.unwrap_or_else(|| WINDOWS_EXTENSIONS.join(";"));
    let with = |ending: &str| {
        let mut path = path.as_os_str().to_owned();
        path.push(ending.to_ascii_lowercase());
        PathBuf::from(path)
    };
    wanted.split(';').filter(|ending| can_start(ending)).map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(
        system: System,
        program: &str,
        folder: Option<&str>,
        files: &[(&str, PathKind)],
    ) -> Result<String, SpawnError> {
        let root = if system == System::Windows { "C:/" } else { "/" };
        let path = ["one", "two"].map(|name| PathBuf::from(format!("{root}{name}")));
        let variables = vec![("PATHEXT".into(), ".COM;.EXE;.BAT;.CMD;.JS".into())];
        let search = Search { folder: folder.map(Path::new), path: &path, variables: &variables };
        let kind = |path: &Path| {
            let path = path.to_string_lossy().replace('\\', "/");
            files
                .iter()
                .find(|(name, _)| *name == path)
                .map_or(PathKind::Nothing, |(_, kind)| *kind)
        };
        let found = find(system, program, &search, kind)?;
        Ok(found.to_string_lossy().replace('\\', "/"))
    }

    #[test]
    fn the_first_executable_is_used() {
        let files = [("/one/npx", PathKind::NotExecutable), ("/two/npx", PathKind::Program)];
        assert_eq!(look(System::Linux, "npx", None, &files).unwrap(), "/two/npx");
        let error = look(System::Linux, "npx", None, &files[..1]).unwrap_err();
        assert_eq!(error.to_string().replace('\\', "/"), "/one/npx is not executable");
        let error = look(System::Linux, "npx", None, &[]).unwrap_err();
        assert_eq!(error.to_string(), "program `npx` not found on the search path");
    }

    #[test]
    fn a_relative_path_is_relative_to_the_folder_and_not_searched() {
        let files = [("/code/./server", PathKind::Program), ("/one/server", PathKind::Program)];
        assert_eq!(
            look(System::Linux, "./server", Some("/code"), &files).unwrap(),
            "/code/./server"
        );
        let error = look(System::Linux, "/opt/server", Some("/code"), &files).unwrap_err();
        assert_eq!(error.to_string(), "file not found: /opt/server");
    }

    #[test]
    fn windows_starts_the_cmd_file_and_not_the_script_next_to_it() {
        let files = [("C:/one/npx", PathKind::Program), ("C:/one/npx.cmd", PathKind::Program)];
        assert_eq!(look(System::Windows, "npx", None, &files).unwrap(), "C:/one/npx.cmd");
        assert_eq!(
            look(System::Windows, "NPX.cmd", None, &[("C:/two/NPX.cmd", PathKind::Program)])
                .unwrap(),
            "C:/two/NPX.cmd"
        );
        let dotted = [("C:/one/server-1.2.exe", PathKind::Program)];
        assert_eq!(
            look(System::Windows, "server-1.2", None, &dotted).unwrap(),
            "C:/one/server-1.2.exe"
        );
        assert_eq!(
            look(System::Windows, "C:/two/a", None, &[("C:/two/a.exe", PathKind::Program)])
                .unwrap(),
            "C:/two/a.exe"
        );
    }

    #[test]
    fn only_a_leading_tilde_is_the_home_folder() {
        let home = Some(Path::new("/home/a"));
        let expand = |text| super::expand(System::Linux, text, home);
        assert_eq!((expand("~"), expand("~/code")), ("/home/a".into(), "/home/a/code".into()));
        assert_eq!((expand("~b/code"), expand("a~/b")), ("~b/code".into(), "a~/b".into()));
        assert_eq!(
            super::expand(System::Windows, "~\\code", Some(Path::new("C:/U"))),
            "C:/U\\code"
        );
        assert_eq!(super::expand(System::Linux, "~/code", None), "~/code");
    }
}
