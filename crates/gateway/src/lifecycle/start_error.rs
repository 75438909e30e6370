//! Why a gateway cannot serve.

use std::net::SocketAddr;

use evermoor_core::failure::{Code, Failure};

use crate::lifecycle::takeover::TakeoverError;
use crate::system::keys::KeyError;

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("Evermoor is already running.")]
    RunsAlready,
    #[error("{0}")]
    PortTaken(Failure),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error("cannot write {path}: {source}")]
    Unwritable { path: String, source: std::io::Error },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("Taking over from the running gateway failed: {0}")]
    NotHandedOver(TakeoverError),
}

impl From<&StartError> for Failure {
    fn from(error: &StartError) -> Self {
        match error {
            StartError::PortTaken(failure) => failure.clone(),
            StartError::NotHandedOver(_) => {
                let remedy = "It keeps serving. To replace it, end its process (`evermoor status --json` shows the `pid`) and start Evermoor again.";
                Self::new(Code::Timeout, format!("{error}."), remedy)
            }
            StartError::RunsAlready
            | StartError::Keys(_)
            | StartError::Unwritable { .. }
            | StartError::Listen { .. } => {
                Self::new(Code::Configuration, format!("{error}."), "Then start Evermoor again.")
            }
        }
    }
}
