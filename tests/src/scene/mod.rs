//! A scene: a folder for one test, with what plays in it.

pub mod entry;
#[cfg(unix)]
pub mod machine;
pub mod programs;
#[cfg(target_os = "linux")]
pub mod small_disk;
pub mod wait;

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::fakes::upstream::Upstream;
use crate::gateway::Gateway;
use crate::scene::wait::until;

/// How often those that are to end are looked for. One that is still there then is nobody's to end.
const LOOKS: usize = 1_000;

/// Where one test happens. Everything in it is gone when it is dropped.
pub struct Scene {
    folder: TempDir,
}

impl Scene {
    #[expect(clippy::new_without_default, reason = "a scene is made on purpose, never by default")]
    pub fn new() -> Self {
        let folder = tempfile::Builder::new().prefix("evermoor-scene").tempdir();
        Self { folder: folder.expect("a folder can be made") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Evermoor's home in this scene.
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    pub async fn upstream(&self, name: &str) -> Upstream {
        Upstream::start(name, self.path(&format!("{name}.ledger"))).await
    }

    /// A gateway with these upstreams and the usual settings.
    pub async fn gateway(&self, upstreams: &[&Upstream]) -> Gateway {
        self.gateway_with("", upstreams).await
    }

    /// A gateway with these upstreams and `settings` under `[gateway]`.
    pub async fn gateway_with(&self, settings: &str, upstreams: &[&Upstream]) -> Gateway {
        self.configure(settings, upstreams);
        Gateway::start(&self.home()).await
    }

    /// A gateway with one upstream, `settings` under `[gateway]` and `upstream` under the upstream.
    pub async fn gateway_to(
        &self,
        settings: &str,
        name: &str,
        url: &str,
        upstream: &str,
    ) -> Gateway {
        self.gateway_of(settings, &(entry::at(name, url) + upstream)).await
    }

    /// A gateway with `settings` under `[gateway]`, and these entries of `upstreams` (see [`entry`]).
    pub async fn gateway_of(&self, settings: &str, upstreams: &str) -> Gateway {
        self.write(settings, upstreams);
        Gateway::start(&self.home()).await
    }

    /// Writes the configuration with `upstreams` as they stand in the file.
    pub fn write(&self, settings: &str, upstreams: &str) {
        let text = format!("[gateway]\nlisten = \"127.0.0.1:0\"\n{settings}\n{upstreams}");
        write(&self.home().join("config.toml"), &text);
    }

    /// Waits until the gateway has written a file of its data.
    pub async fn until_written(&self, name: &str) {
        let file = self.home().join("data").join(name);
        until(name, || file.exists()).await;
    }

    /// Writes the configuration of this scene's gateway.
    pub fn configure(&self, settings: &str, upstreams: &[&Upstream]) {
        let listen = if settings.contains("listen") { "" } else { "listen = \"127.0.0.1:0\"\n" };
        let mut text = format!("[gateway]\n{listen}{settings}\n");
        for upstream in upstreams {
            text += &entry::at(&upstream.name, &upstream.url);
        }
        write(&self.home().join("config.toml"), &text);
    }
}

/// A gateway that a command or an editor started goes on when they end. It ends with its scene, and so
/// do those that wait for its place.
impl Drop for Scene {
    fn drop(&mut self) {
        // Each is there for a moment after it was told to end.
        for _ in 0..LOOKS {
            let found = gateways(&self.home());
            if found.is_empty() {
                return;
            }
            found.into_iter().for_each(|pid| drop(evermoor_platform::process::spawn::kill(pid)));
            std::thread::yield_now();
        }
    }
}

/// The processes of gateways in this home, where the system says which those are.
pub fn gateways(home: &Path) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_gateway = |pid: &u32| {
        // Nothing is left of the command line of one that has ended.
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        let mut words = line.split('\0');
        words.any(|word| word == "serve") && words.any(|word| Path::new(word) == home)
    };
    let pids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
    pids.filter(is_gateway).collect()
}

fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a file lies in a folder");
    std::fs::create_dir_all(folder).expect("a folder can be made");
    std::fs::write(path, text).expect("a file can be written");
}
