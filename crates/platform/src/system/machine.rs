//! Describes the machine for reports, and its user, so that reports can leave the user's names out.

use std::env;
use std::process::Stdio;
use std::time::Duration;

use crate::system::System;

/// The user of this machine, if the environment names one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalUser {
    /// The home folder.
    pub home: Option<String>,
    /// The login name.
    pub user: Option<String>,
    /// The host name.
    pub machine: Option<String>,
}

impl LocalUser {
    pub fn here() -> Self {
        let set = |names: [&str; 2]| {
            let value = names.into_iter().find_map(|name| env::var(name).ok());
            value.filter(|value| !value.is_empty())
        };
        Self {
            home: set(["HOME", "USERPROFILE"]),
            user: set(["USER", "USERNAME"]),
            machine: name().or_else(|| set(["HOSTNAME", "COMPUTERNAME"])),
        }
    }
}

/// The operating system with its version, and the processor architecture.
pub async fn describe_system() -> String {
    let version = match System::HERE {
        System::Linux => std::fs::read_to_string("/etc/os-release").ok().and_then(read_os_release),
        System::MacOs => run("sw_vers", &["-productVersion"]).await,
        System::Windows => run("cmd", &["/C", "ver"]).await,
    };
    describe(System::HERE, version.as_deref(), env::consts::ARCH)
}

fn describe(system: System, version: Option<&str>, processor: &str) -> String {
    let version = version.map(str::trim).filter(|version| !version.is_empty());
    let (name, version) = match (system, version) {
        (System::Linux, Some(version)) => ("Linux", format!(" ({version})")),
        (System::MacOs, Some(version)) => ("macOS", format!(" {version}")),
        (System::Windows, Some(version)) => ("Windows", format!(" ({version})")),
        (System::Linux, None) => ("Linux", String::new()),
        (System::MacOs, None) => ("macOS", String::new()),
        (System::Windows, None) => ("Windows", String::new()),
    };
    format!("{name}{version}, {processor}")
}

/// The display name of the distribution in `/etc/os-release`.
fn read_os_release(text: String) -> Option<String> {
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches(['"', '\'']).to_owned())
}

async fn run(program: &str, args: &[&str]) -> Option<String> {
    let output = crate::process::spawn::command(program)
        .args(args)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(Duration::from_secs(3), output).await.ok()?.ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(unix)]
fn name() -> Option<String> {
    let system = rustix::system::uname();
    let name = system.nodename().to_string_lossy();
    // The part after the first dot is the domain.
    Some(name.split('.').next().unwrap_or_default().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(not(unix))]
fn name() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_includes_the_version_if_it_is_known() {
        let described = [
            describe(System::Linux, Some("Debian GNU/Linux 12 (bookworm)"), "x86_64"),
            describe(System::MacOs, Some("26.1\n"), "aarch64"),
            describe(System::Windows, Some("\r\nMicrosoft Windows [Version 10.0]\r\n"), "x86_64"),
            describe(System::MacOs, Some(" "), "aarch64"),
        ];
        assert_eq!(
            described,
            [
                "Linux (Debian GNU/Linux 12 (bookworm)), x86_64",
                "macOS 26.1, aarch64",
                "Windows (Microsoft Windows [Version 10.0]), x86_64",
                "macOS, aarch64",
            ]
        );
    }

    #[test]
    fn the_name_of_a_distribution_is_read_with_any_quotes() {
        let read = |text: &str| read_os_release(text.to_owned());
        assert_eq!(read("ID=x\nPRETTY_NAME=\"X 1\"\n").as_deref(), Some("X 1"));
        assert_eq!(read("PRETTY_NAME='X'\n").as_deref(), Some("X"));
        assert_eq!(read("ID=x\n"), None);
    }

    #[tokio::test]
    async fn this_machine_can_be_described() {
        assert!(describe_system().await.ends_with(env::consts::ARCH));
    }
}
