//! Why a gateway does not serve.

use std::net::SocketAddr;

use evermoor_core::failure::{Code, Failure};

use crate::lifecycle::keys::KeyError;
use crate::lifecycle::takeover::TakeoverError;

/// Why a gateway cannot serve.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("Evermoor runs already.")]
    RunsAlready,
    #[error("{0}")]
    PortTaken(Failure),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error("{path} cannot be written: {source}")]
    Unwritable { path: String, source: std::io::Error },
    #[error("cannot listen on {address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("The gateway that runs was not taken over: {0}")]
    NotHandedOver(TakeoverError),
}

impl From<&StartError> for Failure {
    fn from(error: &StartError) -> Self {
        match error {
            StartError::PortTaken(failure) => failure.clone(),
            StartError::NotHandedOver(_) => {
                let remedy = "It goes on serving. To replace it, end its process, whose `pid` `evermoor status --json` shows, and start Evermoor again.";
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
