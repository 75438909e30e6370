//! Changes to `config.toml` that the user makes through the gateway.
//!
//! Changes run one at a time. Each reads the file, edits it with its comments preserved, validates
//! the result and replaces the file. Nothing changes in memory: the file watcher picks the change
//! up as if the user had edited the file. A change returns when it is in force.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use evermoor_core::config::edit::ConfigEdit;
use evermoor_core::config::{Config, ConfigError, MAX_FILE_SIZE};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::preset::PresetSet;
use evermoor_platform::fs::{foreign, private};

/// Edits `config.toml` and waits until a change is in force.
pub struct ConfigEditor {
    pub path: PathBuf,
    pub in_force: watch::Receiver<Arc<Config>>,
    pub preset_set: watch::Receiver<Arc<PresetSet>>,
    pub tasks: TaskTracker,
    pub turn: Mutex<()>,
}

/// Why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigEditError {
    /// The change is invalid.
    Refused(Failure),
    /// The file cannot be written.
    Failed(Failure),
}

/// A written file is in force within this time, or a warning says why not.
const APPLY_TIMEOUT: Duration = Duration::from_secs(3);

impl ConfigEditor {
    /// Makes a change and waits until it is in force.
    pub async fn edit(
        &self,
        how: impl FnOnce(&mut ConfigEdit) -> Result<(), ConfigError> + Send + 'static,
    ) -> Result<(), ConfigEditError> {
        let _turn = self.turn.lock().await;
        let path = self.path.clone();
        let edited = self.tasks.spawn_blocking(move || edit(&path, how)).await;
        let written = edited.unwrap_or_else(|panicked| Err(failed(&panicked.to_string())))?;
        self.in_force(written).await;
        Ok(())
    }

    /// Runs `work`, which writes the file itself, while no other edit runs, and waits until its change
    /// is in force.
    pub async fn write_exclusively<T>(&self, work: impl Future<Output = T>) -> T {
        let _turn = self.turn.lock().await;
        let done = work.await;
        let path = self.path.clone();
        let read = self.tasks.spawn_blocking(move || edit(&path, |_| Ok(()))).await;
        if let Ok(Ok(written)) = read {
            self.in_force(written).await;
        }
        done
    }

    async fn in_force(&self, written: Config) {
        let written = written.with_preset_titles(&self.preset_set.borrow().clone());
        let mut in_force = self.in_force.clone();
        let _ = timeout(APPLY_TIMEOUT, in_force.wait_for(|now| **now == written)).await;
    }
}

fn edit(
    path: &Path,
    how: impl FnOnce(&mut ConfigEdit) -> Result<(), ConfigError>,
) -> Result<Config, ConfigEditError> {
    let before = match foreign::read_text(path, MAX_FILE_SIZE) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(&error.to_string())),
    };
    let refused = |mistake: ConfigError| {
        let what = match mistake.line {
            Some(_) => mistake.with_location("config.toml"),
            None => mistake.what,
        };
        ConfigEditError::Refused(Failure::new(Code::Configuration, what, mistake.remedy))
    };
    let mut edit = ConfigEdit::of(&before).map_err(refused)?;
    how(&mut edit).map_err(refused)?;
    let (after, config) = edit.done().map_err(refused)?;
    if after != before {
        // Keep a symlink: rewrite its target.
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        private::write_private(&path, after.as_bytes())
            .map_err(|error| failed(&error.to_string()))?;
    }
    Ok(config)
}

fn failed(why: &str) -> ConfigEditError {
    let what = format!("Cannot change config.toml: {why}.");
    ConfigEditError::Failed(Failure::new(
        Code::Internal,
        what,
        "Make the file writable and try again.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_created_and_an_invalid_change_leaves_it_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/config.toml");
        let set =
            |hold: &'static str| edit(&path, move |edit| edit.set(&["gateway", "hold"], hold));
        assert_eq!(set("40s").unwrap().gateway.hold.as_secs(), 40);
        let ConfigEditError::Refused(refused) = set("soon").unwrap_err() else {
            panic!("a mistake")
        };
        assert!(refused.what.starts_with("config.toml, line 2: `soon`"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[gateway]\nhold = \"40s\"\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.toml"), folder.path().join("config.toml"));
        std::fs::write(&real, "# mine\n").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        edit(&link, |edit| edit.set_port(7421)).unwrap();
        assert!(link.is_symlink());
        assert!(std::fs::read_to_string(&real).unwrap().contains("7421"));
    }
}
