//! Where Evermoor keeps its files.
//!
//! The folders follow the conventions of each system. `--home` puts everything in one folder instead:
//! for tests, for servers, and to try a second Evermoor.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::process::child::program;
use crate::system::System;

/// The folders of one Evermoor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The configuration file.
    pub config: PathBuf,
    /// Keys, tokens and state, worth a backup.
    pub data: PathBuf,
    /// Logs.
    pub logs: PathBuf,
    /// Files that are valid only while the gateway runs.
    pub runtime: PathBuf,
}

/// The environment does not name a home folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no home folder found: set {variable} or use --home DIR")]
pub struct NoHome {
    variable: &'static str,
}

/// Expands a leading `~` to the home folder.
pub fn expand(text: &str) -> PathBuf {
    let home = std::env::var_os(match System::HERE {
        System::MacOs | System::Linux => "HOME",
        System::Windows => "USERPROFILE",
    });
    let home = home.filter(|home| !home.is_empty()).map(PathBuf::from);
    program::expand(System::HERE, text, home.as_deref()).into()
}

const APPLE_ID: &str = "dev.evermoor.app";

impl Paths {
    /// The folders of this user, or all of them in `home`.
    pub fn find(home: Option<PathBuf>) -> Result<Self, NoHome> {
        match home {
            Some(home) => Ok(Self::under(&home)),
            None => Self::on(System::HERE, |name| std::env::var_os(name)),
        }
    }

    fn under(home: &Path) -> Self {
        Self {
            config: home.join("config.toml"),
            data: home.join("data"),
            logs: home.join("logs"),
            runtime: home.join("run"),
        }
    }

