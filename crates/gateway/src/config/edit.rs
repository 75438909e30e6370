//! Changes of `config.toml` that a person makes through the gateway.
//!
//! One at a time: the file is read, edited with its comments, checked as a whole and put in its
//! place. Nothing is changed in memory; the file is followed like one that a person edited. Whoever
//! asked for a change hears of it when it is in force.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, watch};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use evermoor_core::config::edit::Edit;
use evermoor_core::config::{Config, Mistake};
use evermoor_core::failure::{Code, Failure};
use evermoor_core::preset::Shelf;
use evermoor_platform::fs::private;

/// The file, and what of it is in force.
pub struct ConfigBook {
    pub path: PathBuf,
    pub in_force: watch::Receiver<Arc<Config>>,
    pub shelf: watch::Receiver<Arc<Shelf>>,
    pub tasks: TaskTracker,
    pub turn: Mutex<()>,
}

/// Why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unwritten {
    /// It would not be right.
    Refused(Failure),
    /// It cannot be written.
    Failed(Failure),
}

/// A file that is written is in force within this time, or says what is wrong in the warnings.
const TAKES_HOLD: Duration = Duration::from_secs(3);

impl ConfigBook {
    /// Makes a change, and returns when it is in force.
    pub async fn edit(
        &self,
        how: impl FnOnce(&mut Edit) -> Result<(), Mistake> + Send + 'static,
    ) -> Result<(), Unwritten> {
        let _turn = self.turn.lock().await;
        let path = self.path.clone();
        let edited = self.tasks.spawn_blocking(move || edit(&path, how)).await;
        let written = edited.unwrap_or_else(|panicked| Err(failed(&panicked.to_string())))?;
        self.in_force(written).await;
        Ok(())
    }

    /// Has another part of the gateway write the file, while nobody else does, and returns when that
    /// is in force.
    pub async fn written_by<T>(&self, work: impl Future<Output = T>) -> T {
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
        let written = written.entitled(&self.shelf.borrow().clone());
        let mut in_force = self.in_force.clone();
        let _ = timeout(TAKES_HOLD, in_force.wait_for(|now| **now == written)).await;
    }
}

fn edit(
    path: &Path,
    how: impl FnOnce(&mut Edit) -> Result<(), Mistake>,
) -> Result<Config, Unwritten> {
    let before = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed(&error.to_string())),
    };
    let refused = |mistake: Mistake| {
        let what = match mistake.line {
            Some(_) => mistake.placed("config.toml"),
            None => mistake.what,
        };
        Unwritten::Refused(Failure::new(Code::Configuration, what, mistake.remedy))
    };
    let mut edit = Edit::of(&before).map_err(refused)?;
    how(&mut edit).map_err(refused)?;
    let (after, config) = edit.done().map_err(refused)?;
    if after != before {
        // A link stays a link: what it leads to is rewritten.
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        private::write_private(&path, after.as_bytes())
            .map_err(|error| failed(&error.to_string()))?;
    }
    Ok(config)
}

fn failed(why: &str) -> Unwritten {
    let what = format!("config.toml cannot be changed: {why}.");
    Unwritten::Failed(Failure::new(Code::Internal, what, "Make the file writable, and try again."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_and_a_change_that_is_wrong_leaves_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/config.toml");
        let set =
            |hold: &'static str| edit(&path, move |edit| edit.set(&["gateway", "hold"], hold));
        assert_eq!(set("40s").unwrap().gateway.hold.as_secs(), 40);
        let Unwritten::Refused(refused) = set("soon").unwrap_err() else { panic!("a mistake") };
        assert!(refused.what.starts_with("config.toml, line 2: `soon`"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[gateway]\nhold = \"40s\"\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.toml"), folder.path().join("config.toml"));
        std::fs::write(&real, "# mine\n").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        edit(&link, |edit| edit.set_port(7421)).unwrap();
        assert!(link.is_symlink());
        assert!(std::fs::read_to_string(&real).unwrap().contains("7421"));
    }
}
