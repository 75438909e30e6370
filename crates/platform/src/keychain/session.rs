//! Whether the keyring of a Linux desktop is open, found out without asking anybody.
//!
//! A locked keyring says that it has nothing, and whoever looks closer makes a dialog appear. So the
//! Secret Service itself is asked first.

use std::collections::HashMap;

use zbus::blocking::{Connection, Proxy};
use zbus::zvariant::OwnedObjectPath;

use super::{SERVICE, StoreError};

const BUS_NAME: &str = "org.freedesktop.secrets";

/// Fails if what we look for is, or may be, in a locked keyring.
pub(super) fn check_open(name: Option<&str>) -> Result<(), StoreError> {
    match is_open(name) {
        Ok(true) => Ok(()),
        Ok(false) => Err(StoreError::Locked),
        Err(error) => Err(StoreError::Missing(error.to_string())),
    }
}

fn is_open(name: Option<&str>) -> zbus::Result<bool> {
    let bus = Connection::session()?;
    let path = "/org/freedesktop/secrets";
    let service = Proxy::new(&bus, BUS_NAME, path, "org.freedesktop.Secret.Service")?;
    let mut wanted = HashMap::from([("service", SERVICE)]);
    wanted.extend(name.map(|name| ("username", name)));
    let (open, locked): (Vec<OwnedObjectPath>, Vec<OwnedObjectPath>) =
        service.call("SearchItems", &(wanted,))?;
    if !locked.is_empty() || !open.is_empty() {
        return Ok(locked.is_empty());
    }
    let usual: OwnedObjectPath = service.call("ReadAlias", &("default",))?;
    if usual.as_str() == "/" {
        return Ok(true);
    }
    let keyring = Proxy::new(&bus, BUS_NAME, usual, "org.freedesktop.Secret.Collection")?;
    keyring.get_property::<bool>("Locked").map(|locked| !locked)
}