    fn on(system: System, env: impl Fn(&str) -> Option<OsString>) -> Result<Self, NoHome> {
        let set =
            |name: &'static str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let need = |name: &'static str| set(name).ok_or(NoHome { variable: name });
        match system {
            System::MacOs => {
                let library = need("HOME")?.join("Library");
                let support = library.join("Application Support").join(APPLE_ID);
                Ok(Self {
                    config: support.join("config.toml"),
                    logs: library.join("Logs").join("Evermoor"),
                    runtime: support.join("run"),
                    data: support,
                })
            }
            System::Linux => {
                let xdg = |name: &'static str, default: &str| match set(name) {
                    Some(folder) if system.is_absolute(&folder) => Ok(folder.join("evermoor")),
                    Some(_) | None => Ok(need("HOME")?.join(default).join("evermoor")),
                };
                let logs = xdg("XDG_STATE_HOME", ".local/state")?;
                Ok(Self {
                    config: xdg("XDG_CONFIG_HOME", ".config")?.join("config.toml"),
                    data: xdg("XDG_DATA_HOME", ".local/share")?,
                    runtime: match set("XDG_RUNTIME_DIR") {
                        Some(folder) => folder.join("evermoor"),
                        None => logs.join("run"),
                    },
                    logs,
                })
            }
            System::Windows => {
                let local = need("LOCALAPPDATA")?.join("Evermoor");
                Ok(Self {
                    config: need("APPDATA")?.join("Evermoor").join("config.toml"),
                    data: local.join("Data"),
                    logs: local.join("Logs"),
                    runtime: local.join("Run"),
                })
            }
        }
    }

    /// The value of `--home`, if one was given.
    pub fn given_home(&self) -> Option<&Path> {
        self.config.parent().filter(|home| *self == Self::under(home))
    }

    /// Says how to reach the control API of the running gateway.
    pub fn runtime_file(&self) -> PathBuf {
        self.runtime.join("gateway.json")
    }

    /// Says why the gateway could not start.
    pub fn start_failure_file(&self) -> PathBuf {
        self.runtime.join("start-failure.json")
    }

    /// Exists while the user has stopped the gateway.
    pub fn stop_marker(&self) -> PathBuf {
        self.runtime.join("stopped")
    }

    /// Locked by the running gateway.
    pub fn lock_file(&self) -> PathBuf {
        self.runtime.join("gateway.lock")
    }

    /// The socket on which the running gateway accepts a takeover.
    pub fn handover_file(&self) -> PathBuf {
        self.runtime.join("handover.sock")
    }

    /// The socket on which the tray passes the address to a gateway that starts.
    pub fn listener_holder_file(&self) -> PathBuf {
        self.runtime.join("listener.sock")
    }

    /// The process id of the tray that waits there.
    pub fn listener_holder_pid_file(&self) -> PathBuf {
        self.runtime.join("listener.pid")
    }

    /// The socket on which the running gateway accepts stdio shims.
    pub fn shim_socket(&self) -> PathBuf {
        self.runtime.join("shim.sock")
    }

    /// The editors' tokens.
    pub fn token_file(&self) -> PathBuf {
        self.data.join("tokens.json")
    }

    /// The token of the control API.
    pub fn control_token_file(&self) -> PathBuf {
        self.data.join("control.token")
    }

    /// The key that signs session ids.
    pub fn session_key_file(&self) -> PathBuf {
        self.data.join("session.key")
    }

    /// The subscriptions of editors' sessions.
    pub fn sessions_file(&self) -> PathBuf {
        self.data.join("sessions.json")
    }

    /// The last known catalog of each upstream.
    pub fn catalog_folder(&self) -> PathBuf {
        self.data.join("catalogs")
    }

    /// The upstreams that the user paused.
    pub fn paused_file(&self) -> PathBuf {
        self.data.join("paused.json")
    }

    /// When each editor was last seen.
    pub fn last_seen_file(&self) -> PathBuf {
        self.data.join("last-seen.json")
    }

    /// The automatic restarts of applications.
    pub fn restarts_file(&self) -> PathBuf {
        self.data.join("restarts.json")
    }

    /// The programs that the user knows about.
    pub fn programs_file(&self) -> PathBuf {
        self.data.join("programs.json")
    }

    /// The states of the upstreams over the last day.
    pub fn timelines_file(&self) -> PathBuf {
        self.data.join("timelines.json")
    }

    /// Exists once the user has seen the welcome page.
    pub fn welcome_file(&self) -> PathBuf {
        self.data.join("welcomed")
    }

    /// Incidents, and samples of the resources that applications use.
    pub fn history_file(&self) -> PathBuf {
        self.data.join("history.sqlite")
    }

    /// Exists once the user has been told that the desktop has no tray.
    pub fn no_tray_file(&self) -> PathBuf {
        self.data.join("no-tray-told")
    }

    /// The tray's log.
    pub fn tray_log_file(&self) -> PathBuf {
        self.logs.join("tray.log")
    }

    /// The gateway's log.
    pub fn log_file(&self) -> PathBuf {
        self.logs.join("gateway.log")
    }

    /// What a background gateway prints, such as a panic.
    pub fn output_file(&self) -> PathBuf {
        self.logs.join("gateway.out")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(system: System, env: &[(&str, &str)]) -> Result<Paths, NoHome> {
        Paths::on(system, |name| {
            env.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        })
    }

    fn parts(path: &Path) -> String {
        path.to_string_lossy().replace('\\', "/")
    }

    #[test]
    fn macos_uses_the_library_folder() {
        let paths = on(System::MacOs, &[("HOME", "/Users/a")]).unwrap();
        assert_eq!(
            parts(&paths.config),
            "/Users/a/Library/Application Support/dev.evermoor.app/config.toml"
        );
        assert_eq!(parts(&paths.logs), "/Users/a/Library/Logs/Evermoor");
    }

    #[test]
    fn linux_follows_the_xdg_folders_and_ignores_relative_ones() {
        let paths = on(
            System::Linux,
            &[("HOME", "/home/a"), ("XDG_CONFIG_HOME", "cfg"), ("XDG_RUNTIME_DIR", "/run/a")],
        );
        let paths = paths.unwrap();
        assert_eq!(parts(&paths.config), "/home/a/.config/evermoor/config.toml");
        assert_eq!(parts(&paths.runtime), "/run/a/evermoor");
        let moved = [("HOME", "/home/a"), ("XDG_CONFIG_HOME", "/cfg")];
        let moved = on(System::Linux, &moved).unwrap();
        assert_eq!(parts(&moved.config), "/cfg/evermoor/config.toml");
        let bare = on(System::Linux, &[("HOME", "/home/a")]).unwrap();
        assert_eq!(parts(&bare.runtime), "/home/a/.local/state/evermoor/run");
    }

    #[test]
    fn windows_roams_only_the_configuration() {
        let paths = on(System::Windows, &[("APPDATA", "C:/R"), ("LOCALAPPDATA", "C:/L")]).unwrap();
        assert_eq!(parts(&paths.config), "C:/R/Evermoor/config.toml");
        assert_eq!(parts(&paths.data), "C:/L/Evermoor/Data");
    }

    #[test]
    fn without_a_home_folder_the_error_says_what_to_set() {
        let error = on(System::Linux, &[]).unwrap_err();
        assert_eq!(error.to_string(), "no home folder found: set HOME or use --home DIR");
    }

    #[test]
    fn a_given_home_contains_everything() {
        let paths = Paths::find(Some(PathBuf::from("/tmp/e"))).unwrap();
        assert_eq!(parts(&paths.config), "/tmp/e/config.toml");
        assert!(
            [&paths.data, &paths.logs, &paths.runtime]
                .iter()
                .all(|path| path.starts_with("/tmp/e"))
        );
    }
}
