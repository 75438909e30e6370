//! The secrets that upstreams need, found when a connection is made and at no other time.
//!
//! Each upstream asks in its own task, so nobody waits for the secret of another. What is found is
//! hidden from everything that is shown before it is used ([`crate::monitoring::redaction`]).

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use evermoor_core::failure::{Code, Failure};
use evermoor_core::security::redact::Secret;
use evermoor_core::security::secret_ref::Reference;
use evermoor_platform::keychain::{Keychain, Manner, PATIENCE, StoreError};
use evermoor_platform::paths;

use crate::monitoring::redaction;

/// Where secrets are looked for.
#[derive(Clone)]
pub struct Secrets {
    keychain: Keychain,
}

/// What was found, for one connection.
#[derive(Debug, Default)]
pub struct Found(BTreeMap<Reference, Secret>);

/// A file with a secret is not larger than this.
const LARGEST_FILE: u64 = 64 << 10;

impl Secrets {
    pub fn of_the_system() -> Self {
        Self { keychain: Keychain::of_the_system(Manner::Quiet) }
    }

    /// Those of another keychain.
    pub fn of(keychain: Keychain) -> Self {
        Self { keychain }
    }

    /// Finds all of these, or says which one is missing and what to do about it.
    pub async fn find(&self, needed: &[Reference]) -> Result<Found, Failure> {
        let mut found = Found::default();
        for reference in needed {
            let secret = Secret::new(self.look_up(reference).await?);
            redaction::hide(&secret);
            found.0.insert(reference.clone(), secret);
        }
        Ok(found)
    }

    async fn look_up(&self, reference: &Reference) -> Result<String, Failure> {
        match reference {
            Reference::Keyring(name) => match self.keychain.get(name).await {
                Ok(Some(value)) => Ok(value),
                Ok(None) => Err(not_set(name)),
                Err(error) => Err(unusable(&error, Some(name))),
            },
            Reference::Env(name) => std::env::var(name).map_err(|_| {
                let what = format!("The variable `{name}` is not set where the gateway runs.");
                let remedy = "Set it and start Evermoor again, or keep the secret in the keychain.";
                Failure::new(Code::SecretMissing, what, remedy)
            }),
            Reference::File(path) => {
                let path = paths::expand(path);
                let reading = tokio::task::spawn_blocking(move || read(&path)).await;
                reading.unwrap_or_else(|_| {
                    let what = "A file with a secret cannot be read.";
                    Err(Failure::new(Code::Internal, what, "Evermoor tries again by itself."))
                })
            }
        }
    }
}

impl Found {
    /// What a reference stands for.
    pub fn value(&self, reference: &Reference) -> Result<String, Failure> {
        let found = self.0.get(reference).map(|secret| secret.reveal().to_owned());
        found.ok_or_else(|| {
            let what = format!("`{reference}` was not looked up.");
            Failure::new(Code::Internal, what, "Evermoor tries again by itself.")
        })
    }
}

/// Whether a failure is about a secret, and not about who needs it.
pub(crate) fn is_about_secrets(code: Code) -> bool {
    matches!(code, Code::KeychainLocked | Code::KeychainMissing | Code::SecretMissing)
}

fn not_set(name: &str) -> Failure {
    let what = format!("The secret `{name}` is not in the keychain.");
    Failure::new(Code::SecretMissing, what, format!("Run `evermoor secret set {name}`."))
}

