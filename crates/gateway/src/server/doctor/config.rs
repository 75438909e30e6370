//! Checks the configuration and its port.

use std::io;
use std::net::{SocketAddr, TcpListener};

use evermoor_core::api::Check;
use evermoor_core::config::Config;
use evermoor_platform::fs::lock::InstanceLock;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::port;
use evermoor_platform::process::port::PortOwner;

use super::{blocking, configured};
use crate::config::file;

pub(super) fn config(paths: &Paths) -> Check {
    let (id, title) = ("config", "Configuration");
    match file::read(&paths.config) {
        Ok(None) => Check::good(id, title, "There is no config.toml, so the demo server runs."),
        Ok(Some(config)) => match config.warnings.first() {
            Some(doubt) => {
                let line = doubt.line.map(|line| format!("Line {line}: ")).unwrap_or_default();
                Check::bad(id, title, format!("{line}{}", doubt.what), doubt.remedy.clone())
            }
            None => Check::good(id, title, described(&config)),
        },
        Err(failure) => Check::bad(id, title, failure.what, failure.remedy),
    }
}

fn described(config: &Config) -> String {
    let upstreams = match config.upstreams.len() {
        1 => "1 server".to_owned(),
        many => format!("{many} servers"),
    };
    match config.off.len() {
        0 => format!("config.toml is valid: {upstreams}."),
        off => format!("config.toml is valid: {upstreams}, {off} turned off."),
    }
}

/// Whether the configured port is free, and which process has it. The system does not name a process of
/// another user.
pub(super) async fn port(paths: &Paths) -> Option<Check> {
    let address = blocking(paths, |paths| configured(paths).gateway.listen).await?;
    let (id, title, number) = ("port", "Port", address.port());
    if number == 0 {
        let detail = "config.toml lets the gateway use any free port.";
        return Some(Check::good(id, title, detail));
    }
    let runs = |paths: &Paths| matches!(InstanceLock::take(&paths.lock_file()), Ok(None));
    let runs = blocking(paths, runs).await?;
    let owner = port::owner(number).await;
    let user = match owner {
        Some(PortOwner { pid, name: Some(name) }) => format!("{name} (process {pid})"),
        Some(PortOwner { pid, name: None }) => format!("another program (process {pid})"),
        None => "another program".to_owned(),
    };
    Some(if runs {
        Check::good(id, title, format!("The gateway has port {number}."))
    } else if is_taken(address) {
        let detail = format!("Port {number} is used by {user}.");
        let remedy = "End that program, or set another `listen` under [gateway] in config.toml.";
        Check::bad(id, title, detail, remedy)
    } else {
        Check::good(id, title, format!("Port {number} is free."))
    })
}

fn is_taken(address: SocketAddr) -> bool {
    let bound = TcpListener::bind(address);
    bound.is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(text: &str) -> (tempfile::TempDir, Paths) {
        let folder = tempfile::tempdir().unwrap();
        let paths = Paths::find(Some(folder.path().to_owned())).unwrap();
        std::fs::write(&paths.config, text).unwrap();
        (folder, paths)
    }

    #[test]
    fn a_configuration_or_its_mistake_is_described() {
        let (_folder, good) = setup("[upstreams.a]\nurl = \"http://127.0.0.1:1/mcp\"\n");
        assert_eq!(config(&good).detail, "config.toml is valid: 1 server.");
        let (_folder, bad) = setup("[gateway]\nhold = \"soon\"\n");
        let found = config(&bad);
        assert!(found.is_bad() && found.detail.contains("line 2"), "{found:?}");
        let (_folder, odd) = setup("[editors.a]\nupstreams.allow = [\"nobody\"]\n");
        assert!(config(&odd).detail.starts_with("Line 2: "));
    }

    #[tokio::test]
    async fn a_port_that_another_program_uses_is_reported() {
        let squatter = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = squatter.local_addr().unwrap();
        let (_folder, paths) = setup(&format!("[gateway]\nlisten = \"{address}\"\n"));
        let found = port(&paths).await.unwrap();
        assert!(found.is_bad(), "{found:?}");
        drop(squatter);
        assert!(!port(&paths).await.unwrap().is_bad());
    }
}
