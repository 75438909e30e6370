//! The user's presets: the files in the folder `presets` beside `config.toml`.
//!
//! They are read at startup and whenever something in that folder changes. A file with a mistake
//! causes a warning until it is corrected; the other presets and its last valid version stay in use.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use evermoor_core::config::ConfigError;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::preset::{PresetSet, UnreadablePreset, UserPresets};
use evermoor_platform::fs::foreign;

use crate::system::file_watch;

/// The presets, kept up to date by a [`PresetWatcher`].
pub struct Presets {
    /// All presets: the built-in ones and the user's.
    pub preset_set: watch::Receiver<Arc<PresetSet>>,
    pub problems: watch::Receiver<Vec<PresetProblem>>,
}

/// A problem with a preset file or the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetProblem {
    /// The preset; `None` for the folder itself.
    pub preset: Option<String>,
    pub failure: Failure,
}

/// Reads the presets again whenever the folder changes.
pub struct PresetWatcher {
    folder: PathBuf,
    own: UserPresets,
    preset_set: watch::Sender<Arc<PresetSet>>,
    problems: watch::Sender<Vec<PresetProblem>>,
    tasks: TaskTracker,
}

/// The text of each file, or why it cannot be used, by the name of the preset.
type PresetFiles = BTreeMap<String, Result<String, ConfigError>>;

/// A preset is a page or two; a larger file is not a preset.
const MAX_FILE_SIZE: u64 = 256 * 1024;

/// The folder that belongs to a configuration file.
pub fn folder_of(config: &Path) -> PathBuf {
    config.with_file_name("presets")
}

impl Presets {
    /// Reads the folder, which need not exist.
    pub async fn read(folder: PathBuf, tasks: TaskTracker) -> (Self, PresetWatcher) {
        let (preset_set, preset_receiver) = watch::channel(Arc::new(PresetSet::bundled()));
        let (problems, problem_receiver) = watch::channel(Vec::new());
        let mut preset_watcher =
            PresetWatcher { folder, own: UserPresets::default(), preset_set, problems, tasks };
        let path = preset_watcher.folder.clone();
        if let Ok(found) = preset_watcher.tasks.spawn_blocking(move || read(&path)).await {
            preset_watcher.take(found);
        }
        (Self { preset_set: preset_receiver, problems: problem_receiver }, preset_watcher)
    }

    /// The built-in presets only.
    #[cfg(test)]
    pub(crate) fn bundled() -> Self {
        let preset_set = watch::channel(Arc::new(PresetSet::bundled())).1;
        Self { preset_set, problems: watch::channel(Vec::new()).1 }
    }
}

impl PresetWatcher {
    /// Reads the folder again whenever it changes.
    pub async fn follow(mut self) {
        loop {
            let reading = file_watch::read_watched_folder(&self.folder, read, &self.tasks).await;
            let Some((watch, found)) = reading else {
                return;
            };
            self.take(found);
            watch.changed().await;
        }
    }

    fn take(&mut self, found: io::Result<PresetFiles>) {
        let problems = match found {
            Ok(files) => {
                let (preset_set, misread) = self.own.reread(files);
                self.preset_set.send_if_modified(|old| {
                    let differs = **old != preset_set;
                    if differs {
                        *old = Arc::new(preset_set);
                    }
                    differs
                });
                misread.into_iter().map(of_file).collect()
            }
            Err(error) => vec![self.of_folder(&error)],
        };
        self.problems.send_if_modified(|old| {
            let differs = *old != problems;
            if differs {
                for problem in &problems {
                    tracing::warn!(failure = %problem.failure, "a preset cannot be used");
                }
                *old = problems;
            }
            differs
        });
    }

    fn of_folder(&self, error: &io::Error) -> PresetProblem {
        let what = format!("Cannot read {}: {error}.", self.folder.display());
        let remedy = "Make it a folder that you can read.";
        PresetProblem { preset: None, failure: Failure::new(Code::Configuration, what, remedy) }
    }
}

fn of_file(UnreadablePreset { name, mistake }: UnreadablePreset) -> PresetProblem {
    let location = mistake.line.map(|line| format!(", line {line}")).unwrap_or_default();
    let what = format!("presets/{name}.toml{location}: {}", mistake.what);
    let failure = Failure::new(Code::Configuration, what, mistake.remedy);
    PresetProblem { preset: Some(name), failure }
}

/// Reads every preset file in the folder. A missing folder counts as empty.
fn read(folder: &Path) -> io::Result<PresetFiles> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(PresetFiles::new()),
        Err(error) => return Err(error),
    };
    let mut files = PresetFiles::new();
    for entry in entries {
        let path = entry?.path();
        if let Some(name) = name(&path) {
            files.insert(name, text(&path));
        }
    }
    Ok(files)
}

/// The name of the preset, if the file is one. Names that begin with a dot are editors' temporary
/// files.
fn name(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    // A broken symlink is reported as a mistake; folders and the like are ignored.
    let other = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    (is_toml && !name.starts_with('.') && !other).then_some(name)
}

