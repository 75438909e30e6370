//! Moves the gateway to another port when a different program uses its own. Editors have the
//! address in their configuration, so their entries are updated afterwards.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use evermoor_core::api::{Setup, SetupState};
use evermoor_core::config::MAX_FILE_SIZE;
use evermoor_core::config::edit::ConfigEdit;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::{foreign, private};
use evermoor_platform::paths::Paths;

use crate::control::ControlClient;

/// How many ports to try, starting after the configured one.
const PORTS_TO_TRY: u16 = 50;

/// Writes the next free port to the configuration and returns it.
pub fn to_free_port(paths: &Paths) -> Result<u16, Failure> {
    let text = match foreign::read_text(&paths.config, MAX_FILE_SIZE) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(port_unchanged(&error.to_string())),
    };
    let mut edit = ConfigEdit::of(&text).map_err(|mistake| port_unchanged(&mistake.what))?;
    let listen = edit.before().gateway.listen;
    let next = next_free(listen, is_free)
        .ok_or_else(|| port_unchanged("no free port was found nearby"))?;
    edit.set(&["gateway", "listen"], next.to_string())
        .map_err(|mistake| port_unchanged(&mistake.what))?;
    let (text, _) = edit.done().map_err(|mistake| port_unchanged(&mistake.what))?;
    private::write_private(&paths.config, text.as_bytes())
        .map_err(|error| port_unchanged(&error.to_string()))?;
    Ok(next.port())
}

/// Rewrites the entry of every editor that points elsewhere. Returns the editors' titles.
pub async fn update_editors(control: &ControlClient) -> Result<Vec<String>, Failure> {
    let setup: Setup = control.get("/api/setup").await?;
    let mut updated = Vec::new();
    for editor in setup.editors.iter().filter(|one| one.state == SetupState::Changed) {
        control.post(&format!("/api/setup/{}/connect", editor.id), None).await?;
        updated.push(editor.title.clone());
    }
    Ok(updated)
}

fn next_free(taken: SocketAddr, is_free: impl Fn(SocketAddr) -> bool) -> Option<SocketAddr> {
    let after = |by| taken.port().checked_add(by).map(|port| SocketAddr::new(taken.ip(), port));
    (1..=PORTS_TO_TRY).filter_map(after).find(|&address| is_free(address))
}

fn is_free(address: SocketAddr) -> bool {
    // A program that listens on all addresses blocks this one too.
    let everywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()));
    [address, everywhere].into_iter().all(|address| TcpListener::bind(address).is_ok())
}

fn port_unchanged(why: &str) -> Failure {
    let what = format!("The port could not be changed: {}.", why.trim_end_matches('.'));
    Failure::new(Code::Configuration, what, "Set `listen` under [gateway] in config.toml.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_free_port_is_taken() {
        let taken: SocketAddr = "127.0.0.1:7420".parse().unwrap();
        let next = next_free(taken, |address| address.port() > 7422);
        assert_eq!(next, Some("127.0.0.1:7423".parse().unwrap()));
        assert_eq!(next_free(taken, |_| false), None);
        assert_eq!(next_free("127.0.0.1:65535".parse().unwrap(), |_| true), None);
    }
}
