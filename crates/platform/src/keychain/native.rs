//! The keychain of this system as a [`SecretStore`].

use std::collections::HashMap;
use std::sync::Arc;

use keyring_core::api::CredentialStoreApi;
use keyring_core::{Entry, Error};

#[cfg(target_os = "macos")]
use apple_native_keyring_store::keychain::Store as System;
#[cfg(windows)]
use windows_native_keyring_store::Store as System;
#[cfg(target_os = "linux")]
use zbus_secret_service_keyring_store::Store as System;

use super::{KEYCHAIN_SERVICE, KeychainError, Prompting, SecretStore};

/// The open keychain.
struct Native {
    system: Arc<System>,
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "other systems decide themselves whether to prompt")
    )]
    manner: Prompting,
}

pub(super) fn open(manner: Prompting) -> Result<Box<dyn SecretStore>, KeychainError> {
    let system = System::new().map_err(|error| KeychainError::Unavailable(innermost(&error)))?;
    Ok(Box::new(Native { system, manner }))
}

impl Native {
    fn entry(&self, name: &str) -> Result<Entry, KeychainError> {
        // The label in the password manager of a Linux desktop.
        #[cfg(target_os = "linux")]
        let label = format!("Evermoor: {name}");
        #[cfg(target_os = "linux")]
        let modifiers = HashMap::from([("label", label.as_str())]);
        #[cfg(target_os = "linux")]
        let modifiers = Some(&modifiers);
        #[cfg(not(target_os = "linux"))]
        let modifiers = None;
        self.system.build(KEYCHAIN_SERVICE, name, modifiers).map_err(refused)
    }

    /// Fails if the keyring is locked, on systems where a locked keyring looks empty or shows a prompt.
    fn check_unlocked(&self, name: Option<&str>) -> Result<(), KeychainError> {
        #[cfg(target_os = "linux")]
        if self.manner == Prompting::Never {
            return super::session::check_unlocked(name);
        }
        let _ = name;
        Ok(())
    }
}

impl SecretStore for Native {
    fn get(&self, name: &str) -> Result<Option<String>, KeychainError> {
        self.check_unlocked(Some(name))?;
        match self.entry(name)?.get_password() {
            Ok(value) => Ok(Some(value)),
            Err(Error::NoEntry) => {
                #[cfg(target_os = "linux")]
                super::session::check_unlocked(Some(name))?;
                Ok(None)
            }
            Err(error) => Err(refused(error)),
        }
    }

    fn set(&self, name: &str, value: &str) -> Result<(), KeychainError> {
        self.check_unlocked(Some(name))?;
        self.entry(name)?.set_password(value).map_err(refused)
    }

    fn delete(&self, name: &str) -> Result<bool, KeychainError> {
        self.check_unlocked(Some(name))?;
        match self.entry(name)?.delete_credential() {
            Ok(()) => Ok(true),
            Err(Error::NoEntry) => {
                #[cfg(target_os = "linux")]
                super::session::check_unlocked(Some(name))?;
                Ok(false)
            }
            Err(error) => Err(refused(error)),
        }
    }

    fn list(&self) -> Result<Vec<String>, KeychainError> {
        self.check_unlocked(None)?;
        #[cfg(windows)]
        let wanted = HashMap::from([("pattern", KEYCHAIN_SERVICE)]);
        #[cfg(not(windows))]
        let wanted = HashMap::from([("service", KEYCHAIN_SERVICE)]);
        let found = self.system.search(&wanted).map_err(refused)?;
        #[cfg(target_os = "linux")]
        if found.is_empty() {
            super::session::check_unlocked(None)?;
        }
        let specifiers = found.iter().filter_map(Entry::get_specifiers);
        Ok(specifiers
            .filter(|(service, _)| service == KEYCHAIN_SERVICE)
            .map(|(_, name)| name)
            .collect())
    }
}

fn refused(error: Error) -> KeychainError {
    match &error {
        Error::NoStorageAccess(_) => KeychainError::Locked,
        Error::TooLong(_, most) => KeychainError::TooLong(*most),
        Error::Ambiguous(found) => {
            KeychainError::Refused(format!("it has {} secrets with this name", found.len()))
        }
        // The error must not contain the secret.
        Error::BadEncoding(_) | Error::BadDataFormat(..) => {
            KeychainError::Refused("the secret with this name is not text".into())
        }
        Error::PlatformFailure(_)
        | Error::NoEntry
        | Error::BadStoreFormat(_)
        | Error::Invalid(..)
        | Error::NoDefaultStore
        | Error::NotSupportedByStore(_) => KeychainError::Refused(innermost(&error)),
        // The library's error type is non-exhaustive.
        _ => KeychainError::Refused(innermost(&error)),
    }
}

/// The root cause, which says the most.
fn innermost(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string().trim_end_matches('.').to_owned()
}
