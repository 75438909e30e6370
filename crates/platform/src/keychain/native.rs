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

#[cfg(target_os = "macos")]
use super::quiet::Turn;
use super::{KEYCHAIN_SERVICE, KeychainError, Prompting, SecretStore};

/// The open keychain.
struct Native {
    system: Arc<System>,
    #[cfg_attr(windows, expect(dead_code, reason = "the Credential Manager never prompts"))]
    manner: Prompting,
}

/// Lasts as long as one request to the keychain. Only macOS has something to keep for that time.
#[cfg(not(target_os = "macos"))]
struct Turn;

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

    /// Makes sure that a request without a prompt shows none. Fails on a Linux desktop if the keyring is
    /// locked, because it would look empty or prompt. The result lasts as long as the request.
    #[cfg(target_os = "linux")]
    fn begin(&self, name: Option<&str>) -> Result<Turn, KeychainError> {
        match self.manner {
            Prompting::Never => super::session::check_unlocked(name).map(|()| Turn),
            Prompting::Allowed => Ok(Turn),
        }
    }

    #[cfg(target_os = "macos")]
    fn begin(&self, _: Option<&str>) -> Result<Turn, KeychainError> {
        Ok(super::quiet::turn(self.manner))
    }

    #[cfg(windows)]
    fn begin(&self, _: Option<&str>) -> Result<Turn, KeychainError> {
        Ok(Turn)
    }
}

impl SecretStore for Native {
    fn get(&self, name: &str) -> Result<Option<String>, KeychainError> {
        let _request = self.begin(Some(name))?;
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
        let _request = self.begin(Some(name))?;
        self.entry(name)?.set_password(value).map_err(refused)
    }

    fn delete(&self, name: &str) -> Result<bool, KeychainError> {
        let _request = self.begin(Some(name))?;
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

    #[cfg(target_os = "linux")]
    fn unlock(&self) -> Result<(), KeychainError> {
        match self.manner {
            Prompting::Never => Ok(()),
            Prompting::Allowed => super::session::unlock(),
        }
    }

    #[cfg(target_os = "macos")]
    fn unlock(&self) -> Result<(), KeychainError> {
        let _request = self.begin(None)?;
        super::quiet::unlock()
    }

    fn list(&self) -> Result<Vec<String>, KeychainError> {
        let _request = self.begin(None)?;
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
    refused_with(status(&error), &error)
}

/// What a failed request means. A status of the system says more than the library.
fn refused_with(status: Option<i32>, error: &Error) -> KeychainError {
    if let Some(meant) = status.and_then(super::os_status::meaning) {
        return meant;
    }
    match error {
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
        | Error::NotSupportedByStore(_) => KeychainError::Refused(innermost(error)),
        // The library's error type is non-exhaustive.
        _ => KeychainError::Refused(innermost(error)),
    }
}

/// The status code of macOS in an error of the library.
#[cfg(target_os = "macos")]
fn status(error: &Error) -> Option<i32> {
    let (Error::PlatformFailure(cause) | Error::NoStorageAccess(cause)) = error else {
        return None;
    };
    cause.downcast_ref::<security_framework::base::Error>().map(|cause| cause.code())
}

#[cfg(not(target_os = "macos"))]
fn status(_: &Error) -> Option<i32> {
    None
}

/// The root cause, which says the most.
fn innermost(error: &Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string().trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The library's error for a status of macOS, as `apple-native-keyring-store` makes it.
    fn of_macos(status: i32) -> KeychainError {
        let cause = std::io::Error::other("the words of the system").into();
        let error = match status {
            -61 | -25244 | -25291 | -25292 | -25294 | -25295 => Error::NoStorageAccess(cause),
            -25300 => Error::NoEntry,
            _ => Error::PlatformFailure(cause),
        };
        refused_with(Some(status), &error)
    }

    #[test]
    fn a_status_of_macos_decides_what_a_failed_request_means() {
        for (statuses, meaning) in [
            (&[-25308, -25315][..], KeychainError::NeedsUser),
            (&[-128, -25293], KeychainError::Declined),
            (&[-61, -25244, -25292], KeychainError::Locked),
            (&[-50, -34018], KeychainError::Refused("the words of the system".into())),
        ] {
            for status in statuses {
                assert_eq!(of_macos(*status), meaning, "{status}");
            }
        }
        for status in [-25291, -25294, -25295, -25307] {
            assert!(matches!(of_macos(status), KeychainError::Unavailable(_)), "{status}");
        }
    }
}
