//! The answer to an HTTP request, whichever way it came.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use url::Url;

use super::HttpCallError;
use super::direct::DirectAnswer;

/// An answer whose body has yet to be read.
pub(crate) enum HttpAnswer {
    Direct(DirectAnswer),
    Network(reqwest::Response),
}

impl HttpAnswer {
    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::Direct(answer) => answer.status(),
            Self::Network(answer) => answer.status(),
        }
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        match self {
            Self::Direct(answer) => answer.headers(),
            Self::Network(answer) => answer.headers(),
        }
    }

    /// Whether the body is a stream of events.
    pub(crate) fn is_event_stream(&self) -> bool {
        let kind = self.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
        kind.is_some_and(|kind| kind.starts_with(b"text/event-stream"))
    }

    /// The length of the body, if the server says it.
    pub(crate) fn content_length(&self) -> Option<usize> {
        self.headers().get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
    }

    /// The URL that answered, after redirects, if it may differ from the one that was asked.
    pub(crate) fn url(&self) -> Option<&Url> {
        match self {
            Self::Direct(_) => None,
            Self::Network(answer) => Some(answer.url()),
        }
    }

    /// The next part of the body; `None` at its end. Cancel safe.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, HttpCallError> {
        match self {
            Self::Direct(answer) => answer.chunk().await,
            Self::Network(answer) => Ok(answer.chunk().await?),
        }
    }
}
