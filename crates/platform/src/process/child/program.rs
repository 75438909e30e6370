//! Finding a program: no shell does it for us, and an error must name the file.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::StartError;
use super::environment::{Variables, get};
use crate::system::System;

/// Where a program is looked for.
pub(super) struct Place<'a> {
    /// The folder it is started in, from which a relative path counts.
    pub(super) folder: Option<&'a Path>,
    pub(super) variables: &'a Variables,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nothing,
    /// A folder, or a file that may not be executed.
    NoProgram,
    Program,
}

/// What Windows can start itself. npm puts a shell script `npx` beside `npx.cmd`, so a file without
/// an ending is never meant.
const WINDOWS_ENDINGS: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// A text with a leading `~` replaced by the home folder, as a shell would have done it.
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
    place: &Place<'_>,
    kind: impl Fn(&Path) -> Kind,
) -> Result<PathBuf, StartError> {
    let is_path = match system {
        System::Windows => program.contains(['/', '\\']),
        System::MacOs | System::Linux => program.contains('/'),
    };
    if is_path {
        let named = match place.folder {
            Some(folder) => folder.join(program),
            None => PathBuf::from(program),
        };
        let found = candidates(system, &named, place).into_iter().map(|path| (kind(&path), path));
        let best = found.max_by_key(|(kind, _)| *kind != Kind::Nothing);
        return match best {
            Some((Kind::Program, path)) => Ok(path),
            Some((Kind::NoProgram, path)) => Err(StartError::NotExecutable { path }),
            Some((Kind::Nothing, _)) | None => Err(StartError::NoFile { path: named }),
        };
    }
    let search = get(system, place.variables, "PATH").unwrap_or_default();
    let mut unfit = None;
    for folder in std::env::split_paths(&search).filter(|folder| folder.is_absolute()) {
        for path in candidates(system, &folder.join(program), place) {
            match kind(&path) {
                Kind::Program => return Ok(path),
                Kind::NoProgram => unfit = unfit.or(Some(path)),
                Kind::Nothing => {}
            }
        }
    }
    Err(match unfit {
        Some(path) => StartError::NotExecutable { path },
        None => StartError::NotOnPath { program: program.to_owned() },
    })
}

/// The files that `path` may mean.
fn candidates(system: System, path: &Path, place: &Place<'_>) -> Vec<PathBuf> {
    if system != System::Windows {
        return vec![path.to_owned()];
    }
    let can_start =
        |ending: &str| WINDOWS_ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending));
    let given = path.extension().and_then(OsStr::to_str).map(|ending| format!(".{ending}"));
    if given.is_some_and(|ending| can_start(&ending)) {
        return vec![path.to_owned()];
    }
    let wanted = get(system, place.variables, "PATHEXT").and_then(|list| list.into_string().ok());
    let wanted = wanted.unwrap_or_else(|| WINDOWS_ENDINGS.join(";"));
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
        files: &[(&str, Kind)],
    ) -> Result<String, StartError> {
        let search = std::env::join_paths(["/one", "/two"]).unwrap();
        let variables =
            vec![("PATH".into(), search), ("PATHEXT".into(), ".COM;.EXE;.BAT;.CMD;.JS".into())];
        let place = Place { folder: folder.map(Path::new), variables: &variables };
        let kind = |path: &Path| {
            let path = path.to_string_lossy().replace('\\', "/");
            files.iter().find(|(name, _)| *name == path).map_or(Kind::Nothing, |(_, kind)| *kind)
        };
        let found = find(system, program, &place, kind)?;
        Ok(found.to_string_lossy().replace('\\', "/"))
    }

    #[cfg(unix)]
    #[test]
    fn the_first_that_can_be_executed_is_taken() {
        let files = [("/one/npx", Kind::NoProgram), ("/two/npx", Kind::Program)];
        assert_eq!(look(System::Linux, "npx", None, &files).unwrap(), "/two/npx");
        let error = look(System::Linux, "npx", None, &files[..1]).unwrap_err();
        assert_eq!(error.to_string(), "/one/npx is not a program");
        let error = look(System::Linux, "npx", None, &[]).unwrap_err();
        assert_eq!(error.to_string(), "there is no program `npx` on the search path");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_counts_from_the_folder_and_is_not_searched() {
        let files = [("/code/./server", Kind::Program), ("/one/server", Kind::Program)];
        assert_eq!(
            look(System::Linux, "./server", Some("/code"), &files).unwrap(),
            "/code/./server"
        );
        let error = look(System::Linux, "/opt/server", Some("/code"), &files).unwrap_err();
        assert_eq!(error.to_string(), "there is no file /opt/server");
    }

    #[cfg(unix)]
    #[test]
    fn windows_starts_the_command_file_and_not_the_script_beside_it() {
        let files = [("/one/npx", Kind::Program), ("/one/npx.cmd", Kind::Program)];
        assert_eq!(look(System::Windows, "npx", None, &files).unwrap(), "/one/npx.cmd");
        assert_eq!(
            look(System::Windows, "NPX.cmd", None, &[("/two/NPX.cmd", Kind::Program)]).unwrap(),
            "/two/NPX.cmd"
        );
        let dotted = [("/one/server-1.2.exe", Kind::Program)];
        assert_eq!(
            look(System::Windows, "server-1.2", None, &dotted).unwrap(),
            "/one/server-1.2.exe"
        );
        assert_eq!(
            look(System::Windows, "/two/a", None, &[("/two/a.exe", Kind::Program)]).unwrap(),
            "/two/a.exe"
        );
    }

    #[test]
    fn a_leading_tilde_is_the_home_folder_and_no_other_is() {
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
