//! Another port for the gateway, for when somebody else has its own. Editors know the address, so
//! they are told afterwards.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use evermoor_core::api::{Setup, SetupState};
use evermoor_core::config::edit::ConfigEdit;
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;

use crate::control::Control;

/// Ports that are tried, from the one after the usual one.
const TRIED: u16 = 50;

/// Writes the next free port into the configuration, and says which.
pub fn to_free_port(paths: &Paths) -> Result<u16, Failure> {
    let text = match std::fs::read_to_string(&paths.config) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(stays(&error.to_string())),
    };
    let mut edit = ConfigEdit::of(&text).map_err(|mistake| stays(&mistake.what))?;
    let listen = edit.before().gateway.listen;
    let next = free_after(listen, is_free).ok_or_else(|| stays("no free port was found nearby"))?;
    edit.set(&["gateway", "listen"], next.to_string()).map_err(|mistake| stays(&mistake.what))?;
    let (text, _) = edit.done().map_err(|mistake| stays(&mistake.what))?;
    private::write_private(&paths.config, text.as_bytes())
        .map_err(|error| stays(&error.to_string()))?;
    Ok(next.port())
}

/// Writes the gateway's address anew into every editor whose entry leads elsewhere, and names them.
pub async fn update_editors(control: &Control) -> Result<Vec<String>, Failure> {
    let setup: Setup = control.get("/api/setup").await?;
    let mut updated = Vec::new();
    for editor in setup.editors.iter().filter(|one| one.state == SetupState::Changed) {
        control.order(&format!("/api/setup/{}/connect", editor.id), None).await?;
        updated.push(editor.title.clone());
    }
    Ok(updated)
}

fn free_after(taken: SocketAddr, is_free: impl Fn(SocketAddr) -> bool) -> Option<SocketAddr> {
    let after = |by| taken.port().checked_add(by).map(|port| SocketAddr::new(taken.ip(), port));
    (1..=TRIED).filter_map(after).find(|&address| is_free(address))
}

fn is_free(address: SocketAddr) -> bool {
    // Somebody who listens on all addresses has this one too.
    let everywhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port()));
    [address, everywhere].into_iter().all(|address| TcpListener::bind(address).is_ok())
}

fn stays(why: &str) -> Failure {
    let what = format!("The port could not be changed: {}.", why.trim_end_matches('.'));
    Failure::new(Code::Configuration, what, "Set `listen` under [gateway] in config.toml.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_free_port_is_taken() {
        let taken: SocketAddr = "127.0.0.1:7420".parse().unwrap();
        let next = free_after(taken, |address| address.port() > 7422);
        assert_eq!(next, Some("127.0.0.1:7423".parse().unwrap()));
        assert_eq!(free_after(taken, |_| false), None);
        assert_eq!(free_after("127.0.0.1:65535".parse().unwrap(), |_| true), None);
    }
}
