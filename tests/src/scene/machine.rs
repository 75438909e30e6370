//! A user's machine: a home folder with editors in it, and that user's `evermoor`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;
use tokio::process::Command;

use crate::PATIENCE;
use crate::scene::Scene;
use crate::scene::programs::{built, command, home_variables};

/// The home folder with the editors' files.
pub struct Machine {
    pub home: PathBuf,
    pub project: PathBuf,
    programs: PathBuf,
    temporary: PathBuf,
    evermoor: PathBuf,
}

impl Machine {
    pub fn new(scene: &Scene) -> Self {
        let [home, project, programs, temporary] =
            ["person", "project", "programs", "temporary"].map(|name| scene.path(name));
        for folder in [&home, &project, &programs, &temporary] {
            std::fs::create_dir_all(folder).expect("a folder can be made");
        }
        Self { home, project, programs, temporary, evermoor: scene.home() }
    }

    /// Writes a file to the home folder.
    pub fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home.join(path);
        std::fs::create_dir_all(path.parent().expect("below home")).expect("a folder can be made");
        std::fs::write(&path, text).expect("a file can be written");
        path
    }

    /// Installs a program under a name.
    #[cfg(unix)]
    pub fn install(&self, name: &str, program: &Path) {
        let link = self.programs.join(name);
        std::os::unix::fs::symlink(program, link).expect("a link can be made");
    }

    /// Installs a program under a name. Windows allows links only to administrators.
    #[cfg(windows)]
    pub fn install(&self, name: &str, program: &Path) {
        let copy = self.programs.join(name).with_extension("exe");
        std::fs::copy(program, copy).expect("a file can be copied");
    }

    /// Every file of the user and the project.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        walk(&self.home, &mut found);
        walk(&self.project, &mut found);
        found
    }

    /// A program, run as this user.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = command(program);
        let system: &[&str] = match cfg!(windows) {
            true => &[r"C:\Windows\System32"],
            false => &["/usr/bin", "/bin"],
        };
        let path = system.iter().map(PathBuf::from);
        let path = std::iter::once(self.programs.clone()).chain(path);
        let path = std::env::join_paths(path).expect("no folder has a separator in its name");
        command.envs(home_variables(&self.home)).env("PATH", path);
        for name in ["TMPDIR", "TEMP", "TMP"] {
            command.env(name, &self.temporary);
        }
        command.current_dir(&self.project);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
    }

    /// `evermoor` with arguments, run as this user.
    pub fn typed(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(&built("evermoor"));
        command.env("EVERMOOR_HOME", &self.evermoor).args(arguments);
        command
    }

    pub async fn evermoor(&self, arguments: &[&str]) -> Output {
        let output = tokio::time::timeout(PATIENCE, self.typed(arguments).output()).await;
        output.expect("it ends in time").expect("it runs")
    }

    /// The JSON output of `evermoor setup`, one value per editor.
    pub async fn setup(&self, arguments: &[&str]) -> Vec<Value> {
        let said = self.evermoor(&[&["setup", "--json"], arguments].concat()).await;
        let complained = String::from_utf8_lossy(&said.stderr);
        let data: Value = serde_json::from_slice(&said.stdout)
            .unwrap_or_else(|error| panic!("{error}: {complained}"));
        assert_eq!(data["schema"], 1);
        data["editors"].as_array().expect("editors are a list").clone()
    }

    /// The JSON output of `evermoor setup` for the only editor.
    pub async fn set_up(&self, arguments: &[&str]) -> Value {
        let mut editors = self.setup(arguments).await;
        assert_eq!(editors.len(), 1, "{editors:?}");
        editors.remove(0)
    }

    /// The output of a program, which must succeed.
    pub async fn said(&self, program: &Path, arguments: &[&str]) -> String {
        let output = self.command(program).args(arguments).output();
        let output = tokio::time::timeout(PATIENCE, output).await;
        let output = output.expect("it ends in time").expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{} failed: {said}{complained}", program.display());
        said
    }
}

fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).expect("a folder can be listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, found);
        } else {
            let content = std::fs::read(&path).expect("a file can be read");
            found.insert(path, content);
        }
    }
}