/// Why the keychain is of no use at the moment, to who needs the secret `name`.
pub fn unusable(error: &StoreError, name: Option<&str>) -> Failure {
    let needed =
        name.map(|name| format!(", and the secret `{name}` is needed")).unwrap_or_default();
    match error {
        StoreError::Locked => Failure::new(
            Code::KeychainLocked,
            format!("The keychain is locked{needed}."),
            "Unlock it in your desktop's password program, or with `evermoor secret list`; Evermoor tries again by itself.",
        ),
        StoreError::Missing(why) => Failure::new(
            Code::KeychainMissing,
            format!("There is no keychain in this session{needed} ({why})."),
            "Start Evermoor in a desktop session, or use `${file:PATH}` or `${env:NAME}` on a machine without one.",
        ),
        StoreError::Silent => Failure::new(
            Code::KeychainMissing,
            format!("The keychain did not answer within {} s{needed}.", PATIENCE.as_secs()),
            "See whether it asks you for something; Evermoor tries again by itself.",
        ),
        StoreError::Refused(why) => Failure::new(
            Code::KeychainLocked,
            format!("The keychain does not give it out{needed} ({why})."),
            "Allow Evermoor to use it in your system's password program.",
        ),
        StoreError::TooLong(most) => Failure::new(
            Code::Refused,
            format!("The keychain of this system keeps at most {most} bytes in one secret."),
            "Keep it in a file that only you can read, and refer to that with `${file:PATH}`.",
        ),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let unreadable = |why: String| {
        let what = format!("The file with its secret, {}, cannot be read: {why}.", path.display());
        Failure::new(Code::SecretMissing, what, "Correct the path, or put the file there.")
    };
    let mut content = String::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST_FILE).read_to_string(&mut content))
        .map_err(|error| unreadable(error.to_string()))?;
    match content.trim_end_matches(['\r', '\n']) {
        "" => Err(unreadable("it is empty".into())),
        secret => Ok(secret.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evermoor_platform::keychain::Store;

    /// A keychain that has one secret.
    struct One;

    impl Store for One {
        fn get(&self, name: &str) -> Result<Option<String>, StoreError> {
            Ok((name == "known").then(|| "value-of-known".to_owned()))
        }
        fn set(&self, _: &str, _: &str) -> Result<(), StoreError> {
            Err(StoreError::Locked)
        }
        fn delete(&self, _: &str) -> Result<bool, StoreError> {
            Err(StoreError::Locked)
        }
        fn list(&self) -> Result<Vec<String>, StoreError> {
            Ok(vec!["known".into()])
        }
    }

    fn secrets() -> Secrets {
        Secrets::of(Keychain::opened_by(|| Ok(Box::new(One)), PATIENCE))
    }

    #[tokio::test]
    async fn what_is_found_is_hidden_before_it_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        std::fs::write(&path, "value-of-file\n").unwrap();
        let needed =
            [Reference::Keyring("known".into()), Reference::File(path.display().to_string())];
        let found = secrets().find(&needed).await.unwrap();
        assert_eq!(found.value(&needed[0]).unwrap(), "value-of-known");
        assert_eq!(found.value(&needed[1]).unwrap(), "value-of-file");
        assert_eq!(redaction::scrub("value-of-known value-of-file"), "[secret] [secret]");
        assert!(!format!("{found:?}").contains("value-of"));
    }

    #[tokio::test]
    async fn what_is_missing_is_named_with_what_to_do() {
        for (needed, code, says) in [
            (Reference::Keyring("other".into()), Code::SecretMissing, "secret set other"),
            (Reference::Env("EVERMOOR_NO_SUCH".into()), Code::SecretMissing, "EVERMOOR_NO_SUCH"),
            (Reference::File("/no/such/file".into()), Code::SecretMissing, "/no/such/file"),
        ] {
            let failure = secrets().find(&[needed]).await.unwrap_err();
            assert_eq!(failure.code, code);
            assert!(failure.to_string().contains(says), "{failure}");
        }
        let locked = Keychain::opened_by(|| Err(StoreError::Locked), PATIENCE);
        let needed = [Reference::Keyring("known".into())];
        let failure = Secrets::of(locked).find(&needed).await.unwrap_err();
        assert_eq!(failure.code, Code::KeychainLocked);
        assert!(failure.what.contains("locked") && failure.what.contains("known"), "{failure}");
    }
}
