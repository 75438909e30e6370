//! Looks up the secrets that upstreams refer to.
//!
//! `upstream/transport/connector` decides when: only when it makes a connection. Each upstream
//! looks its secrets up in its own task, so none waits for another. A secret is registered for
//! redaction before it is used ([`crate::system::redaction`]).

use std::collections::BTreeMap;
use std::path::Path;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::security::redaction::known::Secret;
use evermoor_core::security::secret_ref::SecretRef;
use evermoor_platform::fs::{foreign, private};
use evermoor_platform::keychain::{KEYCHAIN_TIMEOUT, Keychain, KeychainError, Prompting};
use evermoor_platform::paths;
use evermoor_platform::process::protect;

use crate::system::redaction;

/// Looks secrets up in the keychain, the environment and files.
#[derive(Clone)]
pub struct Secrets {
    keychain: Keychain,
}

/// The secrets of one connection.
#[derive(Debug, Default)]
pub struct FoundSecrets(BTreeMap<SecretRef, Secret>);

/// A larger file is not a secret.
const MAX_FILE_SIZE: u64 = 64 << 10;

impl Secrets {
    pub fn system_default() -> Self {
        Self { keychain: Keychain::system_default(Prompting::Never) }
    }

    /// The keychain that secrets are looked up in.
    pub(crate) fn keychain(&self) -> Keychain {
        self.keychain.clone()
    }

    /// Uses another keychain.
    pub fn of(keychain: Keychain) -> Self {
        Self { keychain }
    }

    /// Looks up all of these, or fails with the first that is missing.
    pub async fn find(&self, needed: &[SecretRef]) -> Result<FoundSecrets, Failure> {
        let mut found = FoundSecrets::default();
        for reference in needed {
            let secret = Secret::new(self.look_up(reference).await?);
            redaction::hide(&secret);
            found.0.insert(reference.clone(), secret);
        }
        Ok(found)
    }

    async fn look_up(&self, reference: &SecretRef) -> Result<String, Failure> {
        match reference {
            SecretRef::Keyring(name) => match self.keychain.get(name).await {
                Ok(Some(value)) => Ok(value),
                Ok(None) => Err(not_set(name)),
                Err(error) => Err(keychain_failure(&error, Some(name))),
            },
            SecretRef::Env(name) => protect::variable(name).ok_or_else(|| {
                let what = format!("The environment variable `{name}` is not set for the gateway.");
                let remedy = "Set it and restart Evermoor, or keep the secret in the keychain.";
                Failure::new(Code::SecretMissing, what, remedy)
            }),
            SecretRef::File(path) => {
                let path = paths::expand(path);
                let reading = tokio::task::spawn_blocking(move || read(&path)).await;
                reading.unwrap_or_else(|_| {
                    let what = "A secret file could not be read.";
                    Err(Failure::new(Code::Internal, what, "Evermoor retries automatically."))
                })
            }
        }
    }
}

impl FoundSecrets {
    /// The value of a reference.
    pub fn value(&self, reference: &SecretRef) -> Result<String, Failure> {
        let found = self.0.get(reference).map(|secret| secret.reveal().to_owned());
        found.ok_or_else(|| {
            let what = format!("`{reference}` was not looked up.");
            Failure::new(Code::Internal, what, "Evermoor retries automatically.")
        })
    }
}

/// Whether a failure is about a secret rather than about the upstream.
pub(crate) fn is_about_secrets(code: Code) -> bool {
    matches!(
        code,
        Code::KeychainLocked | Code::KeychainRefused | Code::KeychainMissing | Code::SecretMissing
    )
}

fn not_set(name: &str) -> Failure {
    let what = format!("The secret `{name}` is not in the keychain.");
    Failure::new(Code::SecretMissing, what, format!("Run `evermoor secret set {name}`."))
}

