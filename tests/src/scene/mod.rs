//! A scene: a temporary folder for one test, and everything the test starts in it.
//!
//! - [`programs`]: the binaries under test, as processes without the environment of the user who
//!   runs the tests
//! - [`folder`]: the temporary folder, which kills its processes on drop
//! - [`entry`]: upstream entries for `config.toml`
//! - [`freezing`]: freezes and resumes processes
//! - [`machine`]: a home folder with editors in it
//! - [`small_disk`]: a gateway on a disk that a test can fill
//! - [`wait`]: waiting for files and processes
//!
//! [`Scene`] also depends on [`gateway`](crate::gateway) and [`fakes`](crate::fakes), which it
//! starts. Everything else in this crate may depend on this folder.

pub mod entry;
pub mod folder;
pub mod freezing;
pub mod machine;
pub mod programs;
#[cfg(target_os = "linux")]
pub mod small_disk;
pub mod wait;

use std::path::{Path, PathBuf};

use crate::fakes::upstream::Upstream;
use crate::gateway::Gateway;
#[cfg(unix)]
use crate::scene::programs::{built, evermoor};
use crate::scene::wait::until;
use folder::ScratchFolder;

/// The folder of one test. Dropping it removes it and kills what runs in it.
pub struct Scene {
    folder: ScratchFolder,
}

impl Scene {
    #[expect(clippy::new_without_default, reason = "a scene is made on purpose, never by default")]
    pub fn new() -> Self {
        Self { folder: ScratchFolder::new("evermoor-scene") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Evermoor's home in this scene.
    pub fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// The `evermoor` for code under test that runs in the test process and starts gateways. They
    /// inherit the environment of the tests.
    #[cfg(windows)]
    pub fn evermoor(&self) -> PathBuf {
        crate::scene::programs::built("evermoor")
    }

    /// An `evermoor` without the environment of the tests, for code under test that runs in the
    /// test process and starts gateways.
    #[cfg(unix)]
    pub fn evermoor(&self) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let (script, isolated) = (self.path("evermoor"), evermoor(&self.home()));
        let variables =
            isolated.as_std().get_envs().filter_map(|(name, value)| Some((name, value?)));
        let variables =
            variables.map(|(name, value)| format!(" '{}={}'", name.display(), value.display()));
        let variables: String = variables.collect();
        let text =
            format!("#!/bin/sh\nexec env -i{variables} '{}' \"$@\"\n", built("evermoor").display());
        write(&script, &text);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&script, mode).expect("a file can be made a program");
        script
    }

    pub async fn upstream(&self, name: &str) -> Upstream {
        Upstream::start(name, self.path(&format!("{name}.ledger"))).await
    }

    /// A gateway with these upstreams and the default settings.
    pub async fn gateway(&self, upstreams: &[&Upstream]) -> Gateway {
        self.gateway_with("", upstreams).await
    }

    /// A gateway that was connected to an upstream, which has just been killed.
    pub async fn gateway_in_outage(&self, name: &str) -> (Gateway, Upstream) {
        let mut upstream = self.upstream(name).await;
        let gateway = self.gateway(&[&upstream]).await;
        gateway.until_connected(name).await;
        upstream.kill().await;
        gateway.until_down(name).await;
        (gateway, upstream)
    }

    /// A gateway with these upstreams and `settings` under `[gateway]`.
    pub async fn gateway_with(&self, settings: &str, upstreams: &[&Upstream]) -> Gateway {
        self.configure(settings, upstreams);
        Gateway::start(&self.home()).await
    }

    /// A gateway with one upstream, `settings` under `[gateway]` and `upstream` in the upstream's
    /// entry.
    pub async fn gateway_to(
        &self,
        settings: &str,
        name: &str,
        url: &str,
        upstream: &str,
    ) -> Gateway {
        self.gateway_of(settings, &(entry::at(name, url) + upstream)).await
    }

    /// A gateway with `settings` under `[gateway]` and these upstream entries (see [`entry`]).
    pub async fn gateway_of(&self, settings: &str, upstreams: &str) -> Gateway {
        self.write(settings, upstreams);
        Gateway::start(&self.home()).await
    }

    /// Writes the configuration with these upstream entries.
    pub fn write(&self, settings: &str, upstreams: &str) {
        let text = format!("[gateway]\nlisten = \"127.0.0.1:0\"\n{settings}\n{upstreams}");
        write(&self.home().join("config.toml"), &text);
    }

    /// Waits until the gateway has written a data file.
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

/// The process ids of the gateways in this home, where the system tells.
pub fn gateways(home: &Path) -> Vec<u32> {
    let is_gateway = |pid: &u32| {
        // The command line of a process that has exited is empty.
        let line = std::fs::read(folder::process(*pid).join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        let mut words = line.split('\0');
        words.any(|word| word == "serve") && words.any(|word| Path::new(word) == home)
    };
    folder::all().into_iter().filter(is_gateway).collect()
}

fn write(path: &Path, text: &str) {
    let folder = path.parent().expect("a file lies in a folder");
    std::fs::create_dir_all(folder).expect("a folder can be made");
    std::fs::write(path, text).expect("a file can be written");
}
