//! HTTP, for a gateway without a private socket.
//!
//! The small program `evermoor-shim` does without: nothing but [`OverHttp`] refers to the HTTP client, so a
//! program that does not name it does not contain it.

use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};

use evermoor_core::lifecycle::runtime::RuntimeFile;

use crate::control::ControlClient;
use crate::http::{HttpClient, HttpError, HttpResponse};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Reaches a gateway without its private socket.
pub(super) trait HttpFallback: Send + Sync {
    /// A client of this gateway for the editor with this token, if the gateway answers.
    fn reach<'a>(&self, runtime: RuntimeFile, token: &'a str) -> Boxed<'a, Option<HttpLink>>;
}

/// A gateway that is reached over HTTP.
pub(super) type HttpLink = Arc<dyn SendOverHttp>;

pub(super) trait SendOverHttp: Send + Sync {
    fn send<'a>(
        &'a self,
        method: Method,
        path: &'a str,
        headers: &'a [(HeaderName, HeaderValue)],
        body: Bytes,
    ) -> Boxed<'a, Result<HttpResponse, HttpError>>;
}

/// Uses the HTTP client of this crate.
pub(super) struct OverHttp;

impl HttpFallback for OverHttp {
    fn reach<'a>(&self, runtime: RuntimeFile, token: &'a str) -> Boxed<'a, Option<HttpLink>> {
        Box::pin(async move {
            let control = ControlClient::of(runtime);
            let client: HttpLink = Arc::new(HttpClient::new(&control.runtime().origin, token));
            control.answers().await.then_some(client)
        })
    }
}

impl SendOverHttp for HttpClient {
    fn send<'a>(
        &'a self,
        method: Method,
        path: &'a str,
        headers: &'a [(HeaderName, HeaderValue)],
        body: Bytes,
    ) -> Boxed<'a, Result<HttpResponse, HttpError>> {
        Box::pin(HttpClient::send(self, method, path, headers, body))
    }
}