/// Why the keychain cannot be used; `name` is the secret that is needed.
pub fn keychain_failure(error: &KeychainError, name: Option<&str>) -> Failure {
    let needed =
        name.map(|name| format!(", and the secret `{name}` is needed")).unwrap_or_default();
    match error {
        KeychainError::Locked => Failure::new(
            Code::KeychainLocked,
            format!("The keychain is locked{needed}."),
            "Run `evermoor secret unlock`, or unlock it in your password manager; Evermoor retries automatically.",
        ),
        KeychainError::NeedsUser => Failure::new(
            Code::KeychainRefused,
            format!("The keychain is locked or wants to ask you first{needed}."),
            "Run `evermoor secret unlock` and allow the access.",
        ),
        KeychainError::Declined => Failure::new(
            Code::KeychainRefused,
            format!("Access to the keychain was declined{needed}."),
            "Run `evermoor secret unlock` and allow the access.",
        ),
        KeychainError::Unavailable(why) => Failure::new(
            Code::KeychainMissing,
            format!("This session has no keychain{needed} ({why})."),
            "Start Evermoor in a desktop session, or use `${file:PATH}` or `${env:NAME}` on a computer without one.",
        ),
        KeychainError::NoReply => Failure::new(
            Code::KeychainMissing,
            format!("The keychain did not answer within {} s{needed}.", KEYCHAIN_TIMEOUT.as_secs()),
            "Check whether it is waiting for your input; Evermoor retries automatically.",
        ),
        KeychainError::Refused(why) => Failure::new(
            Code::KeychainRefused,
            format!("The keychain refused access{needed} ({why})."),
            "Allow Evermoor to use it in your password manager.",
        ),
        KeychainError::TooLong(most) => Failure::new(
            Code::Refused,
            format!("A secret in this system's keychain can have at most {most} bytes."),
            "Keep it in a file that only you can read, and refer to it with `${file:PATH}`.",
        ),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let unreadable = |why: String| {
        let what = format!("Cannot read the secret file {}: {why}.", path.display());
        Failure::new(Code::SecretMissing, what, "Correct the path or create the file.")
    };
    let content = foreign::read_text(path, MAX_FILE_SIZE);
    let content = content.map_err(|error| unreadable(error.to_string()))?;
    if private::is_open_to_others(path) {
        tracing::warn!(file = %path.display(), "others can read a secret file; run `chmod 600` on it");
    }
    match content.trim_end_matches(['\r', '\n']) {
        "" => Err(unreadable("it is empty".into())),
        secret => Ok(secret.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_platform::keychain::SecretStore;

    /// A keychain with one secret.
    struct One;

    impl SecretStore for One {
        fn get(&self, name: &str) -> Result<Option<String>, KeychainError> {
            Ok((name == "known").then(|| "value-of-known".to_owned()))
        }
        fn set(&self, _: &str, _: &str) -> Result<(), KeychainError> {
            Err(KeychainError::Locked)
        }
        fn delete(&self, _: &str) -> Result<bool, KeychainError> {
            Err(KeychainError::Locked)
        }
        fn list(&self) -> Result<Vec<String>, KeychainError> {
            Ok(vec!["known".into()])
        }
    }

    fn secrets() -> Secrets {
        Secrets::of(Keychain::with_store(|| Ok(Box::new(One)), KEYCHAIN_TIMEOUT))
    }

    #[tokio::test]
    async fn a_secret_is_redacted_before_it_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "value-of-file\n").unwrap();
        let needed =
            [SecretRef::Keyring("known".into()), SecretRef::File(path.display().to_string())];
        let found = secrets().find(&needed).await.unwrap();
        assert_eq!(found.value(&needed[0]).unwrap(), "value-of-known");
        assert_eq!(found.value(&needed[1]).unwrap(), "value-of-file");
        assert_eq!(redaction::scrub("value-of-known value-of-file"), "[secret] [secret]");
        assert!(!format!("{found:?}").contains("value-of"));
    }

    #[tokio::test]
    async fn a_missing_secret_is_named_with_what_to_do() {
        for (needed, code, says) in [
            (SecretRef::Keyring("other".into()), Code::SecretMissing, "secret set other"),
            (SecretRef::Env("EVERMOOR_NO_SUCH".into()), Code::SecretMissing, "EVERMOOR_NO_SUCH"),
            (SecretRef::File("/no/such/file".into()), Code::SecretMissing, "/no/such/file"),
        ] {
            let failure = secrets().find(&[needed]).await.unwrap_err();
            assert_eq!(failure.code, code);
            assert!(failure.to_string().contains(says), "{failure}");
        }
        let locked = Keychain::with_store(|| Err(KeychainError::Locked), KEYCHAIN_TIMEOUT);
        let needed = [SecretRef::Keyring("known".into())];
        let failure = Secrets::of(locked).find(&needed).await.unwrap_err();
        assert_eq!(failure.code, Code::KeychainLocked);
        assert!(failure.what.contains("locked") && failure.what.contains("known"), "{failure}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_secret_file_that_is_no_regular_file_is_refused() {
        let needed = [SecretRef::File("/dev/zero".into())];
        let failure = secrets().find(&needed).await.unwrap_err();
        assert_eq!(failure.code, Code::SecretMissing);
        assert!(failure.what.contains("not a regular file"), "{failure}");
    }

    #[test]
    fn a_keychain_that_wants_the_user_names_the_command_that_may_ask() {
        for error in [KeychainError::NeedsUser, KeychainError::Declined] {
            let failure = keychain_failure(&error, Some("known"));
            assert_eq!(failure.code, Code::KeychainRefused);
            assert!(failure.remedy.contains("evermoor secret unlock"), "{failure}");
        }
    }
}
