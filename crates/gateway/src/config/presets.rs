//! The presets of the person: the files in the folder `presets` beside `config.toml`.
//!
//! They are read at the start and again whenever something in that folder changes. A file with a
//! mistake is a warning until it is repaired, and costs nothing else: the others are used, and so is
//! what it said before.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::task::TaskTracker;

use evermoor_core::config::Mistake;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::preset::{Misread, Own, Shelf};

use crate::system::file_watch;

/// What the person's folder says, kept up to date.
pub struct Presets {
    /// All presets: those that come with Evermoor, and the person's.
    pub shelf: watch::Receiver<Arc<Shelf>>,
    pub troubles: watch::Receiver<Vec<Trouble>>,
}

/// Something that is wrong there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The preset that it is about; `None` for the folder itself.
    pub preset: Option<String>,
    pub failure: Failure,
}

/// Whoever keeps it up to date.
pub struct Keeper {
    folder: PathBuf,
    own: Own,
    shelf: watch::Sender<Arc<Shelf>>,
    troubles: watch::Sender<Vec<Trouble>>,
    tasks: TaskTracker,
}

/// The files by the names of their presets, each with its text or why there is none.
type Files = BTreeMap<String, Result<String, Mistake>>;

/// A preset is a page or two. What is larger is none.
const LARGEST: u64 = 256 * 1024;

/// The folder that belongs to a configuration file.
pub fn folder_of(config: &Path) -> PathBuf {
    config.with_file_name("presets")
}

impl Presets {
    /// Reads the folder, which need not exist.
    pub async fn read(folder: PathBuf, tasks: TaskTracker) -> (Self, Keeper) {
        let (shelf, put) = watch::channel(Arc::new(Shelf::of_our_own()));
        let (troubles, told) = watch::channel(Vec::new());
        let mut keeper = Keeper { folder, own: Own::default(), shelf, troubles, tasks };
        let path = keeper.folder.clone();
        if let Ok(found) = keeper.tasks.spawn_blocking(move || read(&path)).await {
            keeper.take(found);
        }
        (Self { shelf: put, troubles: told }, keeper)
    }

    /// Those that come with Evermoor, and nobody who adds any.
    #[cfg(test)]
    pub(crate) fn of_our_own() -> Self {
        let shelf = watch::channel(Arc::new(Shelf::of_our_own())).1;
        Self { shelf, troubles: watch::channel(Vec::new()).1 }
    }
}

impl Keeper {
    /// Reads the folder again whenever it changes.
    pub async fn follow(mut self) {
        loop {
            let looked = file_watch::look_into(&self.folder, read, &self.tasks).await;
            let Some((watch, found)) = looked else {
                return;
            };
            self.take(found);
            watch.stirred().await;
        }
    }

    fn take(&mut self, found: io::Result<Files>) {
        let troubles = match found {
            Ok(files) => {
                let (shelf, misread) = self.own.reread(files);
                self.shelf.send_if_modified(|old| {
                    let differs = **old != shelf;
                    if differs {
                        *old = Arc::new(shelf);
                    }
                    differs
                });
                misread.into_iter().map(of_file).collect()
            }
            Err(error) => vec![self.of_folder(&error)],
        };
        self.troubles.send_if_modified(|old| {
            let differs = *old != troubles;
            if differs {
                for trouble in &troubles {
                    tracing::warn!(failure = %trouble.failure, "a preset is not used");
                }
                *old = troubles;
            }
            differs
        });
    }

    fn of_folder(&self, error: &io::Error) -> Trouble {
        let what = format!("{} cannot be read: {error}.", self.folder.display());
        let remedy = "Make it a folder that you may read.";
        Trouble { preset: None, failure: Failure::new(Code::Configuration, what, remedy) }
    }
}

fn of_file(Misread { name, mistake }: Misread) -> Trouble {
    let place = mistake.line.map(|line| format!(", line {line}")).unwrap_or_default();
    let what = format!("presets/{name}.toml{place}: {}", mistake.what);
    let failure = Failure::new(Code::Configuration, what, mistake.remedy);
    Trouble { preset: Some(name), failure }
}

/// Reads every file in the folder that is meant to be a preset. No folder is an empty one.
fn read(folder: &Path) -> io::Result<Files> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Files::new()),
        Err(error) => return Err(error),
    };
    let mut files = Files::new();
    for entry in entries {
        let path = entry?.path();
        if let Some(name) = name(&path) {
            files.insert(name, text(&path));
        }
    }
    Ok(files)
}

/// The name of the preset, if the file is meant to be one. Editors hide what is not finished behind
/// a dot.
fn name(path: &Path) -> Option<String> {
    let name = path.file_stem()?.to_string_lossy().into_owned();
    let is_toml = path.extension().is_some_and(|extension| extension == "toml");
    // What is neither a file nor a link that leads nowhere is no mistake of a person.
    let other = std::fs::metadata(path).is_ok_and(|found| !found.is_file());
    (is_toml && !name.starts_with('.') && !other).then_some(name)
}

