//! Reads `config.toml` and upgrades it to the newest version.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use evermoor_core::config::migrate::{Migrated, Migrations};
use evermoor_core::config::{Config, ConfigError, MAX_FILE_SIZE};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::{foreign, private};

/// Reads the file; `None` if there is none. An older version is rewritten, with a backup beside it.
pub fn read(path: &Path) -> Result<Option<Config>, Failure> {
    read_with(path, Migrations::KNOWN)
}

/// The configuration as it is now, if there is a valid one. Changes and logs nothing.
pub fn peek(path: &Path) -> Option<Config> {
    Config::parse(&foreign::read_text(path, MAX_FILE_SIZE).ok()?).ok()
}

fn read_with(path: &Path, ladder: Migrations) -> Result<Option<Config>, Failure> {
    let text = match foreign::read_text(path, MAX_FILE_SIZE) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let what = format!("Cannot read {}: {error}.", path.display());
            return Err(Failure::new(Code::Configuration, what, "Make it a readable text file."));
        }
    };
    let (config, upgraded) =
        ladder.parse(&text).map_err(|ConfigError { line, what, remedy }| {
            let location = line.map(|line| format!(", line {line}")).unwrap_or_default();
            let what = format!("{}{location}: {what}", path.display());
            Failure::new(Code::Configuration, what, remedy)
        })?;
    if let Some(upgraded) = upgraded {
        match replace(path, &text, &upgraded) {
            Ok(copy) => tracing::info!(
                from = upgraded.from,
                to = ladder.newest(),
                copy = %copy.display(),
                "config.toml was upgraded"
            ),
            Err(error) => tracing::warn!(
                %error,
                "config.toml has an older version and cannot be rewritten; it is used as it is"
            ),
        }
    }
    Ok(Some(config))
}

/// Saves the old text as a backup, then replaces the file.
fn replace(path: &Path, old: &str, new: &Migrated) -> io::Result<PathBuf> {
    // Keep a symlink: rewrite its target.
    let path = std::fs::canonicalize(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let copy = path.with_file_name(format!("{name}.v{}.bak", new.from));
    private::write_private(&copy, old.as_bytes())?;
    private::write_private(&path, new.text.as_bytes())?;
    Ok(copy)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up step: `servers` became `upstreams`.
    const MADE_UP: Migrations = Migrations(&[|document| {
        if let Some(servers) = document.remove("servers") {
            document.insert("upstreams", servers);
        }
    }]);
    const OLD: &str = "# mine\nversion = 1\n[servers.a]\nurl = \"http://127.0.0.1:1/mcp\" # here\n";

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn an_older_file_is_rewritten_with_its_comments_and_backed_up() {
        let (folder, path) = file(OLD);
        let config = read_with(&path, MADE_UP).unwrap().unwrap();
        assert_eq!(config.upstreams[0].name.as_str(), "a");
        assert_eq!(
            text(&path),
            "# mine\nversion = 2\n[upstreams.a]\nurl = \"http://127.0.0.1:1/mcp\" # here\n"
        );
        assert_eq!(text(&folder.path().join("config.toml.v1.bak")), OLD);
        read_with(&path, MADE_UP).unwrap().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "rewritten once");
    }

    #[test]
    fn an_older_file_with_a_mistake_is_not_rewritten() {
        let (folder, path) = file("version = 1\n[servers.a]\nurl = \"ftp://x\"\n");
        assert!(read_with(&path, MADE_UP).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(text(&path).contains("[servers.a]"));
    }

    #[test]
    fn a_current_file_is_not_rewritten_and_a_missing_one_is_none() {
        let (folder, path) = file("[upstreams.a]\nurl = \"http://127.0.0.1:1/mcp\"\n");
        let before = std::fs::metadata(&path).unwrap().modified().unwrap();
        assert!(read(&path).unwrap().is_some());
        assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), before);
        assert!(read(&folder.path().join("none.toml")).unwrap().is_none());
    }
}
