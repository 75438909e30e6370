//! Watches `config.toml` and sends each new reading of it.
//!
//! A reading that equals the last one is not sent.

use std::path::{Path, PathBuf};

use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Config;
use evermoor_core::failure::{Code, Failure};

use crate::config::file;
use crate::system::file_watch;

/// The configuration, or what is wrong with the file.
pub type Reading = Result<Config, Failure>;

/// Sends each reading of the file at `path` that differs from the one before; the first is compared
/// with `last`.
pub async fn follow(
    path: PathBuf,
    mut last: Reading,
    readings: mpsc::Sender<Reading>,
    tasks: TaskTracker,
) {
    let mut was_there = last != Ok(Config::default());
    loop {
        let reading_file = file_watch::read_watched(&path, file::read, &tasks).await;
        let Some((watch, found)) = reading_file else {
            return;
        };
        let reading = match found {
            Ok(Some(config)) => {
                was_there = true;
                Ok(config)
            }
            // Deleting the file by mistake must not remove every server: keep the last reading.
            Ok(None) if was_there => Err(gone(&path)),
            Ok(None) => Ok(Config::default()),
            Err(failure) => Err(failure),
        };
        if reading != last {
            last = reading.clone();
            if readings.send(reading).await.is_err() {
                return;
            }
        }
        watch.changed().await;
    }
}

fn gone(path: &Path) -> Failure {
    let what = format!("{} is missing; the last configuration stays in force.", path.display());
    let remedy = "Put the file back, or restart the gateway to run without it.";
    Failure::new(Code::Configuration, what, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A file that is watched from before it exists.
    struct Followed {
        folder: tempfile::TempDir,
        readings: mpsc::Receiver<Reading>,
    }

    impl Followed {
        fn begin() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let (send, readings) = mpsc::channel(1);
            let path = folder.path().join("deep/config.toml");
            let tasks = TaskTracker::new();
            tasks.spawn(follow(path, Ok(Config::default()), send, tasks.clone()));
            Self { folder, readings }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join("deep").join(name)
        }

        fn write(&self, name: &str, text: &str) {
            let path = self.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        async fn next(&mut self) -> Reading {
            timeout(PATIENCE, self.readings.recv()).await.unwrap().unwrap()
        }
    }

    fn text(port: u16) -> String {
        format!("[upstreams.a]\nurl = \"http://127.0.0.1:{port}/mcp\"\n")
    }

    fn parsed(port: u16) -> Reading {
        Ok(Config::parse(&text(port)).unwrap())
    }

    #[tokio::test]
    async fn a_file_is_read_once_it_exists_and_again_when_it_is_replaced() {
        let mut followed = Followed::begin();
        followed.write("config.toml", &text(1));
        assert_eq!(followed.next().await, parsed(1));
        followed.write("config.toml~", &text(2));
        std::fs::rename(followed.path("config.toml~"), followed.path("config.toml")).unwrap();
        assert_eq!(followed.next().await, parsed(2));
    }

    #[tokio::test]
    async fn a_mistake_is_reported_and_so_is_its_correction() {
        let mut followed = Followed::begin();
        followed.write("config.toml", "[upstreams.a]\n");
        let mistake = followed.next().await.unwrap_err();
        assert!(mistake.what.contains("config.toml, line 1: The server `a`"), "{mistake}");
        followed.write("config.toml", &text(1));
        assert_eq!(followed.next().await, parsed(1));
    }

    #[tokio::test]
    async fn a_deleted_file_is_reported_and_not_read_as_an_empty_one() {
        let mut followed = Followed::begin();
        followed.write("config.toml", &text(1));
        followed.next().await.unwrap();
        std::fs::remove_file(followed.path("config.toml")).unwrap();
        let failure = followed.next().await.unwrap_err();
        assert!(failure.what.contains("is missing"), "{failure}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_target_of_a_symlink_is_watched() {
        let mut followed = Followed::begin();
        let real = followed.folder.path().join("dotfiles/evermoor.toml");
        std::fs::create_dir_all(real.parent().unwrap()).unwrap();
        std::fs::create_dir_all(followed.path("")).unwrap();
        std::fs::write(&real, text(1)).unwrap();
        std::os::unix::fs::symlink(&real, followed.path("config.toml")).unwrap();
        assert_eq!(followed.next().await, parsed(1));
        std::fs::write(&real, text(2)).unwrap();
        assert_eq!(followed.next().await, parsed(2));
    }
}