fn text(path: &Path) -> Result<String, Mistake> {
    let wrong = |what: String, remedy: &str| Mistake { line: None, what, remedy: remedy.into() };
    let mut text = Vec::new();
    let opened = std::fs::File::open(path);
    let read = opened.and_then(|file| file.take(LARGEST + 1).read_to_end(&mut text));
    read.map_err(|error| {
        wrong(format!("It cannot be read: {error}."), "Make it readable, or remove it.")
    })?;
    if text.len() as u64 > LARGEST {
        let what = format!("It is larger than {} KB.", LARGEST / 1024);
        return Err(wrong(what, "Keep in it only what describes the application."));
    }
    String::from_utf8(text)
        .map_err(|_| wrong("It is not text in UTF-8.".into(), "Save it as UTF-8."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// A folder that is followed from a moment when it did not exist.
    struct Followed {
        home: tempfile::TempDir,
        presets: Presets,
    }

    impl Followed {
        async fn begin() -> Self {
            let (home, tasks) = (tempfile::tempdir().unwrap(), TaskTracker::new());
            let folder = folder_of(&home.path().join("deep/config.toml"));
            let (presets, keeper) = Presets::read(folder, tasks.clone()).await;
            tasks.spawn(keeper.follow());
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
            let is_so = |shelf: &Arc<Shelf>| {
                shelf.get(name).ok().map(|preset| preset.title.as_str()) == title
            };
            timeout(PATIENCE, self.presets.shelf.wait_for(is_so)).await.unwrap().unwrap();
        }

        /// Waits until so many things are wrong, and says what.
        async fn troubles(&mut self, number: usize) -> Vec<Trouble> {
            let are = |troubles: &Vec<Trouble>| troubles.len() == number;
            let told = timeout(PATIENCE, self.presets.troubles.wait_for(are)).await.unwrap();
            told.unwrap().clone()
        }
    }

    fn preset(title: &str) -> String {
        format!(
            "title = \"{title}\"\n[find]\nports = 4000\nowner = true\n[[mcp]]\n\
             transport = \"http\"\npath = \"/mcp\"\n[linux]\nprocesses = [\"notes\"]\n"
        )
    }

    #[tokio::test]
    async fn what_lies_there_at_the_start_is_known_at_once() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("notes.toml"), preset("Notes")).unwrap();
        let (presets, _) = Presets::read(home.path().to_owned(), TaskTracker::new()).await;
        assert_eq!(presets.shelf.borrow().get("notes").unwrap().title, "Notes");
        assert!(presets.troubles.borrow().is_empty());
    }

    #[tokio::test]
    async fn a_folder_that_did_not_exist_is_read_once_it_does_and_after_it_was_made_again() {
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
    async fn a_mistake_costs_no_other_file_and_not_what_the_same_said_before() {
        let mut followed = Followed::begin().await;
        followed.write("notes.toml", preset("Notes"));
        followed.until_title("notes", Some("Notes")).await;
        followed.write("notes.toml", preset("Notes").replace("4000", "\"4000-9000\""));
        let troubles = followed.troubles(1).await;
        let Failure { code, what, remedy } = &troubles[0].failure;
        assert_eq!(*code, Code::Configuration);
        assert!(what.starts_with("presets/notes.toml, line 3: "), "{what}");
        assert!(!remedy.is_empty());
        followed.write("other.toml", preset("Other"));
        followed.until_title("other", Some("Other")).await;
        followed.until_title("notes", Some("Notes")).await;
        followed.write("notes.toml", preset("Changed"));
        followed.until_title("notes", Some("Changed")).await;
        followed.troubles(0).await;
    }

    #[tokio::test]
    async fn what_is_not_a_preset_is_ignored_and_what_cannot_be_one_is_told() {
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
        let troubles = followed.troubles(3).await;
        let said: Vec<&str> = troubles.iter().map(|it| it.failure.what.as_str()).collect();
        assert_eq!(said[0], "presets/Bad Name.toml: `Bad Name` is not a preset name.");
        assert_eq!(said[1], "presets/large.toml: It is larger than 256 KB.");
        assert_eq!(said[2], "presets/picture.toml: It is not text in UTF-8.");
    }

    #[tokio::test]
    async fn a_folder_that_is_none_is_told_and_forgets_nothing() {
        let mut followed = Followed::begin().await;
        followed.write("notes.toml", preset("Notes"));
        followed.until_title("notes", Some("Notes")).await;
        std::fs::rename(followed.path(""), followed.home.path().join("elsewhere")).unwrap();
        std::fs::write(followed.home.path().join("deep/presets"), "a file").unwrap();
        let troubles = followed.troubles(1).await;
        assert_eq!(troubles[0].preset, None);
        followed.until_title("notes", Some("Notes")).await;
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_link_is_followed_to_the_file_that_people_edit() {
        let mut followed = Followed::begin().await;
        let real = followed.home.path().join("dotfiles/notes.toml");
        std::fs::create_dir_all(real.parent().unwrap()).unwrap();
        std::fs::create_dir_all(followed.path("")).unwrap();
        std::os::unix::fs::symlink(&real, followed.path("notes.toml")).unwrap();
        followed.troubles(1).await;
        std::fs::write(&real, preset("One")).unwrap();
        followed.until_title("notes", Some("One")).await;
        followed.troubles(0).await;
        std::fs::write(&real, preset("Two")).unwrap();
        followed.until_title("notes", Some("Two")).await;
    }
}
