//! Why an HTTP request got no answer.

use std::error::Error;
use std::io;

use evermoor_core::failure::Failure;

/// Why a request got no answer, or not all of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpCallError {
    /// There is no access token to send with the request.
    #[error("{0}")]
    NoToken(Failure),
    /// There is no connection to a server on this machine.
    #[error("cannot connect")]
    Connect(#[source] io::Error),
    /// The connection was closed before anything was sent.
    #[error("the connection was closed")]
    Unsent(#[source] hyper::Error),
    /// The connection broke.
    #[error("the connection broke")]
    Broken(#[source] hyper::Error),
    /// The connection was closed before the end of the answer.
    #[error("the answer was cut short")]
    CutShort,
    /// An error on the way through the network.
    #[error(transparent)]
    Network(#[from] reqwest::Error),
}

impl HttpCallError {
    /// Whether there was no connection.
    pub(crate) fn is_connect(&self) -> bool {
        match self {
            Self::Connect(_) => true,
            Self::Network(error) => error.is_connect(),
            Self::NoToken(_) | Self::Unsent(_) | Self::Broken(_) | Self::CutShort => false,
        }
    }

    pub(crate) fn is_timeout(&self) -> bool {
        match self {
            Self::Connect(error) => error.kind() == io::ErrorKind::TimedOut,
            Self::Network(error) => error.is_timeout(),
            Self::NoToken(_) | Self::Unsent(_) | Self::Broken(_) | Self::CutShort => false,
        }
    }

    /// Whether no byte of the request can have reached the server.
    pub(crate) fn is_unsent(&self) -> bool {
        match self {
            Self::NoToken(_) | Self::Connect(_) | Self::Unsent(_) => true,
            Self::Broken(error) => error.is_canceled(),
            Self::CutShort => false,
            Self::Network(error) => {
                let canceled = |error: &&(dyn Error + 'static)| {
                    error.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled)
                };
                error.is_connect() || error.is_builder() || causes(self).any(|one| canceled(&one))
            }
        }
    }

    /// Whether the connection was closed properly, but before the end of the answer.
    pub(crate) fn is_cut_short(&self) -> bool {
        matches!(self, Self::CutShort)
            || causes(self).any(|cause| {
                let message = cause.downcast_ref::<hyper::Error>();
                let eof = cause.downcast_ref::<io::Error>();
                message.is_some_and(hyper::Error::is_incomplete_message)
                    || eof.is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
            })
    }

    /// The text of the innermost cause.
    pub(crate) fn innermost(&self) -> String {
        causes(self).last().map_or_else(|| self.to_string(), |cause| cause.to_string())
    }

    /// Why a proxy did not connect.
    pub(crate) fn tunnel(&self) -> Option<String> {
        let why = |cause: &(dyn Error + 'static)| {
            cause.to_string().strip_prefix("tunnel error: ").map(str::to_owned)
        };
        causes(self).find_map(why)
    }
}

/// The causes of an error, the outermost first.
fn causes(error: &HttpCallError) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}
