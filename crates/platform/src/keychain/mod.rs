//! Secrets in the keychain of the system: the login keychain of macOS, the Credential Manager of
//! Windows, the Secret Service of a Linux desktop.
//!
//! # Theory of operation
//! Whoever asks a keychain may have to wait for a person who types a password, or for a service that
//! hangs. So one thread asks, and whoever wants to know waits for a limited time; a question that
//! nobody waits for any more is not asked. The store is opened anew after every failure and after a
//! pause, because a service may come and go. Nothing is ever kept anywhere else.

mod native;
#[cfg(target_os = "linux")]
mod session;
#[cfg(test)]
mod tests;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

/// Under what everything of ours is kept.
pub const SERVICE: &str = "Evermoor";

/// Where secrets are kept, by name.
pub trait Store: Send {
    /// `None` if there is none of this name.
    fn get(&self, name: &str) -> Result<Option<String>, StoreError>;
    fn set(&self, name: &str, value: &str) -> Result<(), StoreError>;
    /// Says whether there was one.
    fn delete(&self, name: &str) -> Result<bool, StoreError>;
    /// The names of all, without their values.
    fn list(&self) -> Result<Vec<String>, StoreError>;
}

/// Why the keychain did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is none, or nobody in this session may use it.
    #[error("there is no keychain in this session: {0}")]
    Missing(String),
    #[error("the keychain is locked")]
    Locked,
    #[error("the keychain does not answer")]
    Silent,
    #[error("the keychain refuses: {0}")]
    Refused(String),
    #[error("the keychain of this system keeps at most {0} bytes in one secret")]
    TooLong(u32),
}

/// Whether a person may be asked to unlock the keychain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Never: for a program that tries again by itself. A dialog that comes back by itself is worse
    /// than a state that says what to do.
    Quiet,
    /// Where the system does that: for a command that a person typed.
    Asking,
}

/// How long a keychain may take when nobody is asked anything: within five seconds a person knows.
pub const PATIENCE: Duration = Duration::from_secs(4);
/// How long a person may take to type a password.
const PATIENCE_WITH_A_PERSON: Duration = Duration::from_secs(120);
/// A store that was not used for this long is opened anew.
const FRESH: Duration = Duration::from_secs(10);

type Open = Arc<dyn Fn() -> Result<Box<dyn Store>, StoreError> + Send + Sync>;
type Question = Box<dyn FnOnce(&mut Desk) + Send>;

/// The keychain, for those who must not wait for it for ever.
#[derive(Clone)]
pub struct Keychain {
    open: Open,
    patience: Duration,
    /// To the thread that asks, once there is one.
    questions: Arc<OnceLock<Sender<Question>>>,
}

impl Keychain {
    /// The keychain of this system.
    pub fn of_the_system(manner: Manner) -> Self {
        let patience = match manner {
            Manner::Quiet => PATIENCE,
            Manner::Asking => PATIENCE_WITH_A_PERSON,
        };
        Self::opened_by(move || native::open(manner), patience)
    }

    /// Another store, in the place of the system's.
    pub fn opened_by(
        open: impl Fn() -> Result<Box<dyn Store>, StoreError> + Send + Sync + 'static,
        patience: Duration,
    ) -> Self {
        Self { open: Arc::new(open), patience, questions: Arc::default() }
    }

    pub async fn get(&self, name: &str) -> Result<Option<String>, StoreError> {
        let name = name.to_owned();
        self.ask(move |store| store.get(&name)).await
    }

    pub async fn set(&self, name: &str, value: &str) -> Result<(), StoreError> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.ask(move |store| store.set(&name, &value)).await
    }

    /// Says whether there was one.
    pub async fn delete(&self, name: &str) -> Result<bool, StoreError> {
        let name = name.to_owned();
        self.ask(move |store| store.delete(&name)).await
    }

    /// The names of all, in order.
    pub async fn list(&self) -> Result<Vec<String>, StoreError> {
        let mut names = self.ask(|store| store.list()).await?;
        names.sort();
        names.dedup();
        Ok(names)
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let question: Question = Box::new(move |desk| {
            if answer.is_closed() {
                return;
            }
            let _ = answer.send(desk.ask(question));
        });
        let asking = self.questions.get_or_init(|| Desk::start(Arc::clone(&self.open)));
        asking.send(question).map_err(|_| StoreError::Silent)?;
        match timeout(self.patience, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) | Err(_) => Err(StoreError::Silent),
        }
    }
}

/// The thread that asks.
struct Desk {
    open: Open,
    store: Option<Box<dyn Store>>,
}

impl Desk {
    /// It ends with the last who could ask.
    fn start(open: Open) -> Sender<Question> {
        let (ask, asked) = mpsc::channel();
        let desk = Self { open, store: None };
        let thread = std::thread::Builder::new().name("keychain".into());
        if let Err(error) = thread.spawn(move || desk.run(&asked)) {
            tracing::warn!(%error, "no thread for the keychain");
        }
        ask
    }

    fn run(mut self, asked: &Receiver<Question>) {
        loop {
            match asked.recv_timeout(FRESH) {
                Ok(question) => question(&mut self),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    self.store = None;
                    match asked.recv() {
                        Ok(question) => question(&mut self),
                        Err(_) => return,
                    }
                }
            }
        }
    }

    fn ask<T>(
        &mut self,
        question: impl FnOnce(&dyn Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let store = match self.store.take() {
            Some(store) => store,
            None => (self.open)()?,
        };
        let answer = question(store.as_ref())?;
        self.store = Some(store);
        Ok(answer)
    }
}
