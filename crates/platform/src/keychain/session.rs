//! Checks whether the keyring of a Linux desktop is unlocked, without a prompt.
//!
//! A locked keyring looks empty, and reading from it opens a dialog. So this asks the Secret Service
//! first.

use std::collections::HashMap;

use zbus::blocking::{Connection, Proxy};
use zbus::zvariant::OwnedObjectPath;

use super::{KEYCHAIN_SERVICE, KeychainError};

const BUS_NAME: &str = "org.freedesktop.secrets";

/// Fails if the secret is, or may be, in a locked keyring.
pub(super) fn check_unlocked(name: Option<&str>) -> Result<(), KeychainError> {
    match is_unlocked(name) {
        Ok(true) => Ok(()),
        Ok(false) => Err(KeychainError::Locked),
        Err(error) => Err(KeychainError::Unavailable(error.to_string())),
    }
}

fn is_unlocked(name: Option<&str>) -> zbus::Result<bool> {
    let bus = Connection::session()?;
    let path = "/org/freedesktop/secrets";
    let service = Proxy::new(&bus, BUS_NAME, path, "org.freedesktop.Secret.Service")?;
    let mut wanted = HashMap::from([("service", KEYCHAIN_SERVICE)]);
    wanted.extend(name.map(|name| ("username", name)));
    let (unlocked, locked): (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) =
        service.call("SearchItems", &(wanted,))?;
    if !locked.is_empty() || !unlocked.is_empty() {
        return Ok(locked.is_empty());
    }
    let default: OwnedObjectPath = service.call("ReadAlias", &("default",))?;
    if default.as_str() == "/" {
        return Ok(true);
    }
    let keyring = Proxy::new(&bus, BUS_NAME, default, "org.freedesktop.Secret.Collection")?;
    keyring.get_property::<bool>("Locked").map(|locked| !locked)
}
