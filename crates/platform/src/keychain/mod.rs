//! Secrets in the system's keychain: the login keychain on macOS, the Credential Manager on Windows,
//! the Secret Service on a Linux desktop.
//!
//! # Theory of operation
//! A keychain call can block until the user types a password, or while a service hangs. So one thread
//! makes all calls, and callers wait for a limited time. Requests whose caller has given up are
//! skipped. The store is reopened after every failure and after a pause, because the service can
//! restart. Secrets are stored nowhere else.
//!
//! # Layout
//! - `native`: the keychain of this system
//! - `long_value`: values that are longer than one secret may be
//! - `session`: whether the keyring of a Linux desktop is unlocked
//! - `quiet`: keeps macOS from asking the user
//! - `os_status`: what the status codes of macOS mean

mod long_value;
mod native;
mod os_status;
#[cfg(target_os = "macos")]
mod quiet;
#[cfg(target_os = "linux")]
mod session;
#[cfg(test)]
mod tests;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

/// The service name of Evermoor's secrets.
pub const KEYCHAIN_SERVICE: &str = "Evermoor";

/// A store of secrets by name.
pub trait SecretStore: Send {
    /// `None` if there is no secret with this name.
    fn get(&self, name: &str) -> Result<Option<String>, KeychainError>;
    fn set(&self, name: &str, value: &str) -> Result<(), KeychainError>;
    /// Returns whether there was one.
    fn delete(&self, name: &str) -> Result<bool, KeychainError>;
    /// Unlocks the store, and asks the user for it if needed.
    fn unlock(&self) -> Result<(), KeychainError> {
        Ok(())
    }
    /// The names of all secrets.
    fn list(&self) -> Result<Vec<String>, KeychainError>;
}

/// Why a keychain request failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeychainError {
    /// There is none, or this session cannot use it.
    #[error("there is no keychain in this session: {0}")]
    Unavailable(String),
    #[error("the keychain is locked")]
    Locked,
    /// The system would have to ask the user, which this request does not allow.
    #[error("the keychain is locked, or wants to ask you first")]
    NeedsUser,
    /// The user was asked and declined.
    #[error("access to the keychain was declined")]
    Declined,
    #[error("the keychain does not respond")]
    NoReply,
    #[error("the keychain reported an error: {0}")]
    Refused(String),
    #[error("this system's keychain stores at most {0} bytes per secret")]
    TooLong(u32),
}

/// Whether the system may ask the user to unlock the keychain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompting {
    /// Never. For a background process that retries: a dialog that keeps coming back is worse than an
    /// error that says what to do.
    Never,
    /// If the system does so. For a command that the user typed.
    Allowed,
}

/// The timeout of a request without a prompt, so that an error is reported within five seconds.
pub const KEYCHAIN_TIMEOUT: Duration = Duration::from_secs(4);
/// The timeout of a request that may prompt for a password.
const PROMPT_TIMEOUT: Duration = Duration::from_secs(120);
/// A store that was idle for this long is reopened.
const IDLE_LIMIT: Duration = Duration::from_secs(10);

type Open = Arc<dyn Fn() -> Result<Box<dyn SecretStore>, KeychainError> + Send + Sync>;
type KeychainRequest = Box<dyn FnOnce(&mut Worker) + Send>;

/// A keychain whose requests time out.
#[derive(Clone)]
pub struct Keychain {
    open: Open,
    timeout: Duration,
    /// To the worker thread, once it has started.
    requests: Arc<OnceLock<Sender<KeychainRequest>>>,
}

impl Keychain {
    /// The keychain of this system.
    pub fn system_default(manner: Prompting) -> Self {
        let limit = match manner {
            Prompting::Never => KEYCHAIN_TIMEOUT,
            Prompting::Allowed => PROMPT_TIMEOUT,
        };
        Self::with_store(move || native::open(manner), limit)
    }

    /// Another store instead of the system's.
    pub fn with_store(
        open: impl Fn() -> Result<Box<dyn SecretStore>, KeychainError> + Send + Sync + 'static,
        timeout: Duration,
    ) -> Self {
        Self { open: Arc::new(open), timeout, requests: Arc::default() }
    }

    pub async fn get(&self, name: &str) -> Result<Option<String>, KeychainError> {
        let name = name.to_owned();
        self.request(move |store| store.get(&name)).await
    }

    pub async fn set(&self, name: &str, value: &str) -> Result<(), KeychainError> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.request(move |store| store.set(&name, &value)).await
    }

    /// Returns whether there was one.
    pub async fn delete(&self, name: &str) -> Result<bool, KeychainError> {
        let name = name.to_owned();
        self.request(move |store| store.delete(&name)).await
    }

    /// Unlocks the keychain, if the user allows it.
    pub async fn unlock(&self) -> Result<(), KeychainError> {
        self.request(|store| store.unlock()).await
    }

    /// The sorted names of all secrets.
    pub async fn list(&self) -> Result<Vec<String>, KeychainError> {
        let mut names = self.request(|store| store.list()).await?;
        names.sort();
        names.dedup();
        Ok(names)
    }

    async fn request<T: Send + 'static>(
        &self,
        operation: impl FnOnce(&dyn SecretStore) -> Result<T, KeychainError> + Send + 'static,
    ) -> Result<T, KeychainError> {
        let (reply, replied) = oneshot::channel();
        let request: KeychainRequest = Box::new(move |worker| {
            if reply.is_closed() {
                return;
            }
            let _ = reply.send(worker.call(operation));
        });
        let worker = self.requests.get_or_init(|| Worker::start(Arc::clone(&self.open)));
        worker.send(request).map_err(|_| KeychainError::NoReply)?;
        match timeout(self.timeout, replied).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) | Err(_) => Err(KeychainError::NoReply),
        }
    }
}

/// The thread that calls the store.
struct Worker {
    open: Open,
    store: Option<Box<dyn SecretStore>>,
}

impl Worker {
    /// The thread ends with the last sender.
    fn start(open: Open) -> Sender<KeychainRequest> {
        let (requests, incoming) = mpsc::channel();
        let worker = Self { open, store: None };
        let thread = std::thread::Builder::new().name("keychain".into());
        if let Err(error) = thread.spawn(move || worker.run(&incoming)) {
            tracing::warn!(%error, "cannot start the keychain thread");
        }
        requests
    }

    fn run(mut self, incoming: &Receiver<KeychainRequest>) {
        loop {
            match incoming.recv_timeout(IDLE_LIMIT) {
                Ok(request) => request(&mut self),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    self.store = None;
                    match incoming.recv() {
                        Ok(request) => request(&mut self),
                        Err(_) => return,
                    }
                }
            }
        }
    }

    fn call<T>(
        &mut self,
        operation: impl FnOnce(&dyn SecretStore) -> Result<T, KeychainError>,
    ) -> Result<T, KeychainError> {
        let store = match self.store.take() {
            Some(store) => store,
            None => (self.open)()?,
        };
        let result = operation(store.as_ref())?;
        self.store = Some(store);
        Ok(result)
    }
}
