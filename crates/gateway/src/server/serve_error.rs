//! Why a gateway cannot serve.

use std::net::SocketAddr;

use evermoor_core::failure::{Code, Failure};

use crate::system::keys::KeyError;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("Evermoor is already running.")]
    AlreadyRunning,
    #[error("{0}")]
    PortTaken(Failure),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error("cannot write {path}: {source}")]
    Unwritable { path: String, source: std::io::Error },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("Taking over from the running gateway failed: {0}")]
    NotTakenOver(TakeoverError),
}

/// Why the takeover failed.
#[derive(Debug, thiserror::Error)]
pub enum TakeoverError {
    /// It is not older, and only an older one may be taken over.
    #[error("it is not older")]
    NotOlder,
    #[error("it has no runtime file")]
    Unannounced,
    #[error("cannot connect to it: {0}")]
    NoStand(std::io::Error),
    #[error("it refused: {0}")]
    Refused(String),
    #[error("it did not answer in time")]
    Silent,
    #[error("it closed the connection")]
    HungUp,
    #[error("the socket or lock that it sent is unusable: {0}")]
    Useless(std::io::Error),
}

impl From<&ServeError> for Failure {
    fn from(error: &ServeError) -> Self {
        match error {
            ServeError::PortTaken(failure) => failure.clone(),
            ServeError::NotTakenOver(_) => {
                let remedy = "It keeps serving. To replace it, end its process (`evermoor status --json` shows the `pid`) and start Evermoor again.";
                Self::new(Code::Timeout, format!("{error}."), remedy)
            }
            ServeError::AlreadyRunning
            | ServeError::Keys(_)
            | ServeError::Unwritable { .. }
            | ServeError::Listen { .. } => {
                Self::new(Code::Configuration, format!("{error}."), "Then start Evermoor again.")
            }
        }
    }
}