fn text(path: &Path) -> Result<String, ConfigError> {
    let wrong =
        |what: String, remedy: &str| ConfigError { line: None, what, remedy: remedy.into() };
    let text = foreign::read_text(path, MAX_FILE_SIZE);
    text.map_err(|error| wrong(format!("It cannot be read: {error}."), "Correct or remove it."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A folder that is watched from before it exists.
    struct Followed {
        home: tempfile::TempDir,
        presets: Presets,
    }

    impl Followed {
        async fn begin() -> Self {
            let (home, tasks) = (tempfile::tempdir().unwrap(), TaskTracker::new());
            let folder = folder_of(&home.path().join("deep/config.toml"));
            let (presets, preset_watcher) = Presets::read(folder, tasks.clone()).await;
            tasks.spawn(preset_watcher.follow());
            Self { home, presets }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.home.path().join("deep/presets").join(name)
        }

        fn write(&self, name: &str, text: impl AsRef<[u8]>) {
            let path = self.path(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }

        async fn until_title(&mut self, name: &str, title: Option<&str>) {
            let is_so = |preset_set: &Arc<PresetSet>| {
                preset_set.get(name).ok().map(|preset| preset.title.as_str()) == title
            };
            timeout(PATIENCE, self.presets.preset_set.wait_for(is_so)).await.unwrap().unwrap();
        }

        /// Waits until there are this many problems, and returns them.
        async fn problems(&mut self, number: usize) -> Vec<PresetProblem> {
            let are = |problems: &Vec<PresetProblem>| problems.len() == number;
            let problem_receiver =
                timeout(PATIENCE, self.presets.problems.wait_for(are)).await.unwrap();
            problem_receiver.unwrap().clone()
        }
    }

    fn preset(title: &str) -> String {
        format!(
            "title = \"{title}\"\n[find]\nports = 4000\nowner = true\n[[mcp]]\n\
             transport = \"http\"\npath = \"/mcp\"\n[linux]\nprocesses = [\"notes\"]\n"
        )
    }

    #[tokio::test]
    async fn presets_that_exist_at_startup_are_known_at_once() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("notes.toml"), preset("Notes")).unwrap();
        let (presets, _) = Presets::read(home.path().to_owned(), TaskTracker::new()).await;
        assert_eq!(presets.preset_set.borrow().get("notes").unwrap().title, "Notes");
        assert!(presets.problems.borrow().is_empty());
    }

    #[tokio::test]
    async fn a_folder_is_read_once_it_exists_and_when_it_is_created_again() {
        let mut followed = Followed::begin().await;
        followed.write("notes.toml", preset("One"));
        followed.until_title("notes", Some("One")).await;
        std::fs::remove_dir_all(followed.path("")).unwrap();
        followed.until_title("notes", None).await;
        followed.write("notes.toml", preset("Two"));
        followed.until_title("notes", Some("Two")).await;
        followed.write("notes.toml~", preset("Three"));
        std::fs::rename(followed.path("notes.toml~"), followed.path("notes.toml")).unwrap();
        followed.until_title("notes", Some("Three")).await;
    }

    #[tokio::test]
    async fn a_mistake_affects_no_other_preset_and_keeps_the_last_valid_version() {
        let mut followed = Followed::begin().await;
        followed.write("notes.toml", preset("Notes"));
        followed.until_title("notes", Some("Notes")).await;
        followed.write("notes.toml", preset("Notes").replace("4000", "\"4000-9000\""));
        let problems = followed.problems(1).await;
        let Failure { code, what, remedy } = &problems[0].failure;
        assert_eq!(*code, Code::Configuration);
        assert!(what.starts_with("presets/notes.toml, line 3: "), "{what}");
        assert!(!remedy.is_empty());
        followed.write("other.toml", preset("Other"));
        followed.until_title("other", Some("Other")).await;
        followed.until_title("notes", Some("Notes")).await;
        followed.write("notes.toml", preset("Changed"));
        followed.until_title("notes", Some("Changed")).await;
        followed.problems(0).await;
    }

    #[tokio::test]
    async fn other_files_are_ignored_and_invalid_presets_are_reported() {
        let mut followed = Followed::begin().await;
        std::fs::create_dir_all(followed.path("folder.toml")).unwrap();
        for ignored in ["README.md", ".hidden.toml", "notes.toml.bak", "notes.toml~"] {
            followed.write(ignored, "no preset");
        }
        followed.write("large.toml", vec![b'#'; 256 * 1024 + 1]);
        followed.write("picture.toml", b"\xff\xfe\x00");
        followed.write("Bad Name.toml", preset("Bad"));
        followed.write("fits.toml", preset("Fits") + &"#".repeat(250 * 1024));
        followed.until_title("fits", Some("Fits")).await;
        let problems = followed.problems(3).await;
        let texts: Vec<&str> = problems.iter().map(|it| it.failure.what.as_str()).collect();
        assert_eq!(texts[0], "presets/Bad Name.toml: `Bad Name` is not a preset name.");
        assert_eq!(texts[1], "presets/large.toml: It cannot be read: it is larger than 256 KB.");
        assert_eq!(texts[2], "presets/picture.toml: It cannot be read: it is not UTF-8 text.");
    }

    #[tokio::test]
    async fn a_file_in_place_of_the_folder_is_reported_and_the_presets_are_kept() {
        let mut followed = Followed::begin().await;
        followed.write("notes.toml", preset("Notes"));
        followed.until_title("notes", Some("Notes")).await;
        std::fs::rename(followed.path(""), followed.home.path().join("elsewhere")).unwrap();
        std::fs::write(followed.home.path().join("deep/presets"), "a file").unwrap();
        let problems = followed.problems(1).await;
        assert_eq!(problems[0].preset, None);
        followed.until_title("notes", Some("Notes")).await;
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_target_of_a_symlink_is_watched() {
        let mut followed = Followed::begin().await;
        let real = followed.home.path().join("dotfiles/notes.toml");
        std::fs::create_dir_all(real.parent().unwrap()).unwrap();
        std::fs::create_dir_all(followed.path("")).unwrap();
        std::os::unix::fs::symlink(&real, followed.path("notes.toml")).unwrap();
        followed.problems(1).await;
        std::fs::write(&real, preset("One")).unwrap();
        followed.until_title("notes", Some("One")).await;
        followed.problems(0).await;
        std::fs::write(&real, preset("Two")).unwrap();
        followed.until_title("notes", Some("Two")).await;
    }
}
