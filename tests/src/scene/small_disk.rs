//! A gateway whose data is on a disk so small that a test can fill it.
//!
//! The disk is in memory, and only the gateway sees it. Some machines do not allow such mounts.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::gateway::Gateway;
use crate::scene::programs::{Process, built, command, person};

/// The data folder of a gateway, seen from outside.
pub struct SmallDisk {
    folder: PathBuf,
}

/// Arguments of `unshare` for a private mount namespace.
const UNSHARE: [&str; 3] = ["--user", "--map-root-user", "--mount"];

impl SmallDisk {
    /// Starts a gateway in `home` with this many KiB for its data; `None` if the machine does not
    /// allow it.
    pub async fn start(home: &Path, kib: u32) -> Option<(Gateway, Self)> {
        let mount = format!("mount -t tmpfs -o size={kib}k,mode=700 tmpfs \"$0\"");
        let data = home.join("data");
        std::fs::create_dir_all(&data).expect("a folder can be made");
        let mut attempt = command("unshare");
        attempt.args(UNSHARE).args(["sh", "-c", &mount]).arg(&data).stderr(Stdio::inherit());
        if !attempt.status().await.is_ok_and(|status| status.success()) {
            return None;
        }
        let process = Process::start(Path::new("unshare"), |command| {
            let script = format!("{mount} && exec \"$1\" serve --home \"$2\"");
            command.args(UNSHARE).args(["sh", "-c", &script]).arg(&data);
            command.arg(built("evermoor")).arg(home).env("HOME", person(home));
        });
        // The path into the mount namespace of that process.
        let seen = PathBuf::from(format!("/proc/{}/root{}", process.pid(), home.display()));
        let folder = seen.join("data");
        let mut gateway = Gateway::started(process, home).await;
        gateway.home = seen;
        Some((gateway, Self { folder }))
    }

    /// Fills the disk completely.
    pub fn fill(&self) {
        let mut file = File::create(self.filling()).expect("the disk can be seen");
        let page = [b'x'; 512];
        while file.write_all(&page).is_ok() {}
    }

    pub fn empty(&self) {
        std::fs::remove_file(self.filling()).expect("it was filled");
    }

    fn filling(&self) -> PathBuf {
        self.folder.join("filling")
    }
}
