//! Checks whether the keyring of a Linux desktop is unlocked, without a prompt, and unlocks it with one.
//!
//! A locked keyring looks empty, and reading from it opens a dialog. So this asks the Secret Service
//! first.

use std::collections::HashMap;

use zbus::blocking::{Connection, Proxy};
use zbus::zvariant::{OwnedObjectPath, OwnedValue};

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

/// Unlocks the default keyring. The desktop asks for its password if it is locked.
pub(super) fn unlock() -> Result<(), KeychainError> {
    match ask_to_unlock() {
        Ok(true) => check_unlocked(None),
        Ok(false) => Err(KeychainError::Declined),
        // The desktop cannot ask: the keyring stays locked, or it cannot be reached at all.
        Err(error) => match is_unlocked(None) {
            Ok(true) => Ok(()),
            Ok(false) => Err(KeychainError::Locked),
            Err(_) => Err(KeychainError::Unavailable(error.to_string())),
        },
    }
}

/// Returns whether the user agreed, or nothing had to be asked.
fn ask_to_unlock() -> zbus::Result<bool> {
    let bus = Connection::session()?;
    let path = "/org/freedesktop/secrets";
    let service = Proxy::new(&bus, BUS_NAME, path, "org.freedesktop.Secret.Service")?;
    let default: OwnedObjectPath = service.call("ReadAlias", &("default",))?;
    if default.as_str() == "/" {
        return Ok(true);
    }
    let (_, prompt): (Vec<OwnedObjectPath>, OwnedObjectPath) =
        service.call("Unlock", &(vec![default],))?;
    if prompt.as_str() == "/" {
        return Ok(true);
    }
    let prompt = Proxy::new(&bus, BUS_NAME, prompt, "org.freedesktop.Secret.Prompt")?;
    // Subscribed before the dialog opens, so that its end is not missed.
    let mut completed = prompt.receive_signal("Completed")?;
    prompt.call::<_, _, ()>("Prompt", &("",))?;
    let answer = completed.next().ok_or(zbus::Error::InterfaceNotFound)?;
    let (dismissed, _): (bool, OwnedValue) = answer.body().deserialize()?;
    Ok(!dismissed)
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
