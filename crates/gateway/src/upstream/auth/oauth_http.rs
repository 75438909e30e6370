//! The requests of OAuth, with the certificates and the proxy of the upstream.
//!
//! Each operation has a client of its own: they are rare, and the files that `ca_file` names are read
//! again. A redirect is followed within one origin only. rmcp decides which addresses may be asked.

use std::time::Duration;

use parking_lot::Mutex;
use reqwest::redirect::Policy;
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy,
    OAuthHttpRequest,
};
use serde::Deserialize;
use tokio::time::timeout;
use url::Url;

use evermoor_core::config::HttpOptions;

use crate::upstream::transport::http::client::network::NetworkClients;

/// The HTTP client of OAuth for one upstream.
pub(super) struct OAuthHttp {
    reach: HttpOptions,
    /// The error code of the last answer that had one.
    refusal: Mutex<Option<String>>,
}

/// The answer of an authorization server that refuses.
#[derive(Deserialize)]
struct Refusal {
    error: String,
}

/// The time limit of a request.
const LIMIT: Duration = Duration::from_secs(15);
/// A larger answer is not read.
const LARGEST_ANSWER: usize = 1 << 20;
/// A longer error code is none.
const LONGEST_CODE: usize = 64;

impl OAuthHttp {
    pub(super) fn new(reach: &HttpOptions) -> Self {
        Self { reach: reach.clone(), refusal: Mutex::default() }
    }

    /// The error code of the last answer, if it was a refusal.
    pub(super) fn refusal(&self) -> Option<String> {
        self.refusal.lock().clone()
    }

    /// Sends a request that rmcp does not know. Redirects are not followed.
    pub(super) async fn post(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let sent = timeout(LIMIT, self.send(request, OAuthHttpRedirectPolicy::Stop)).await;
        sent.map_err(|_| format!("no answer within {} s", LIMIT.as_secs()))?
    }

    async fn send(
        &self,
        request: http::Request<Vec<u8>>,
        redirects: OAuthHttpRedirectPolicy,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        *self.refusal.lock() = None;
        let request = reqwest::Request::try_from(request)?;
        let clients = NetworkClients::new(is_local(request.url()), &self.reach).await?;
        let client = clients.build(|client| match redirects == OAuthHttpRedirectPolicy::Stop {
            true => client.redirect(Policy::none()),
            false => client,
        })?;
        let mut answer = client.execute(request).await?;
        let mut built = http::Response::builder().status(answer.status());
        if let Some(headers) = built.headers_mut() {
            headers.clone_from(answer.headers());
        }
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            if body.len() + chunk.len() > LARGEST_ANSWER {
                return Err("the answer is too large".into());
            }
            body.extend_from_slice(&chunk);
        }
        if answer.status().is_client_error() {
            let refusal = serde_json::from_slice::<Refusal>(&body).ok();
            let code = refusal.map(|refusal| refusal.error);
            *self.refusal.lock() = code.filter(|code| code.len() <= LONGEST_CODE);
        }
        Ok(built.body(body)?)
    }
}

impl OAuthHttpClient for OAuthHttp {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let sent = self.send(request.request, request.redirect_policy);
            let sent = timeout(LIMIT, sent).await;
            sent.map_err(|_| format!("no answer within {} s", LIMIT.as_secs()))?
        })
    }
}

/// An address that others named, if nobody on the network can read what is sent there.
pub(super) fn private_address(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (url.scheme() == "https" && url.has_host() || url.scheme() == "http" && is_local(&url))
        .then_some(url)
}

/// Whether an address is on this machine, which is never reached through a proxy.
pub(super) fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
