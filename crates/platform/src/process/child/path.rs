//! The search path of the user's terminal.
//!
//! A program that is started from the Dock or a menu gets a minimal `PATH`, but users expect that
//! Evermoor finds node and uv like their terminal does. So Evermoor runs the login shell once and asks
//! for its `PATH`: interactively, because most installers edit a file that only interactive shells
//! read; without a terminal, so that it cannot prompt; and with a timeout of three seconds, because
//! some startup files do more than set variables. The folders of the shell come first, then those of
//! this process. If the shell does not reply, the usual folders of installers are added instead.
//!
//! Every child waits for this, even one with a full path: `npx` is a script that looks for `node`, and
//! a child that works only sometimes is worse than one that starts a little later.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::system::System;

const SHELL_TIMEOUT: Duration = Duration::from_secs(3);
/// The search path is read again after this long, if a program is not found.
const MAX_AGE: Duration = Duration::from_secs(60);
const MARK: &str = "__evermoor_path__";
/// A limit for shells that print forever.
const MAX_OUTPUT: usize = 1 << 20;

static FOUND: Mutex<Option<(Instant, OsString)>> = Mutex::const_new(None);

/// The search path, determined once per process.
pub async fn search_path() -> OsString {
    let mut found = FOUND.lock().await;
    if let Some((_, path)) = &*found {
        return path.clone();
    }
    let path = determine().await;
    *found = Some((Instant::now(), path.clone()));
    path
}

/// Reports that a program was not found. It may have been installed meanwhile: if the search path is
/// old, the next [`search_path`] determines it again.
pub async fn program_not_found() {
    let mut found = FOUND.lock().await;
    if found.as_ref().is_some_and(|(when, _)| when.elapsed() >= MAX_AGE) {
        *found = None;
    }
}

async fn determine() -> OsString {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_absolute());
    let answer = match (System::HERE, shell) {
        (System::Windows, _) | (_, None) => None,
        (_, Some(shell)) => ask(&shell, SHELL_TIMEOUT).await,
    };
    match answer {
        Some(answer) => merge(&[split(OsStr::new(&answer)), split(&own)]),
        None => {
            let known =
                known_folders(System::HERE, |name| std::env::var_os(name).map(PathBuf::from));
            let known = known.into_iter().chain(newest_node()).filter(|folder| folder.is_dir());
            merge(&[split(&own), known.collect()])
        }
    }
}

/// Asks a shell for its `PATH`. `printenv` prints it in the same form for all shells.
async fn ask(shell: &OsStr, limit: Duration) -> Option<String> {
    let mut command = crate::process::spawn::session_command(shell);
    command
        .args(["-l", "-i", "-c", &format!("echo {MARK}; printenv PATH; echo {MARK}")])
        .env("TERM", "dumb")
        // Disable what common shell configurations do at startup.
        .env("DISABLE_AUTO_UPDATE", "true")
        .env("ZSH_TMUX_AUTOSTART", "false")
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn().ok()?;
    let mut output = child.stdout.take()?;
    let answer = async {
        let mut printed = Vec::new();
        // A background process may keep the pipe open, so read up to the mark, not to EOF.
        while printed.len() < MAX_OUTPUT && output.read_buf(&mut printed).await.ok()? > 0 {
            if let Some(answer) = read_answer(&printed) {
                return Some(answer);
            }
        }
        None
    };
    let answer = timeout(limit, answer).await.ok().flatten();
    if answer.is_none() {
        tracing::debug!(shell = %shell.display(), "the login shell did not report its PATH");
    }
    let ended = timeout(Duration::from_millis(500), child.wait()).await.is_ok();
    if !ended && let Some(leader) = child.id() {
        let _ = crate::process::spawn::kill_group(leader);
    }
    answer
}

/// The text between the two marks, ignoring other output of the shell.
fn read_answer(printed: &[u8]) -> Option<String> {
    let printed = String::from_utf8_lossy(printed);
    let lines: Vec<&str> = printed.split_inclusive('\n').collect();
    let is_mark = |line: &&str| line.trim() == MARK && line.ends_with('\n');
    let first = lines.iter().position(is_mark)?;
    let second = first + 1 + lines[first + 1..].iter().position(is_mark)?;
    let path = lines[first + 1..second].concat();
    let path = path.trim();
    (!path.is_empty()).then(|| path.to_owned())
}

fn split(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path).collect()
}

/// All absolute folders in order, without duplicates.
fn merge(lists: &[Vec<PathBuf>]) -> OsString {
    let mut seen = HashSet::new();
    let folders = lists.iter().flatten().filter(|folder| folder.is_absolute());
    let folders: Vec<&PathBuf> = folders.filter(|folder| seen.insert(*folder)).collect();
    std::env::join_paths(folders).unwrap_or_default()
}

