//! Where grants are kept: in the system's keychain, or in a file that the user names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use evermoor_core::failure::{Code, Failure};
use evermoor_platform::fs::private;
use evermoor_platform::keychain::Keychain;
use evermoor_platform::paths;

use super::stored_grant::{GrantKey, StoredGrant};
use crate::config::secrets::keychain_failure;

/// The store of all grants.
#[derive(Clone)]
pub(crate) struct GrantStore {
    keychain: Keychain,
    /// The file that is used instead of the keychain.
    file: Arc<Mutex<Option<PathBuf>>>,
    /// Held while the file is changed.
    changing: Arc<tokio::sync::Mutex<()>>,
}

impl GrantStore {
    pub(crate) fn new(keychain: Keychain) -> Self {
        Self { keychain, file: Arc::default(), changing: Arc::default() }
    }

    /// Uses the file that the configuration names, or the keychain.
    pub(crate) fn keep_in(&self, file: Option<&str>) {
        *self.file.lock() = file.map(paths::expand);
    }

    pub(super) async fn load(&self, key: &GrantKey) -> Result<Option<StoredGrant>, Failure> {
        let text = match self.file() {
            Some(file) => {
                let mut grants = blocking(move || read(&file)).await?;
                grants.remove(key.as_str()).map(|grant| grant.to_string())
            }
            None => {
                let found = self.keychain.get_long(key.as_str()).await;
                found.map_err(|error| keychain_failure(&error, None))?
            }
        };
        // A grant that another version wrote, and this one cannot read, is none.
        let grant = text.and_then(|text| serde_json::from_str::<StoredGrant>(&text).ok());
        Ok(grant.inspect(StoredGrant::hide))
    }

    pub(super) async fn save(&self, key: &GrantKey, grant: &StoredGrant) -> Result<(), Failure> {
        let value = serde_json::to_value(grant).expect("texts and numbers serialise");
        match self.file() {
            Some(file) => {
                let key = key.as_str().to_owned();
                self.change(file, move |grants| {
                    grants.insert(key, value);
                })
                .await
            }
            None => {
                let saved = self.keychain.set_long(key.as_str(), &value.to_string()).await;
                saved.map_err(|error| keychain_failure(&error, None))
            }
        }
    }

    pub(super) async fn remove(&self, key: &GrantKey) -> Result<(), Failure> {
        match self.file() {
            Some(file) => {
                let key = key.as_str().to_owned();
                self.change(file, move |grants| {
                    grants.remove(&key);
                })
                .await
            }
            None => {
                let removed = self.keychain.delete_long(key.as_str()).await;
                removed.map(drop).map_err(|error| keychain_failure(&error, None))
            }
        }
    }

    fn file(&self) -> Option<PathBuf> {
        self.file.lock().clone()
    }

    async fn change(
        &self,
        file: PathBuf,
        change: impl FnOnce(&mut BTreeMap<String, Value>) + Send + 'static,
    ) -> Result<(), Failure> {
        let _changing = self.changing.lock().await;
        blocking(move || {
            let mut grants = read(&file)?;
            change(&mut grants);
            let content = serde_json::to_vec_pretty(&grants).expect("a map of texts serialises");
            private::write_private(&file, &content).map_err(|error| unusable(&file, &error))
        })
        .await
    }
}

fn read(file: &Path) -> Result<BTreeMap<String, Value>, Failure> {
    let content = private::read_private(file).map_err(|error| unusable(file, &error))?;
    match content {
        Some(content) => serde_json::from_slice(&content).map_err(|error| unusable(file, &error)),
        None => Ok(BTreeMap::new()),
    }
}

fn unusable(file: &Path, error: &dyn std::fmt::Display) -> Failure {
    let what = format!("The sign-ins file {} cannot be used: {error}.", file.display());
    let remedy = "Correct `sign_ins_file`, or make the file readable only by you.";
    Failure::new(Code::SecretMissing, what, remedy)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        let what = "The sign-ins could not be read.";
        Err(Failure::new(Code::Internal, what, "Evermoor retries automatically."))
    })
}