/// The usual folders of installers.
fn known_folders(system: System, variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    const SHARED: [&str; 9] = [
        ".local/bin",
        ".cargo/bin",
        ".volta/bin",
        ".bun/bin",
        ".deno/bin",
        ".asdf/shims",
        ".local/share/mise/shims",
        ".pyenv/shims",
        ".nix-profile/bin",
    ];
    let under = |folder: Option<PathBuf>, names: &[&str]| -> Vec<PathBuf> {
        folder
            .map(|folder| names.iter().map(|name| folder.join(name)).collect())
            .unwrap_or_default()
    };
    let fixed = |names: &[&str]| names.iter().map(PathBuf::from).collect();
    let lists: [Vec<PathBuf>; 3] = match system {
        System::MacOs => [
            fixed(&["/opt/homebrew/bin", "/opt/homebrew/sbin", "/usr/local/bin", "/opt/local/bin"]),
            under(variable("HOME"), &SHARED),
            fixed(&["/usr/bin", "/bin", "/usr/sbin", "/sbin"]),
        ],
        System::Linux => [
            fixed(&["/usr/local/bin", "/home/linuxbrew/.linuxbrew/bin", "/snap/bin"]),
            under(variable("HOME"), &SHARED),
            fixed(&["/usr/bin", "/bin"]),
        ],
        System::Windows => [
            under(variable("PROGRAMFILES"), &["nodejs", "Git/cmd"]),
            under(variable("APPDATA"), &["npm"]),
            under(variable("USERPROFILE"), &[".local/bin", ".cargo/bin", ".bun/bin", ".deno/bin"]),
        ],
    };
    lists.concat()
}

/// nvm keeps each version in its own folder and selects one in the shell.
fn newest_node() -> Option<PathBuf> {
    let versions = PathBuf::from(std::env::var_os("HOME")?).join(".nvm/versions/node");
    let names = std::fs::read_dir(&versions).ok()?.flatten();
    let newest = newest(names.filter_map(|entry| entry.file_name().into_string().ok()))?;
    Some(versions.join(newest).join("bin"))
}

fn newest(versions: impl Iterator<Item = String>) -> Option<String> {
    let numbers = |name: &String| -> Option<Vec<u32>> {
        name.strip_prefix('v')?.split('.').map(|part| part.parse().ok()).collect()
    };
    versions.filter(|name| numbers(name).is_some()).max_by_key(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(lists: &[&[&str]]) -> Vec<String> {
        let lists: Vec<Vec<PathBuf>> =
            lists.iter().map(|list| list.iter().map(PathBuf::from).collect()).collect();
        let text = |folder: PathBuf| folder.to_string_lossy().into_owned();
        split(&merge(&lists)).into_iter().map(text).collect()
    }

    #[test]
    fn folders_keep_their_order_without_duplicates() {
        let [a, b, c] = if cfg!(windows) { ["C:/a", "C:/b", "D:/"] } else { ["/a", "/b", "/c"] };
        let path = merged(&[&[b, a], &[a, "", ".", "bin", c, b]]);
        assert_eq!(path, [b, a, c]);
    }

    #[test]
    fn only_the_text_between_the_marks_is_the_answer() {
        let printed = format!("Welcome!\n{MARK}\n/opt/homebrew/bin:/usr/bin\n{MARK}\nbye\n");
        assert_eq!(read_answer(printed.as_bytes()).as_deref(), Some("/opt/homebrew/bin:/usr/bin"));
        assert_eq!(read_answer(format!("{MARK}\n/usr/bin\n").as_bytes()), None);
        assert_eq!(read_answer(format!("{MARK}\n{MARK}\n").as_bytes()), None);
        assert_eq!(read_answer(format!("{MARK}\n/usr/bin\n{MARK}").as_bytes()), None);
    }

    #[test]
    fn each_system_has_its_own_known_folders() {
        let variable = |name: &str| Some(PathBuf::from(format!("/{name}")));
        for (system, place) in [
            (System::MacOs, "/opt/homebrew/bin"),
            (System::MacOs, "/HOME/.local/bin"),
            (System::Linux, "/HOME/.cargo/bin"),
            (System::Windows, "/APPDATA/npm"),
        ] {
            let places = known_folders(system, variable);
            assert!(places.contains(&PathBuf::from(place)), "{system:?}: {places:?}");
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let names = ["v9.11.2", "v22.1.0", "v22.10.0", "system"].map(str::to_owned);
        assert_eq!(newest(names.into_iter()).as_deref(), Some("v22.10.0"));
        assert_eq!(newest(["iojs".to_owned()].into_iter()), None);
    }

    #[cfg(unix)]
    fn shell(script: &str) -> (tempfile::TempDir, OsString) {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shell");
        std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        (folder, file.into_os_string())
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_login_shell_reports_its_path() {
        let (_folder, shell) = shell("echo hello; PATH=/from/rc:$PATH; shift 3; eval \"$1\"");
        let answer = ask(&shell, Duration::from_secs(20)).await.unwrap();
        assert!(answer.starts_with("/from/rc:"), "{answer}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_shell_that_hangs_is_killed_with_its_children() {
        let (folder, shell) = shell("sleep 600 & echo $! > \"$0.pid\"; sleep 600");
        assert_eq!(ask(&shell, Duration::from_millis(300)).await, None);
        let pid = std::fs::read_to_string(folder.path().join("shell.pid")).unwrap();
        crate::process::child::tests::until_gone(pid.trim().parse().unwrap()).await;
    }
}
